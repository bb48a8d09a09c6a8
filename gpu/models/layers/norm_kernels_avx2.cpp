// SPDX-License-Identifier: Apache-2.0
#define ATELIER_KERNEL_TARGET avx2

#include <atelier/gpu/models/layers/detail/norm_code.hpp>
#include <atelier/gpu/models/layers/detail/norm_loops.hpp>

namespace atelier::gpu::detail {

extern const norm_code avx2_norms;
const norm_code avx2_norms{core::instruction_set::avx2, avx2::loops<float>,
                           avx2::loops<bfloat16_bits>};

} // namespace atelier::gpu::detail
