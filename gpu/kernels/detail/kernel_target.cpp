// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/gpu/kernels/detail/kernel_target.hpp>

namespace atelier::gpu::host::detail {

#ifdef ATELIER_INSTRUCTION_SETS
extern const kernel_target avx2_target;
extern const kernel_target avx512_target;
extern const kernel_target avx512_bf16_target;
#endif

std::span<const kernel_target* const> compiled_targets() {
#ifdef ATELIER_INSTRUCTION_SETS
  static constexpr const kernel_target* all[] = {&avx2_target, &avx512_target,
                                                 &avx512_bf16_target};
  return all;
#else
  return {};
#endif
}

const kernel_target& chosen_target() {
  const auto* const target = core::fastest_in_use(compiled_targets());
  ATELIER_EXPECTS(target != nullptr, "the set in use includes a target");
  return *target;
}

} // namespace atelier::gpu::host::detail
