// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/source_files.hpp>
#include <atelier/actors/stages/mask.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/core/sha256.hpp>
#include <atelier/ipc/heap_store.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <string>

using namespace atelier;
using namespace std::chrono_literals;
using actors::mask_stage;
using core::ec;
using core::extent;

namespace {

constexpr ipc::slot_ref files_slot{1, 0, 1, ipc::slot_kind::image};

/// Returns a mask that is white in the first `white` of its columns.
image::bitmap columns(extent px, uint32_t white) {
  image::bitmap x{px, 3, {}};
  for (uint32_t row = 0; row < px.height; ++row)
    for (uint32_t column = 0; column < px.width; ++column)
      x.bytes.insert(x.bytes.end(), 3, column < white ? 255 : 0);
  return x;
}

std::vector<uint8_t> file_of(const image::bitmap& x) {
  const auto file = image::encode(x.view(), {});
  BOOST_REQUIRE(file);
  return *file;
}

struct fixture {
  fixture() {
    slots.open(files_slot);
    here.reads[planning::held::files] = files_slot;
    wanted.px = {32, 24};
    source.image = file_of(columns({32, 24}, 7));
    bring_mask(columns({32, 24}, 8));
    asked.mask = true;
  }

  void bring_mask(const image::bitmap& x) {
    source.mask = file_of(x);
    source.mask_px = x.px;
  }

  mask_stage stage() const {
    return {most, 10s, 200ms, 0.25};
  }

  std::optional<mask_stage::work> begin() {
    wanted.source = std::make_shared<const core::source_images>(source);
    return stage().begin({wanted, known, costs, asked});
  }

  // Puts the files where the control process does, and runs the stage on the
  // mask.
  core::result<mask_stage::done> run() {
    const auto order = begin();
    BOOST_REQUIRE(order.has_value());
    slots.open(files_slot);
    BOOST_REQUIRE(
      actors::write_source_files(*slots.buffer(files_slot), source));
    BOOST_REQUIRE(
      slots.publish(files_slot, 1, actors::source_files_bytes(source)));
    return stage().run(*order, here);
  }

  planning::mask_facts found() {
    const auto x = run();
    BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
    return x->mask;
  }

