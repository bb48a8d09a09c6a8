// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/sha256.hpp>
#include <atelier/index/veiled.hpp>

#include <algorithm>
#include <random>
#include <utility>

namespace atelier::index {

namespace {

constexpr uint32_t half_bits = 24;
constexpr uint32_t half_mask = (1u << half_bits) - 1;
constexpr uint32_t rounds = 4;
constexpr uint64_t numbers = uint64_t{1} << (2 * half_bits);

struct halves {
  uint32_t left = 0;
  uint32_t right = 0;

  static halves of(uint64_t number) {
    ATELIER_EXPECTS(number < numbers, "a veiled number has 48 bits");
    return {static_cast<uint32_t>(number >> half_bits),
            static_cast<uint32_t>(number) & half_mask};
  }

  uint64_t joined() const {
    return uint64_t{left} << half_bits | right;
  }
};

} // namespace

number_veil number_veil::random() {
  std::random_device entropy;
  secret by{};
  std::ranges::generate(by, [&] { return static_cast<std::byte>(entropy()); });
  return number_veil{by};
}

uint32_t number_veil::round(uint32_t half, uint32_t index) const {
  std::array<std::byte, std::tuple_size_v<secret> + 4> input{};
  auto* at = std::ranges::copy(secret_, input.begin()).out;
  *at++ = static_cast<std::byte>(index);
  for (uint32_t i = 0; i < 3; ++i)
    *at++ = static_cast<std::byte>(half >> (8 * i));
  const auto digest = core::sha256(input);
  return (uint32_t{digest[0]} | uint32_t{digest[1]} << 8
          | uint32_t{digest[2]} << 16)
       & half_mask;
}

uint64_t number_veil::veiled(uint64_t number) const {
  auto x = halves::of(number);
  for (uint32_t i = 0; i < rounds; ++i)
    x = {x.right, x.left ^ round(x.right, i)};
  return x.joined();
}

uint64_t number_veil::unveiled(uint64_t number) const {
  auto x = halves::of(number);
  for (uint32_t i = rounds; i-- > 0;)
    x = {x.right ^ round(x.left, i), x.left};
  return x.joined();
}

veiled_work::veiled_work(std::shared_ptr<kept_work> kept, number_veil veil)
  : forwarding_work(std::move(kept)), veil_(veil) {}

std::vector<planning::match> veiled_work::near(std::string_view key,
                                               std::string_view text,
                                               const search_terms& by) {
  auto out = to()->near(key, text, by);
  for (auto& x : out)
    x.entry = veil_.veiled(x.entry);
  return out;
}

core::result<payload> veiled_work::state(uint64_t entry, uint32_t steps) {
  return to()->state(veil_.unveiled(entry), steps);
}

core::result<payload> veiled_work::image(uint64_t entry, core::extent px,
                                         uint32_t skips) {
  return to()->image(veil_.unveiled(entry), px, skips);
}

void veiled_work::drop_torn(uint64_t entry) {
  to()->drop_torn(veil_.unveiled(entry));
}

core::result<std::vector<kept_entry>> veiled_work::list(
  const entry_page& which) {
  auto page = which;
  // 0 is before all entries, and no entry has a higher number.
  if (page.after >= numbers)
    return std::vector<kept_entry>{};
  if (page.after != 0)
    page.after = veil_.unveiled(page.after);
  auto out = to()->list(page);
  if (out)
    for (auto& x : *out)
      x.number = veil_.veiled(x.number);
  return out;
}

} // namespace atelier::index
