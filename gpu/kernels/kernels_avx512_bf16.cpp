// SPDX-License-Identifier: Apache-2.0
#define ATELIER_KERNEL_TARGET avx512_bf16

#include <atelier/gpu/kernels/detail/activation_kernel.hpp>
#include <atelier/gpu/kernels/detail/attention_kernel.hpp>
#include <atelier/gpu/kernels/detail/dense_kernel.hpp>
#include <atelier/gpu/kernels/detail/kernel_target.hpp>
#include <atelier/gpu/kernels/detail/norm_kernel.hpp>
#include <atelier/gpu/kernels/detail/pack_kernel.hpp>

namespace atelier::gpu::host::detail {

extern const kernel_target avx512_bf16_target;
const kernel_target avx512_bf16_target{core::instruction_set::avx512_bf16,
                                       avx512_bf16::run_dense,
                                       avx512_bf16::pack_dense,
                                       avx512_bf16::run_attention,
                                       avx512_bf16::sum_blocks,
                                       avx512_bf16::find_factors,
                                       avx512_bf16::apply_factors,
                                       avx512_bf16::run_activation};

} // namespace atelier::gpu::host::detail
