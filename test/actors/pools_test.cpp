// SPDX-License-Identifier: Apache-2.0
#include "actors/recorders.hpp"
#include <atelier/actors/source_files.hpp>
#include <atelier/actors/stage_worker.hpp>
#include <atelier/actors/worker_directory.hpp>
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/native_fit.hpp>
#include <atelier/core/image/parameters.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/gpu/state_format.hpp>

namespace {

using namespace atelier;
using core::ec;
using ipc::slot_kind;

constexpr ipc::slot_ref state_slot{1, 0, 1, slot_kind::state};
constexpr ipc::slot_ref pixel_slot{1, 0, 1, slot_kind::image};
constexpr ipc::slot_ref file_slot{1, 1, 1, slot_kind::image};

struct fixture : test::deterministic_system {
  fixture() {
    preprocess = spawn(actors::preprocess, config(actors::role::preprocess, 3));
    postprocess =
      spawn(actors::postprocess, config(actors::role::postprocess, 2));
    for (const auto& x : {state_slot, pixel_slot, file_slot})
      slots->open(x);
  }

  actors::stage_worker_config config(actors::role of, uint32_t seats) const {
    return {{test::scheduler_rig::life(1), of, 0},
            seats,
            *actors::standard_pipeline(),
            slots,
            scheduler};
  }

  static test::prepare noise(uint64_t seed = 7) {
    test::prepare x;
    x.who = {core::request_id{1}, 1};
    x.how.seed = seed;
    x.latent = {4, 4, 4};
    x.state = state_slot;
    return x;
  }

  test::finish image() {
    test::finish x;
    x.who = {core::request_id{1}, 3};
    x.how.px = x.px = {32, 32};
    x.how.steps = 4;
    x.text.positive = "a red ball";
    x.model = "card";
    x.pixels = pixel_slot;
    x.encoded = file_slot;
    return x;
  }

  void draw_pixels() {
    const auto into = slots->buffer(pixel_slot);
    for (size_t i = 0; i < 32 * 32 * 3; ++i)
      (*into)[i] = static_cast<std::byte>(i);
    BOOST_REQUIRE(slots->publish(pixel_slot, 1, 32 * 32 * 3));
  }

  std::vector<uint8_t> file_bytes() {
    const auto file = slots->view(file_slot);
    BOOST_REQUIRE(file);
    const auto* const at = reinterpret_cast<const uint8_t*>(file->data());
    return {at, at + file->size()};
  }

  test::prepared prepared() const {
    return scheduler->of<test::prepared>().back();
  }

  test::finished finished() const {
    return scheduler->of<test::finished>().back();
  }

