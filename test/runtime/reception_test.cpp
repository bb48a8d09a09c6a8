// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/state_format.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/ipc/keeper.hpp>
#include <atelier/runtime/reception.hpp>

#include <boost/test/unit_test.hpp>
#include <support/eventually.hpp>

#include <atomic>
#include <cstring>
#include <future>
#include <stdexcept>

using namespace atelier;
using namespace std::chrono_literals;
using test::eventually;

namespace {

constexpr uint32_t arena = 1;

/// A reception with a store of real slots and the tickets that it returned.
struct desk {
  std::shared_ptr<ipc::heap_store> store = std::make_shared<ipc::heap_store>(
    arena, std::array<uint32_t, ipc::slot_kinds>{1, 4, 0},
    std::array<uint64_t, ipc::slot_kinds>{64, 64, 64});
  std::mutex mutex;
  std::vector<uint64_t> taken;
  runtime::reception sut{store, [this](core::request_id id) {
                           const std::lock_guard guard{mutex};
                           taken.push_back(id.value);
                         }};

  std::vector<uint64_t> given_back() {
    const std::lock_guard guard{mutex};
    return taken;
  }

  /// Puts `text` into a new image slot.
  ipc::slot_ref put(uint32_t slot, const std::string& text) {
    ipc::slot_ref ref;
    ref.arena = arena;
    ref.slot = slot;
    ref.generation = 1;
    ref.kind = ipc::slot_kind::image;
    store->open(ref);
    const auto into = store->buffer(ref);
    BOOST_TEST_REQUIRE(into.operator bool());
    std::memcpy(into->data(), text.data(), text.size());
    BOOST_TEST_REQUIRE(store->publish(ref, 1, text.size()).operator bool());
    return ref;
  }
};

std::shared_ptr<const core::request> request(uint64_t id) {
  auto x = std::make_shared<core::request>();
  x->id = core::request_id{id};
  x->text = {"prompt", "negative"};
  return x;
}

actors::answer image_of(uint64_t id, ipc::slot_ref image) {
  actors::answer a;
  a.request = request(id);
  a.image = image;
  a.recipe.seed = 5;
  a.recipe.steps = 20;
  a.steps_run = 23;
  a.sha256 = "abc";
  a.variant = "card@20";
  a.recipe.guidance_rescale = 0.5f;
  a.recipe.eta = 0.25f;
  a.recipe.karras = true;
  a.recipe.strength = 0.75f;
  a.notes = {{core::note_code::prompt_cut, "a note"}};
  return a;
}

actors::answer failure_of(uint64_t id, core::ec code) {
  actors::answer a;
  a.request = request(id);
  a.failure = core::fail(code, "why");
  a.retry_after = 3s;
  return a;
}

core::request_id id_of(uint64_t id) {
  return core::request_id{id};
}

} // namespace

BOOST_AUTO_TEST_SUITE(reception_test)

BOOST_AUTO_TEST_CASE(a_image_is_copied_and_its_slot_given_back) {
  desk d;
  auto result = d.sut.expect(id_of(1), {});
  BOOST_TEST(!d.sut.expect(id_of(2), {}, 1));
  BOOST_TEST(d.sut.open() == 1u);
  BOOST_TEST(d.sut.open() == 1u);
  BOOST_TEST(d.sut.knows(id_of(1)));
  d.sut.answered(image_of(1, d.put(0, "file")));
  const auto a = result.get();
  BOOST_TEST_REQUIRE(std::holds_alternative<generated_image>(a));
  const auto& p = std::get<generated_image>(a);
  BOOST_TEST(std::string(p.bytes.begin(), p.bytes.end()) == "file");
  BOOST_TEST(p.request == 1u);
  BOOST_TEST(p.seed == 5u);
  BOOST_TEST(p.steps == 20u);
  BOOST_TEST(p.steps_run == 23u);
  BOOST_TEST(p.prompt == "prompt");
  BOOST_TEST(p.negative == "negative");
  BOOST_TEST(p.variant == "card@20");
  BOOST_TEST(p.format == "png");
  BOOST_TEST(p.guidance_rescale == 0.5f);
  BOOST_TEST(p.eta == 0.25f);
  BOOST_TEST(p.karras);
  BOOST_TEST(p.strength == 0.75f);
  BOOST_TEST((p.notes == std::vector<note>{{"prompt_cut", "a note"}}));
  BOOST_TEST((d.given_back() == std::vector<uint64_t>{1}));
}

