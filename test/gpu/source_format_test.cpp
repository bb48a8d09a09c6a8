// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/source_format.hpp>

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(source_format)

namespace {

constexpr core::extent px{5, 3};

std::vector<std::byte> sample(bool masked) {
  std::vector<std::byte> bytes(source_bytes(px, masked));
  const auto into = begin_source(bytes, px, masked);
  BOOST_REQUIRE(into);
  for (size_t i = 0; i < into->pixels.size(); ++i)
    into->pixels[i] = static_cast<uint8_t>(i);
  for (size_t i = 0; i < into->mask.size(); ++i)
    into->mask[i] = i % 2 == 0 ? 0 : 255;
  return bytes;
}

} // namespace

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  for (const bool masked : {false, true}) {
    const auto bytes = sample(masked);
    const auto parts = parse_source(bytes);
    BOOST_REQUIRE(parts);
    BOOST_TEST((parts->px == px));
    BOOST_TEST(parts->pixels.size() == 45u);
    BOOST_TEST(parts->pixels.back() == 44);
    BOOST_TEST(parts->mask.size() == (masked ? 15u : 0u));
    if (masked)
      BOOST_TEST(parts->mask[1] == 255);
  }
}

BOOST_AUTO_TEST_CASE(a_source_that_does_not_fit_is_refused) {
  std::vector<std::byte> bytes(source_bytes(px, true) - 1);
  const auto into = begin_source(bytes, px, true);
  BOOST_REQUIRE(!into);
  BOOST_CHECK(into.why().code == core::ec::out_of_resources);
  BOOST_CHECK(begin_source(bytes, px, false));
}

BOOST_AUTO_TEST_CASE(what_is_kept_in_another_size_is_read) {
  constexpr core::extent kept{10, 6};
  std::vector<std::byte> bytes(source_bytes(px, true, kept));
  const auto into = begin_source(bytes, px, true, kept);
  BOOST_REQUIRE(into);
  into->kept_pixels.back() = 7;
  into->kept_mask[3] = 255;
  const auto parts = parse_source(bytes);
  BOOST_REQUIRE(parts);
  BOOST_TEST((parts->kept.px == kept));
  BOOST_TEST(parts->kept.pixels.size() == 180u);
  BOOST_TEST(parts->kept.pixels.back() == 7);
  BOOST_TEST(parts->kept.mask.size() == 60u);
  BOOST_TEST(parts->kept.mask[3] == 255);
  for (size_t n = 0; n < bytes.size(); ++n)
    BOOST_CHECK(!parse_source(std::span{bytes}.first(n)));
  into->kept_mask[3] = 1;
  BOOST_CHECK(!parse_source(bytes));
}

BOOST_AUTO_TEST_CASE(a_drawn_image_has_what_it_keeps_behind_it) {
  constexpr core::extent kept{10, 6};
  std::vector<std::byte> bytes(drawn_bytes(px, kept));
  bytes[45] = std::byte{9};
  bytes.back() = std::byte{255};
  const auto parts = parse_kept(bytes, px, kept);
  BOOST_REQUIRE(parts);
  BOOST_TEST((parts->px == kept));
  BOOST_TEST(parts->pixels.front() == 9);
  BOOST_TEST(parts->mask.back() == 255);
  const auto alone =
    parse_kept(std::span{bytes}.first(drawn_bytes(px)), px, kept);
  BOOST_REQUIRE(alone);
  BOOST_TEST(alone->mask.empty());
  BOOST_CHECK(!parse_kept(std::span{bytes}.first(100), px, kept));
  BOOST_CHECK(!parse_kept(bytes, px, {}));
}

BOOST_AUTO_TEST_CASE(every_cut_is_refused) {
  for (const bool masked : {false, true}) {
    auto bytes = sample(masked);
    for (size_t n = 0; n < bytes.size(); ++n)
      BOOST_CHECK(!parse_source(std::span{bytes}.first(n)));
    bytes.push_back({});
    BOOST_CHECK(!parse_source(bytes));
  }
}

BOOST_AUTO_TEST_CASE(hostile_heads_are_refused) {
  const auto with = [](auto change) {
    auto bytes = sample(true);
    source_head head;
    std::memcpy(&head, bytes.data(), sizeof(head));
    change(head);
    std::memcpy(bytes.data(), &head, sizeof(head));
    const auto parts = parse_source(bytes);
    return !parts && parts.why().code == core::ec::bad_payload;
  };
  BOOST_TEST(with([](auto& x) { x.magic ^= 1; }));
  BOOST_TEST(with([](auto& x) { x.width = 0; }));
  BOOST_TEST(with([](auto& x) { x.width = 6; }));
  BOOST_TEST(with([](auto& x) { x.masked = 0; }));
  BOOST_TEST(with([](auto& x) { x.masked = 2; }));
  // These products wrap to small numbers.
  BOOST_TEST(with([](auto& x) { x.width = x.height = 1u << 31; }));
  BOOST_TEST(with([](auto& x) { x.width = x.height = UINT32_MAX; }));
}

BOOST_AUTO_TEST_CASE(a_mask_is_black_or_white) {
  auto bytes = sample(true);
  bytes.back() = std::byte{128};
  const auto parts = parse_source(bytes);
  BOOST_REQUIRE(!parts);
  BOOST_TEST(parts.why().text
             == "a source's mask has the value 128 at 14, not 0 or 255");
}

BOOST_AUTO_TEST_SUITE_END()