  std::shared_ptr<ipc::heap_store> slots =
    std::make_shared<ipc::heap_store>(1u, std::array<uint32_t, 3>{1, 2, 0},
                                      std::array<uint64_t, 3>{1024, 8192, 0});
  std::shared_ptr<test::recording_scheduler_port> scheduler =
    std::make_shared<test::recording_scheduler_port>();
  actors::stage_actor preprocess;
  actors::stage_actor postprocess;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(pools_test, fixture)

BOOST_AUTO_TEST_CASE(pools_announce_their_seats) {
  const auto ready = scheduler->of<actors::worker_ready>();
  BOOST_REQUIRE(ready.size() == 2u);
  BOOST_TEST(ready[0].seats == 3u);
  BOOST_TEST((ready[1].worker.role == actors::role::postprocess));
}

BOOST_AUTO_TEST_CASE(noise_is_the_seeds_own) {
  tell(preprocess, noise(7).order());
  BOOST_TEST((prepared().failure.code == ec::none));
  std::vector<std::byte> a;
  BOOST_REQUIRE(*slots->read(state_slot, a) == 1u);
  const auto parts = gpu::parse_state(a);
  BOOST_REQUIRE(parts);
  BOOST_TEST(parts->head.steps_done == 0u);
  BOOST_TEST(parts->latent.size() == 64u);
  std::vector<std::byte> b;
  for (const auto seed : {8u, 7u}) {
    slots->open(state_slot);
    tell(preprocess, noise(seed).order());
    BOOST_REQUIRE(slots->read(state_slot, b));
    BOOST_TEST((a == b) == (seed == 7u));
  }
}

BOOST_AUTO_TEST_CASE(the_two_sources_of_noise_differ) {
  tell(preprocess, noise().order());
  std::vector<std::byte> a;
  std::vector<std::byte> b;
  BOOST_REQUIRE(slots->read(state_slot, a));
  slots->open(state_slot);
  auto x = noise();
  x.how.noise = core::noise_source::philox;
  tell(preprocess, x.order());
  BOOST_REQUIRE(slots->read(state_slot, b));
  BOOST_TEST((a != b));
}

BOOST_AUTO_TEST_CASE(a_stale_slot_is_not_written) {
  auto x = noise();
  x.state.generation = 9;
  tell(preprocess, x.order());
  BOOST_TEST((prepared().failure.code == ec::incompatible));
  BOOST_TEST(*slots->published(state_slot) == 0u);
}

BOOST_AUTO_TEST_CASE(a_latent_that_does_not_fit_its_slot_is_an_error) {
  auto x = noise();
  x.latent = {4, 64, 64};
  tell(preprocess, x.order());
  BOOST_TEST((prepared().failure.code == ec::out_of_resources));
}

BOOST_AUTO_TEST_CASE(work_that_comes_twice_is_refused_the_second_time) {
  tell(preprocess, noise().order());
  tell(preprocess, noise().order());
  BOOST_TEST((prepared().failure.code == ec::incompatible));
  draw_pixels();
  tell(postprocess, image().order());
  tell(postprocess, image().order());
  BOOST_TEST((finished().failure.code == ec::incompatible));
}

BOOST_AUTO_TEST_CASE(files_are_given_up_by_the_actors_clock) {
  const std::vector<uint8_t> grey(8 * 8 * 3, 100);
  core::source_images files;
  files.image = *image::encode({{8, 8}, 3, grey}, {});
  auto x = noise();
  x.how.px = {32, 32};
  x.how.from_image = true;
  x.files = pixel_slot;
  x.source = file_slot;
  BOOST_REQUIRE(actors::write_source_files(*slots->buffer(pixel_slot), files));
  BOOST_REQUIRE(
    slots->publish(pixel_slot, 1, actors::source_files_bytes(files)));
  // The clock of this test stands still.
  tell(preprocess, x.order());
  BOOST_TEST((prepared().failure.code == ec::none));
  auto hasty = config(actors::role::preprocess, 1);
  actors::standard_stages none;
  none.longest_decoding = core::timespan{0};
  hasty.stages = *actors::standard_pipeline(none);
  slots->open(state_slot);
  slots->open(file_slot);
  tell(spawn(actors::preprocess, hasty), x.order());
  BOOST_TEST((prepared().failure.code == ec::bad_payload));
  BOOST_TEST(prepared().failure.text.ends_with("(limits.decode_ms)"));
}

BOOST_AUTO_TEST_CASE(pixels_become_a_file_with_its_parameters) {
  draw_pixels();
  tell(postprocess, image().order());
  const auto reply = finished();
  BOOST_REQUIRE((reply.failure.code == ec::none));
  BOOST_TEST(reply.sha256.size() == 64u);
  const auto file = slots->view(file_slot);
  BOOST_REQUIRE(file);
  BOOST_TEST(file->size() == reply.bytes);
  const std::string_view text{reinterpret_cast<const char*>(file->data()),
                              file->size()};
  BOOST_TEST(text.find("a red ball") != std::string_view::npos);
}

BOOST_AUTO_TEST_CASE(an_image_is_scaled_to_the_size_asked_for) {
  draw_pixels();
  auto x = image();
  x.how.scaled_to = {48, 24};
  tell(postprocess, x.order());
  BOOST_TEST((finished().failure.code == ec::none));
  const auto file = file_bytes();
  std::vector<uint8_t> drawn(32 * 32 * 3);
  for (size_t i = 0; i < drawn.size(); ++i)
    drawn[i] = static_cast<uint8_t>(i);
  BOOST_TEST((image::decode(file)->bytes
              == image::cover({{32, 32}, 3, drawn}, {48, 24})->bytes));
  const auto told = image::parse_parameters(*image::read_text(file));
  BOOST_TEST(told.find("Size").value_or("") == "48x24");
  BOOST_TEST(told.find("Drawn size").value_or("") == "32x32");
}

BOOST_AUTO_TEST_CASE(what_an_edit_keeps_is_put_over_the_scaled_image) {
  const core::extent asked{40, 16};
  const auto into = slots->buffer(pixel_slot);
  const auto bytes = gpu::drawn_bytes({32, 32}, asked);
  std::fill_n(into->begin(), 32 * 32 * 3, std::byte{200});
  const auto kept = into->subspan(32 * 32 * 3, bytes - 32 * 32 * 3);
  for (size_t i = 0; i < asked.pixels() * 3; ++i)
    kept[i] = static_cast<std::byte>(i % 101);
  for (size_t i = 0; i < asked.pixels(); ++i)
    kept[asked.pixels() * 3 + i] = i % 3 == 0 ? std::byte{255} : std::byte{0};
  BOOST_REQUIRE(slots->publish(pixel_slot, 1, bytes));
  auto x = image();
  x.how.scaled_to = asked;
  tell(postprocess, x.order());
  BOOST_TEST((finished().failure.code == ec::none));
  const auto made = *image::decode(file_bytes());
  for (size_t i = 0; i < asked.pixels(); ++i)
    for (size_t c = 0; c < 3; ++c)
      BOOST_REQUIRE(made.bytes[3 * i + c]
                    == (i % 3 == 0 ? 200u : (3 * i + c) % 101));
}

BOOST_AUTO_TEST_CASE(notes_stand_in_the_file_beside_the_parameters) {
  draw_pixels();
  auto x = image();
  x.notes = {{core::note_code::unknown_word, "prompt: 'ball', is not known"},
             {core::note_code::prompt_cut, "cut"}};
  tell(postprocess, x.order());
  const auto text = image::read_text(file_bytes());
  BOOST_REQUIRE(text);
  BOOST_TEST(image::parse_parameters(*text).find("Notes").value_or("")
             == "prompt: 'ball', is not known (unknown_word); cut "
                "(prompt_cut)");
}

BOOST_AUTO_TEST_CASE(pixels_that_are_not_there_are_an_error) {
  tell(postprocess, image().order());
  BOOST_TEST((finished().failure.code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(a_file_that_does_not_fit_its_slot_is_an_error) {
  draw_pixels();
  auto x = image();
  x.text.positive.assign(9000, 'x');
  core::philox random{1, core::purpose::test};
  for (auto& c : x.text.positive)
    c = static_cast<char>('a' + random.below(26));
  tell(postprocess, x.order());
  BOOST_TEST((finished().failure.code == ec::invalid_argument));
  BOOST_TEST(*slots->published(file_slot) == 0u);
}

BOOST_AUTO_TEST_CASE(a_store_without_bytes_only_counts) {
  ipc::heap_store bare{1, {1, 2, 0}};
  for (const auto& x : {state_slot, pixel_slot, file_slot})
    bare.open(x);
  BOOST_TEST((test::do_alone(noise().order(), bare).failure.code == ec::none));
  BOOST_TEST(*bare.published(state_slot) == 1u);
  const auto reply = test::do_alone(image().order(), bare);
  BOOST_TEST((reply.failure.code == ec::none));
  BOOST_TEST(*bare.published(file_slot) == 1u);
}

// -- questions about orders ---------------------------------------------------

BOOST_AUTO_TEST_CASE(a_pool_answers_a_question_after_what_came_before) {
  actors::worker_directory there;
  there.add(actors::role::preprocess, preprocess);
  const actors::worker_address to{test::scheduler_rig::life(1),
                                  actors::role::preprocess, 0};
  const auto who = noise().who;
  BOOST_REQUIRE(there.send(to, noise().order()));
  BOOST_REQUIRE(there.send(to, actors::ask_order{who}));
  run();
  BOOST_REQUIRE(scheduler->all.size() >= 2u);
  const auto last = scheduler->all.size() - 1;
  BOOST_TEST(
    test::read_as<test::prepared>(scheduler->all[last - 1]).has_value());
  // Whatever it was asked for is done: it has no order left.
  const auto has = test::read_as<actors::has_order>(scheduler->all[last]);
  BOOST_REQUIRE(has.has_value());
  BOOST_TEST((*has == actors::has_order{who, false}));
}

BOOST_AUTO_TEST_CASE(a_handler_that_throws_answers_its_order) {
  scheduler->throws_once = true;
  tell(preprocess, noise().order());
  BOOST_REQUIRE(scheduler->of<test::prepared>().size() == 1u);
  BOOST_TEST((prepared().failure.code == ec::internal));
  BOOST_TEST((prepared().who == noise().who));
  // The worker continues.
  const auto before = scheduler->of<actors::has_order>().size();
  tell(preprocess, actors::ask_order{noise().who});
  BOOST_TEST(scheduler->of<actors::has_order>().size() == before + 1);
}

// -- directory ----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(work_goes_to_the_worker_at_its_place_alone) {
  actors::worker_directory there;
  there.add(actors::role::preprocess, preprocess);
  const auto life = test::scheduler_rig::life(1);
  BOOST_REQUIRE(
    there.send({life, actors::role::preprocess, 1}, noise().order()));
  BOOST_REQUIRE(
    there.send({life, actors::role::postprocess, 0}, noise().order()));
  BOOST_REQUIRE(
    there.send({life, actors::role::preprocess, 0}, actors::cancel_work{}));
  run();
  BOOST_TEST(scheduler->of<test::prepared>().empty());
  BOOST_REQUIRE(
    there.send({life, actors::role::preprocess, 0}, noise().order()));
  run();
  BOOST_TEST(scheduler->of<test::prepared>().size() == 1u);
  there.clear();
  BOOST_REQUIRE(
    there.send({life, actors::role::preprocess, 0}, noise().order()));
  run();
  BOOST_TEST(scheduler->of<test::prepared>().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