BOOST_AUTO_TEST_CASE(what_a_prompt_tolerates_is_told_by_name) {
  auto known = std::make_shared<planning::profile>();
  known->variants.resize(2);
  known->variants[0].name = "base@50";
  known->variants[1].name = "tiny@20";
  known->ladders.resize(2);
  known->ladders[0].levels.resize(2);
  known->ladders[0].levels[1].skip = 5;
  known->ladders[1].kind = planning::ladder_kind::smaller_models;
  known->ladders[1].levels.resize(2);
  known->ladders[1].levels[1].variant = core::variant_id{1};
  desk d;
  runtime::reception sut{d.store, [](core::request_id) {}, {}, known};
  const auto told = [&](uint64_t id,
                        std::optional<std::vector<uint32_t>> tolerated) {
    auto result = sut.expect(id_of(id), {});
    auto x = image_of(id, d.put(0, "file"));
    x.tolerated = std::move(tolerated);
    sut.answered(std::move(x));
    const auto a = result.get();
    BOOST_TEST_REQUIRE(std::holds_alternative<generated_image>(a));
    return std::get<generated_image>(a).prompt_class;
  };
  BOOST_TEST((told(1, std::vector<uint32_t>{0, 1})
              == std::vector<ladder_level>{{"cached_latents", 0, "base@50"},
                                           {"smaller_models", 1, "tiny@20"}}));
  BOOST_TEST((told(2, std::nullopt).empty()));
  BOOST_TEST((told(3, std::vector<uint32_t>{}).empty()));
  // The profile lacks these levels and ladders.
  BOOST_TEST((told(4, std::vector<uint32_t>{7, 1, 0})
              == std::vector<ladder_level>{{"smaller_models", 1, "tiny@20"}}));
}

BOOST_AUTO_TEST_CASE(a_failure_keeps_code_text_and_time) {
  desk d;
  auto result = d.sut.expect(id_of(1), {});
  d.sut.answered(failure_of(1, core::ec::overloaded));
  const auto a = result.get();
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(a));
  BOOST_TEST(std::get<failure>(a).code == "overloaded");
  BOOST_TEST(std::get<failure>(a).text == "why");
  BOOST_TEST((std::get<failure>(a).retry_after == 3s));
  BOOST_TEST(d.given_back().empty());
}

BOOST_AUTO_TEST_CASE(a_stale_slot_is_a_failure_and_still_given_back) {
  desk d;
  auto result = d.sut.expect(id_of(1), {});
  auto ref = d.put(0, "file");
  ++ref.generation;
  d.sut.answered(image_of(1, ref));
  BOOST_TEST(std::holds_alternative<failure>(result.get()));
  BOOST_TEST(eventually([&] { return d.given_back().size() == 1; }));
}

BOOST_AUTO_TEST_CASE(a_second_answer_reaches_nobody) {
  desk d;
  std::atomic<int> calls = 0;
  callbacks c;
  c.answered = [&](const answer&) { ++calls; };
  auto result = d.sut.expect(id_of(1), c);
  const auto ref = d.put(0, "file");
  d.sut.answered(image_of(1, ref));
  d.sut.answered(image_of(1, ref));
  d.sut.answered(failure_of(1, core::ec::internal));
  result.get();
  // Its slot is returned nevertheless.
  BOOST_TEST(eventually([&] { return d.given_back().size() == 2; }));
  d.sut.close();
  BOOST_TEST(calls.load() == 1);
}

BOOST_AUTO_TEST_CASE(an_answer_to_nobody_gives_its_slot_back) {
  desk d;
  d.sut.answered(image_of(8, d.put(0, "file")));
  BOOST_TEST(eventually([&] { return d.given_back().size() == 1; }));
}

