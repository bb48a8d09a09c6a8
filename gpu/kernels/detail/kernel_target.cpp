// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/gpu/kernels/detail/kernel_target.hpp>

#include <atomic>

namespace atelier::gpu::host::detail {

#ifdef ATELIER_HOST_KERNELS
extern const kernel_target avx2_target;
extern const kernel_target avx512_target;
extern const kernel_target avx512_bf16_target;

// Here, because a source that is compiled for a target may use its instructions
// anywhere.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0
      && __builtin_cpu_supports("fma") != 0
      && __builtin_cpu_supports("bmi") != 0
      && __builtin_cpu_supports("bmi2") != 0;
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0
      && __builtin_cpu_supports("avx512bw") != 0
      && __builtin_cpu_supports("avx512dq") != 0
      && __builtin_cpu_supports("avx512vl") != 0
      && __builtin_cpu_supports("avx512cd") != 0;
}

bool has_avx512_bf16() {
  return has_avx512() && __builtin_cpu_supports("avx512bf16") != 0;
}
#endif

namespace {

std::atomic<const kernel_target*> forced{nullptr};

const kernel_target* fastest() {
  static const auto* const found = [] {
    const kernel_target* last = nullptr;
    for (const auto* x : compiled_targets())
      if (x->runs())
        last = x;
    return last;
  }();
  return found;
}

} // namespace

std::span<const kernel_target* const> compiled_targets() {
#ifdef ATELIER_HOST_KERNELS
  static constexpr const kernel_target* all[] = {&avx2_target, &avx512_target,
                                                 &avx512_bf16_target};
  return all;
#else
  return {};
#endif
}

const kernel_target& chosen_target() {
  const auto* const target = forced.load(std::memory_order_relaxed);
  if (target != nullptr)
    return *target;
  ATELIER_EXPECTS(fastest() != nullptr, "this processor runs a target");
  return *fastest();
}

void force_target(const kernel_target* target) {
  ATELIER_EXPECTS(target == nullptr || target->runs(),
                  "this processor has the target's instructions");
  forced.store(target, std::memory_order_relaxed);
}

} // namespace atelier::gpu::host::detail
