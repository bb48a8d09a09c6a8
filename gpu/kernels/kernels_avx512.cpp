// SPDX-License-Identifier: Apache-2.0
#define ATELIER_KERNEL_TARGET avx512

#include <atelier/gpu/kernels/detail/activation_kernel.hpp>
#include <atelier/gpu/kernels/detail/attention_kernel.hpp>
#include <atelier/gpu/kernels/detail/dense_kernel.hpp>
#include <atelier/gpu/kernels/detail/kernel_target.hpp>
#include <atelier/gpu/kernels/detail/norm_kernel.hpp>
#include <atelier/gpu/kernels/detail/pack_kernel.hpp>

namespace atelier::gpu::host::detail {

extern const kernel_target avx512_target;
const kernel_target avx512_target{
  core::instruction_set::avx512, avx512::run_dense,     avx512::pack_dense,
  avx512::run_attention,         avx512::sum_blocks,    avx512::find_factors,
  avx512::apply_factors,         avx512::run_activation};

} // namespace atelier::gpu::host::detail
