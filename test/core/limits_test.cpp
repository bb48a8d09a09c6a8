// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/limits.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace atelier::core;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

struct case_of {
  std::function<void(request&)> change;
  // Empty for valid limits.
  std::string text;
};

request plain() {
  request r;
  r.text.positive = "a red cube";
  r.px = {512, 512};
  return r;
}

std::shared_ptr<const source_images> files(size_t image, extent image_px,
                                           size_t mask = 0,
                                           extent mask_px = {}) {
  auto x = std::make_shared<source_images>();
  x->image.resize(image);
  x->mask.resize(mask);
  x->image_px = image_px;
  x->mask_px = mask_px;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(limits_test)

BOOST_AUTO_TEST_CASE(each_fault_names_field_value_and_range) {
  const std::vector<case_of> cases = {
    {[](request&) {}, ""},
    {[](request& r) { r.text.positive = ""; }, ""},
    {[](request& r) { r.text.positive = std::string(131072, 'x'); }, ""},
    {[](request& r) { r.text.positive = std::string(131073, 'x'); },
     "prompt has 131073 bytes, outside 0..131072"},
    {[](request& r) { r.text.negative = std::string(131073, 'x'); },
     "negative has 131073 bytes, outside 0..131072"},
    {[](request& r) { r.text.positive = "ab\xC0\xAF"; },
     "prompt is not UTF-8 at byte 2 of 4"},
    {[](request& r) { r.text.negative = "\xED\xA0\x80"; },
     "negative is not UTF-8 at byte 0 of 3"},
    {[](request& r) { r.px = {}; }, ""},
    {[](request& r) {
       r.px = {8, 8};
     },
     ""},
    {[](request& r) {
       r.px = {2048, 2048};
     },
     ""},
    {[](request& r) {
       r.px = {0, 512};
     },
     "size 0x512 has a side outside 8..2048 pixels"},
    {[](request& r) {
       r.px = {512, 0};
     },
     "size 512x0 has a side outside 8..2048 pixels"},
    {[](request& r) {
       r.px = {2056, 8};
     },
     "size 2056x8 has a side outside 8..2048 pixels"},
    {[](request& r) {
       r.px = {512, 4294967288u};
     },
     "size 512x4294967288 has a side outside 8..2048 pixels"},
    {[](request& r) {
       r.px = {512, 513};
     },
     "size 512x513 has a side that is not a multiple of 8 pixels"},
    {[](request& r) { r.fixed.steps = 1; }, ""},
    {[](request& r) { r.fixed.steps = 150; }, ""},
    {[](request& r) { r.fixed.steps = 0; }, "steps 0 outside 1..150"},
    {[](request& r) { r.fixed.steps = 151; }, "steps 151 outside 1..150"},
    {[](request& r) { r.fixed.guidance = 0.0f; }, ""},
    {[](request& r) { r.fixed.guidance = 50.0f; }, ""},
    {[](request& r) { r.fixed.guidance = -0.5f; },
     "guidance -0.5 outside 0..50"},
    {[](request& r) { r.fixed.guidance = 50.5f; },
     "guidance 50.5 outside 0..50"},
    {[](request& r) { r.fixed.guidance = nan_value; },
     "guidance nan outside 0..50"},
    {[](request& r) { r.fixed.guidance = infinite; },
     "guidance inf outside 0..50"},
    {[](request& r) { r.fixed.guidance_rescale = 0.0f; }, ""},
    {[](request& r) { r.fixed.guidance_rescale = 1.0f; }, ""},
    {[](request& r) { r.fixed.guidance_rescale = 1.5f; },
     "guidance_rescale 1.5 outside 0..1"},
    {[](request& r) { r.fixed.guidance_rescale = nan_value; },
     "guidance_rescale nan outside 0..1"},
    {[](request& r) { r.fixed.eta = 1.0f; }, ""},
    {[](request& r) { r.fixed.eta = -0.5f; }, "eta -0.5 outside 0..1"},
    {[](request& r) { r.fixed.eta = infinite; }, "eta inf outside 0..1"},
    {[](request& r) { r.fixed.strength = 0.5f; },
     "strength 0.5 needs an image"},
    {[](request& r) { r.kind = request_kind::edit; }, "mask needs an image"},
    {[](request& r) {
       r.source = files(1, {1, 1});
     },
     ""},
    {[](request& r) {
       r.source = files(1, {1, 1});
       r.fixed.strength = 1.0f;
     },
     ""},
    {[](request& r) {
       r.source = files(1, {1, 1});
       r.fixed.strength = 0.0f;
     },
     "strength 0 is not above 0 and at most 1"},
    {[](request& r) {
       r.source = files(1, {1, 1});
       r.fixed.strength = nan_value;
     },
     "strength nan is not above 0 and at most 1"},
    {[](request& r) {
       r.source = files(1, {1, 1});
       r.fixed.strength = 1.5f;
     },
     "strength 1.5 is not above 0 and at most 1"},
    {[](request& r) {
       r.source = files(12 << 20, {8192, 4096});
     },
     ""},
    {[](request& r) {
       r.source = files((12 << 20) + 1, {8, 8});
     },
     "image has 12582913 bytes, outside 1..12582912"},
    {[](request& r) {
       r.source = files(0, {8, 8});
     },
     "image has 0 bytes, outside 1..12582912"},
    {[](request& r) {
       r.source = files(1, {8192, 4097});
     },
     "image 8192x4097 has 33562624 pixels, outside 1..33554432"},
    {[](request& r) {
       r.source = files(1, {0, 5});
     },
     "image 0x5 has 0 pixels, outside 1..33554432"},
    {[](request& r) {
       r.source = files(1, {8, 8}, (12 << 20) + 1, {8, 8});
     },
     "mask has 12582913 bytes, outside 1..12582912"},
    {[](request& r) {
       r.source = files(1, {8, 8}, 1, {UINT32_MAX, 8});
     },
     "mask 4294967295x8 has 34359738360 pixels, outside 1..33554432"},
    {[](request& r) { r.output.quality = 1; }, ""},
    {[](request& r) { r.output.quality = 100; }, ""},
    {[](request& r) { r.output.quality = 0; }, "quality 0 outside 1..100"},
    {[](request& r) { r.output.quality = 101; }, "quality 101 outside 1..100"},
    {[](request& r) { r.share = 1; }, ""},
    {[](request& r) { r.share = 1000; }, ""},
    {[](request& r) { r.share = 0; }, "share 0 outside 1..1000"},
    {[](request& r) { r.share = 1001; }, "share 1001 outside 1..1000"},
    {[](request& r) { r.deadline = r.arrived + timespan{1}; }, ""},
    {[](request& r) { r.deadline = r.arrived; },
     "deadline 0 ms after arrival is not later than it"},
    {[](request& r) { r.deadline = r.arrived - from_seconds(1.5); },
     "deadline -1500 ms after arrival is not later than it"},
  };
  for (const auto& [change, text] : cases) {
    request r = plain();
    change(r);
    const auto verdict = validate(r, limits{});
    BOOST_TEST_CONTEXT("expected '" << text << "'") {
      BOOST_TEST(static_cast<bool>(verdict) == text.empty());
      if (!verdict && !text.empty()) {
        BOOST_TEST((verdict.why().code == ec::invalid_argument));
        BOOST_TEST(verdict.why().text == text);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(pixels_are_limited_beside_sides) {
  limits within;
  within.picture_px = 512 * 512;
  request r = plain();
  BOOST_TEST(static_cast<bool>(validate(r, within)));
  r.px = {512, 520};
  const auto verdict = validate(r, within);
  BOOST_REQUIRE(!verdict);
  BOOST_TEST(verdict.why().text
             == "size 512x520 has 266240 pixels, outside 1..262144");
}

BOOST_AUTO_TEST_CASE(the_first_fault_is_told) {
  request r = plain();
  r.text.positive = "\xFF";
  r.fixed.steps = 0;
  const auto verdict = validate(r, limits{});
  BOOST_REQUIRE(!verdict);
  BOOST_TEST(verdict.why().text == "prompt is not UTF-8 at byte 0 of 1");
}

BOOST_AUTO_TEST_SUITE_END()
