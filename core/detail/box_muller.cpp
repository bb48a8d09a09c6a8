// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/detail/box_muller.hpp>
#include <atelier/core/detail/box_muller_code.hpp>

namespace atelier::core::detail {

extern const box_muller_code portable_box_muller;
#ifdef ATELIER_INSTRUCTION_SETS
// AVX-512 has no code of its own: half of a chunk fills a vector of AVX2.
extern const box_muller_code avx2_box_muller;
#endif

void box_muller(std::span<float> data) {
  static constexpr const box_muller_code* all[] = {
    &portable_box_muller,
#ifdef ATELIER_INSTRUCTION_SETS
    &avx2_box_muller,
#endif
  };
  fastest_in_use<box_muller_code>(all)->transform(
    data.data(), data.size() / box_muller_chunk);
}

} // namespace atelier::core::detail
