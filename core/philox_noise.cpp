// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/detail/box_muller.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/core/philox_noise.hpp>

#include <algorithm>
#include <array>

namespace atelier::core {

philox_generator::philox_generator(uint64_t seed, uint64_t position)
  : words_(seed, purpose::noise), position_(position) {
  words_.seek(position);
}

void philox_generator::fill_chunks(std::span<float> out) {
  for (float& x : out)
    x = static_cast<float>(words_.next_u32() >> 8) * 0x1p-24f;
  position_ += out.size();
  detail::box_muller(out);
}

void philox_generator::fill(std::span<float> out) {
  constexpr size_t chunk = detail::box_muller_chunk;
  const auto whole = out.first(out.size() / chunk * chunk);
  fill_chunks(whole);
  const auto rest = out.subspan(whole.size());
  if (rest.empty())
    return;
  std::array<float, chunk> last;
  fill_chunks(last);
  std::copy_n(last.begin(), rest.size(), rest.begin());
}

void philox_randn(uint64_t seed, std::span<float> out) {
  philox_generator{seed}.fill(out);
}

} // namespace atelier::core
