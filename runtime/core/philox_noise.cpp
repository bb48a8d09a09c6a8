// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/detail/box_muller.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/core/philox_noise.hpp>

#include <algorithm>
#include <array>

namespace atelier::core {

namespace {

void fill_uniform(philox& words, std::span<float> out) {
  for (float& x : out)
    x = static_cast<float>(words.next_u32() >> 8) * 0x1p-24f;
}

} // namespace

void philox_randn(uint64_t seed, std::span<float> out) {
  constexpr size_t chunk = detail::box_muller_chunk;
  philox words{seed, purpose::noise};
  const auto whole = out.first(out.size() / chunk * chunk);
  fill_uniform(words, whole);
  detail::box_muller(whole);
  const auto rest = out.subspan(whole.size());
  if (rest.empty())
    return;
  std::array<float, chunk> last;
  fill_uniform(words, last);
  detail::box_muller(last);
  std::copy_n(last.begin(), rest.size(), rest.begin());
}

} // namespace atelier::core