BOOST_AUTO_TEST_CASE(who_has_its_answer_is_not_open_any_more) {
  desk d;
  for (uint64_t i = 1; i < 200; ++i) {
    auto result = d.sut.expect(id_of(i), {});
    d.sut.answered(failure_of(i, core::ec::internal));
    result.get();
    BOOST_TEST_REQUIRE(d.sut.open() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(progress_comes_before_the_answer_in_order) {
  desk d;
  std::vector<uint32_t> steps;
  callbacks c;
  c.progressed = [&](const progress& p) { steps.push_back(p.steps_done); };
  c.answered = [&](const answer&) { steps.push_back(99); };
  auto result = d.sut.expect(id_of(1), c);
  for (uint32_t i = 1; i <= 5; ++i)
    d.sut.progressed(id_of(1), i, 5, {});
  d.sut.answered(failure_of(1, core::ec::internal));
  d.sut.progressed(id_of(1), 5, 5, {});
  BOOST_TEST(d.sut.wait_until_empty(30s));
  d.sut.close();
  BOOST_TEST((steps == std::vector<uint32_t>{1, 2, 3, 4, 5, 99}));
}

BOOST_AUTO_TEST_CASE(a_preview_is_taken_from_the_published_state) {
  desk d;
  ipc::slot_ref state;
  state.arena = arena;
  state.generation = 1;
  state.kind = ipc::slot_kind::state;
  d.store->open(state);
  const std::vector<uint8_t> rgb = {1, 2, 3, 4, 5, 6};
  const core::latent_shape shape{1, 1, 1};
  BOOST_REQUIRE(
    gpu::begin_state(*d.store->buffer(state), shape, 3, 0, {}, {{2, 1}, rgb}));
  BOOST_REQUIRE(d.store->publish(state, 4, gpu::state_bytes(shape, 0, {2, 1})));
  std::vector<preview> seen;
  callbacks c;
  c.progressed = [&](const progress& p) { seen.push_back(p.preview); };
  auto result = d.sut.expect(id_of(1), c);
  d.sut.progressed(id_of(1), 3, 5, state);
  d.sut.progressed(id_of(1), 4, 5, {});
  // The slot was granted to another request meanwhile.
  auto stale = state;
  ++stale.generation;
  d.sut.progressed(id_of(1), 4, 5, stale);
  d.sut.answered(failure_of(1, core::ec::internal));
  BOOST_TEST(d.sut.wait_until_empty(30s));
  BOOST_TEST_REQUIRE(seen.size() == 3u);
  BOOST_TEST(seen[0].step == 3u);
  BOOST_TEST(seen[0].width == 2u);
  BOOST_TEST(seen[0].height == 1u);
  BOOST_TEST((seen[0].rgb == rgb));
  BOOST_TEST(seen[1].rgb.empty());
  BOOST_TEST(seen[2].rgb.empty());
}

BOOST_AUTO_TEST_CASE(empty_means_that_the_last_call_returned) {
  desk d;
  std::promise<void> begun;
  std::promise<void> open;
  auto opened = open.get_future().share();
  callbacks c;
  c.answered = [&](const answer&) {
    begun.set_value();
    opened.wait();
  };
  auto result = d.sut.expect(id_of(1), c);
  d.sut.answered(failure_of(1, core::ec::internal));
  begun.get_future().wait();
  BOOST_TEST(!d.sut.wait_until_empty(1ms));
  open.set_value();
  BOOST_TEST(d.sut.wait_until_empty(30s));
}

BOOST_AUTO_TEST_CASE(a_slow_client_delays_nobody_who_tells) {
  desk d;
  std::promise<void> open;
  auto opened = open.get_future().share();
  callbacks slow;
  slow.answered = [&](const answer&) { opened.wait(); };
  auto first = d.sut.expect(id_of(1), slow);
  auto second = d.sut.expect(id_of(2), {});
  d.sut.answered(failure_of(1, core::ec::internal));
  // These calls return although the first client's callback still runs.
  d.sut.answered(failure_of(2, core::ec::internal));
  d.sut.progressed(id_of(2), 1, 2, {});
  BOOST_TEST((second.wait_for(0s) == std::future_status::timeout));
  open.set_value();
  second.get();
}

BOOST_AUTO_TEST_CASE(a_client_that_throws_harms_nobody) {
  desk d;
  callbacks bad;
  bad.progressed = [](const progress&) { throw std::runtime_error{"client"}; };
  bad.answered = [](const answer&) { throw 7; };
  auto first = d.sut.expect(id_of(1), bad);
  auto second = d.sut.expect(id_of(2), {});
  d.sut.progressed(id_of(1), 1, 2, {});
  d.sut.answered(failure_of(1, core::ec::internal));
  d.sut.answered(failure_of(2, core::ec::internal));
  first.get();
  second.get();
  BOOST_TEST(d.sut.open() == 0u);
}

BOOST_AUTO_TEST_CASE(closing_answers_what_is_open_once) {
  desk d;
  std::atomic<int> calls = 0;
  callbacks c;
  c.answered = [&](const answer& a) {
    calls += std::get<failure>(a).code == "stopping" ? 1 : 100;
  };
  auto first = d.sut.expect(id_of(1), c);
  auto second = d.sut.expect(id_of(2), c);
  d.sut.close();
  d.sut.close();
  BOOST_TEST(std::get<failure>(first.get()).code == "stopping");
  BOOST_TEST(std::get<failure>(second.get()).code == "stopping");
  BOOST_TEST(calls.load() == 2);
  BOOST_TEST(d.sut.open() == 0u);
  // Late messages are dropped.
  d.sut.answered(failure_of(1, core::ec::internal));
  d.sut.progressed(id_of(2), 1, 2, {});
  BOOST_TEST(calls.load() == 2);
}

BOOST_AUTO_TEST_CASE(the_pace_of_answers_is_measured) {
  desk d;
  BOOST_TEST(d.sut.seconds_per_answer() == 0);
  for (uint64_t i = 1; i < 50; ++i) {
    auto result = d.sut.expect(id_of(i), {});
    d.sut.answered(failure_of(i, core::ec::internal));
    result.get();
  }
  BOOST_TEST(d.sut.seconds_per_answer() > 0);
  BOOST_TEST(d.sut.seconds_per_answer() < 30);
}

BOOST_AUTO_TEST_CASE(a_trial_goes_on_once_the_client_wrote_it_down) {
  std::mutex mutex;
  std::vector<uint64_t> noted;
  const auto sut = std::make_shared<runtime::reception>(
    desk{}.store, [](core::request_id) {},
    [&](core::request_id id) {
      const std::lock_guard guard{mutex};
      noted.push_back(id.value);
    });
  const auto count = [&] {
    const std::lock_guard guard{mutex};
    return noted.size();
  };
  std::promise<std::function<void()>> go_on;
  std::promise<suspicion> told;
  callbacks calls;
  calls.suspected = [&](const suspicion& x, std::function<void()> then) {
    told.set_value(x);
    go_on.set_value(std::move(then));
  };
  auto first = sut->expect(core::request_id{1}, calls);
  auto second = sut->expect(core::request_id{2}, {});
  sut->suspected(core::request_id{1}, {core::phase::denoising, 1, 7, 2}, true);
  const auto then = go_on.get_future().get();
  const auto x = told.get_future().get();
  BOOST_TEST(x.phase == "denoising");
  BOOST_TEST(x.stage == 1u);
  BOOST_TEST(x.steps == 7u);
  BOOST_TEST(x.trials == 2u);
  BOOST_TEST(count() == 0u);
  then();
  BOOST_TEST(count() == 1u);
  // A client that keeps no notes delays no other client.
  sut->suspected(core::request_id{2}, {core::phase::denoising, 0, 0, 1}, true);
  BOOST_TEST(eventually([&] { return count() == 2; }));
  // A late answer no longer has an effect.
  sut->close();
  then();
  BOOST_TEST(count() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
