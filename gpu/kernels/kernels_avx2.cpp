// SPDX-License-Identifier: Apache-2.0
#define ATELIER_KERNEL_TARGET avx2

#include <atelier/gpu/kernels/detail/activation_kernel.hpp>
#include <atelier/gpu/kernels/detail/attention_kernel.hpp>
#include <atelier/gpu/kernels/detail/dense_kernel.hpp>
#include <atelier/gpu/kernels/detail/kernel_target.hpp>
#include <atelier/gpu/kernels/detail/norm_kernel.hpp>
#include <atelier/gpu/kernels/detail/pack_kernel.hpp>

namespace atelier::gpu::host::detail {

extern const kernel_target avx2_target;
const kernel_target avx2_target{
  core::instruction_set::avx2, avx2::run_dense,     avx2::pack_dense,
  avx2::run_attention,         avx2::sum_blocks,    avx2::find_factors,
  avx2::apply_factors,         avx2::run_activation};

} // namespace atelier::gpu::host::detail