  image::decode_limits most;
  core::source_images source;
  core::request wanted;
  planning::facts known;
  planning::profile costs;
  planning::need asked;
  ipc::heap_store slots{1, {1, 1, 0}, {1024, 65'536, 0}};
  std::vector<core::note> notes;
  core::time_point clock{1h};
  core::timespan tick{0};
  planning::worker_context here{
    slots, {}, {}, [this] { return clock += tick; }, notes};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(mask_stage_test, fixture)

BOOST_AUTO_TEST_CASE(it_reads_the_files_of_whoever_brings_some) {
  const auto sut = stage();
  const auto& row = sut.row();
  BOOST_TEST(row.name == "mask");
  BOOST_CHECK(row.place == planning::place::cpu_pool);
  BOOST_CHECK(row.hook == planning::hook::before_route);
  BOOST_CHECK(row.otherwise == planning::if_failed::go_on);
  BOOST_CHECK(row.budget == 200ms);
  BOOST_TEST(row.budget_share == 0.25);
  BOOST_REQUIRE(row.slots.size() == 1u);
  BOOST_CHECK(row.slots[0].name == planning::held::files);
  BOOST_CHECK(row.slots[0].mode == planning::access::reads);
  BOOST_TEST(row.slots[0].applies(nullptr, true));
  BOOST_TEST(!row.slots[0].applies(nullptr, false));
}

BOOST_AUTO_TEST_CASE(it_has_an_order_where_a_masks_facts_are_asked_for) {
  auto order = begin();
  BOOST_REQUIRE(order.has_value());
  BOOST_TEST((order->px == extent{32, 24}));
  BOOST_TEST(order->mask_pixels == 32u * 24);
  asked.mask = false;
  BOOST_TEST(!begin().has_value());
  asked.mask = true;
  source.mask.clear();
  BOOST_TEST(!begin().has_value());
  wanted.source = nullptr;
  BOOST_TEST(!stage().begin({wanted, known, costs, asked}).has_value());
}

BOOST_AUTO_TEST_CASE(it_takes_as_long_as_a_source_of_the_masks_size) {
  costs.source = 40ms;
  BOOST_CHECK(stage().takes({{8, 8}, 500'000}, costs) == 20ms);
}

BOOST_AUTO_TEST_CASE(the_ratio_is_the_white_share) {
  BOOST_TEST(found().ratio == 0.25);
  bring_mask(columns({32, 24}, 0));
  BOOST_TEST(found().ratio == 0.0);
  bring_mask(columns({32, 24}, 32));
  BOOST_TEST(found().ratio == 1.0);
  BOOST_TEST(!found().recorded);
  BOOST_TEST(notes.empty());
}

BOOST_AUTO_TEST_CASE(it_is_that_of_the_mask_at_the_size_of_the_answer) {
  const auto mask = columns({45, 50}, 13);
  bring_mask(mask);
  const auto scaled = image::resize(mask.view(), {32, 24});
  BOOST_REQUIRE(scaled);
  const auto white = image::binarize(scaled->view());
  const auto share =
    static_cast<double>(std::ranges::count(white, uint8_t{255})) / (32.0 * 24);
  BOOST_TEST(share != 13.0 / 45);
  BOOST_TEST(found().ratio == share);
}

BOOST_AUTO_TEST_CASE(a_mask_that_lies_on_its_side_is_stood_up_first) {
  // A line of the image is a column once it is upright.
  wanted.px = {24, 32};
  bring_mask(columns({32, 24}, 1));
  BOOST_TEST(found().ratio != 1.0 / 32);
  // The chunk after the header is EXIF with orientation 6.
  const std::vector<uint8_t> chunk = {
    0,    0, 0, 26, 'e', 'X', 'I', 'f', 'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, 1,
    0x12, 0, 3, 0,  0,   0,   1,   0,   6,   0,   0, 0,   0, 0, 0, 0, 0, 0, 0};
  source.mask.insert(source.mask.begin() + 33, chunk.begin(), chunk.end());
  BOOST_TEST(found().ratio == 1.0 / 32);
}

BOOST_AUTO_TEST_CASE(a_template_is_called_by_its_files_digest) {
  const auto first = found().template_id;
  const auto hex =
    core::sha256_hex(std::as_bytes(std::span<const uint8_t>{source.image}));
  BOOST_TEST(first == std::stoull(hex.substr(0, 16), nullptr, 16));
  bring_mask(columns({32, 24}, 31));
  BOOST_TEST(found().template_id == first);
  source.image = file_of(columns({32, 24}, 8));
  BOOST_TEST(found().template_id != first);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_mask_is_told_by_its_field) {
  source.mask = {'n', 'o'};
  const auto x = run();
  BOOST_REQUIRE(!x);
  BOOST_CHECK(x.why().code == ec::bad_payload);
  BOOST_TEST(x.why().text
             == "mask: image of 2 bytes is neither PNG nor JPEG nor WebP");
}

BOOST_AUTO_TEST_CASE(more_pixels_than_allowed_are_not_decoded) {
  most.picture_px = 32 * 24;
  BOOST_TEST(found().ratio == 0.25);
  most.picture_px = 32 * 24 - 1;
  const auto x = run();
  BOOST_REQUIRE(!x);
  BOOST_CHECK(x.why().code == ec::bad_payload);
  BOOST_TEST(x.why().text.starts_with("mask: "));
}

BOOST_AUTO_TEST_CASE(what_takes_too_long_fails_with_field_and_option) {
  tick = 11s;
  bring_mask(columns({640, 480}, 8));
  const auto x = run();
  BOOST_REQUIRE(!x);
  BOOST_CHECK(x.why().code == ec::bad_payload);
  BOOST_TEST(x.why().text.starts_with("mask: "));
  BOOST_TEST(x.why().text.ends_with("(limits.decode_ms)"));
}

BOOST_AUTO_TEST_CASE(slots_without_payload_keep_no_files) {
  ipc::heap_store bare{1, {1, 1, 0}};
  bare.open(files_slot);
  BOOST_REQUIRE(bare.publish(files_slot, 1, 0));
  planning::worker_context there{bare, here.reads, {}, here.now, notes};
  const auto x = stage().run({{32, 24}, 768}, there);
  BOOST_REQUIRE(!x);
  BOOST_CHECK(x.why().code == ec::not_found);
}

BOOST_AUTO_TEST_CASE(files_that_are_not_there_are_an_error) {
  const auto x = stage().run({{32, 24}, 768}, here);
  BOOST_REQUIRE(!x);
  BOOST_CHECK(x.why().code == ec::not_found);
}

BOOST_AUTO_TEST_CASE(orders_and_outcomes_cross_processes) {
  const auto expected = found();
  const auto sut = planning::make_stage(stage());
  const auto order = sut->begin({wanted, known, costs, asked});
  BOOST_REQUIRE(order);
  BOOST_REQUIRE(order->has_value());
  const auto x =
    sut->run(core::typed_body::from_bytes((*order)->to_bytes()), here);
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_CHECK(sut->end(core::typed_body::from_bytes(x->to_bytes()), known));
  BOOST_REQUIRE(known.mask.has_value());
  BOOST_CHECK(*known.mask == expected);
}

BOOST_AUTO_TEST_SUITE_END()
