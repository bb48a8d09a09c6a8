// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for kernels_*.cpp: see vectors.hpp.

#include <atelier/gpu/kernels/detail/activation_blocks.hpp>
#include <atelier/gpu/kernels/detail/functions.hpp>
#include <atelier/gpu/kernels/detail/vectors.hpp>
#include <atelier/gpu/kernels/host_activation.hpp>

namespace atelier::gpu::host::ATELIER_KERNEL_TARGET {

template <class Element, class Function>
void apply_to(const activation_job& job, int64_t first, int64_t last,
              Function function) {
  const auto* const in = static_cast<const Element*>(job.in);
  auto* const out = static_cast<Element*>(job.out);
  auto i = first * detail::block_numbers;
  const auto blocks_end = last * detail::block_numbers;
  const auto end = blocks_end < job.count ? blocks_end : job.count;
  for (; i + lanes <= end; i += lanes)
    store(out + i, function(load(in + i)));
  if (i < end) {
    const first_lanes some{end - i};
    store(out + i, some, function(load(in + i, some)));
  }
}

template <class Element>
void apply_activation(const activation_job& job, int64_t first, int64_t last) {
  if (job.function == activation::silu)
    apply_to<Element>(job, first, last, [](floats x) { return silu_of(x); });
  else
    apply_to<Element>(job, first, last,
                      [](floats x) { return gelu_tanh_of(x); });
}

inline void run_activation(const activation_job& job, int64_t first,
                           int64_t last) {
  if (job.type == element::float32)
    apply_activation<float>(job, first, last);
  else
    apply_activation<bfloat16>(job, first, last);
}

} // namespace atelier::gpu::host::ATELIER_KERNEL_TARGET
