// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/state_format.hpp>

#include <boost/test/unit_test.hpp>

#include <cstring>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(state_format)

namespace {

constexpr core::latent_shape shape{4, 3, 2};

std::vector<std::byte> sample(size_t history_bytes = 5,
                              core::extent preview = {2, 3}) {
  const std::vector<std::byte> history(history_bytes, std::byte{9});
  const std::vector<uint8_t> rgb(preview.pixels() * 3, 7);
  std::vector<std::byte> bytes(state_bytes(shape, history_bytes, preview));
  auto latent = begin_state(bytes, shape, 6, 77, history, {preview, rgb});
  BOOST_REQUIRE(latent);
  for (auto i = size_t{0}; i < latent->size(); ++i)
    (*latent)[i] = static_cast<float>(i);
  return bytes;
}

} // namespace

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  for (const auto& [history, px] : {std::pair{size_t{0}, core::extent{}},
                                    std::pair{size_t{5}, core::extent{}},
                                    std::pair{size_t{0}, core::extent{2, 3}},
                                    std::pair{size_t{5}, core::extent{1, 1}}}) {
    const auto bytes = sample(history, px);
    const auto parts = parse_state(bytes);
    BOOST_REQUIRE(parts);
    BOOST_TEST(parts->head.steps_done == 6u);
    BOOST_TEST(parts->head.generator_counter == 77u);
    BOOST_TEST(parts->head.height == 3u);
    BOOST_TEST(parts->latent.size() == shape.elements());
    BOOST_TEST(parts->latent.back() == 23.0f);
    BOOST_TEST(parts->history.size() == history);
    for (const auto x : parts->history)
      BOOST_TEST(std::to_integer<int>(x) == 9);
    BOOST_TEST((parts->preview.px == px));
    BOOST_TEST(parts->preview.rgb.size() == px.pixels() * 3);
    for (const auto x : parts->preview.rgb)
      BOOST_TEST(x == 7);
  }
}

BOOST_AUTO_TEST_CASE(a_state_that_does_not_fit_is_refused) {
  std::vector<std::byte> bytes(state_bytes(shape, 0) - 1);
  const auto latent = begin_state(bytes, shape, 0, 0);
  BOOST_REQUIRE(!latent);
  BOOST_CHECK(latent.why().code == core::ec::out_of_resources);
}

BOOST_AUTO_TEST_CASE(every_cut_is_refused) {
  const auto bytes = sample();
  for (auto n = size_t{0}; n < bytes.size(); ++n)
    BOOST_CHECK(!parse_state(std::span{bytes}.first(n)));
  auto longer = bytes;
  longer.push_back({});
  BOOST_CHECK(!parse_state(longer));
}

BOOST_AUTO_TEST_CASE(hostile_heads_are_refused) {
  const auto with = [](auto change) {
    auto bytes = sample();
    state_head head;
    std::memcpy(&head, bytes.data(), sizeof(head));
    change(head);
    std::memcpy(bytes.data(), &head, sizeof(head));
    const auto parts = parse_state(bytes);
    return !parts && parts.why().code == core::ec::bad_payload;
  };
  BOOST_TEST(with([](auto& x) { x.magic ^= 1; }));
  BOOST_TEST(with([](auto& x) { x.channels = 0; }));
  BOOST_TEST(with([](auto& x) { x.width = 3; }));
  BOOST_TEST(with([](auto& x) { x.history_bytes = 4; }));
  BOOST_TEST(with([](auto& x) { x.history_bytes = UINT32_MAX; }));
  BOOST_TEST(with([](auto& x) { x.preview_width = 3; }));
  BOOST_TEST(with([](auto& x) { x.preview_height = 0; }));
  BOOST_TEST(with([](auto& x) {
    x.preview_width = x.preview_height = UINT32_MAX;
    x.history_bytes = 20;
  }));
  // These products wrap to small numbers.
  BOOST_TEST(with([](auto& x) { x.channels = x.height = 1u << 31; }));
  BOOST_TEST(
    with([](auto& x) { x.channels = x.height = x.width = UINT32_MAX; }));
}

BOOST_AUTO_TEST_SUITE_END()
