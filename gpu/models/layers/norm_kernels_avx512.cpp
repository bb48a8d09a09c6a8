// SPDX-License-Identifier: Apache-2.0
#define ATELIER_KERNEL_TARGET avx512

#include <atelier/gpu/models/layers/detail/norm_code.hpp>
#include <atelier/gpu/models/layers/detail/norm_loops.hpp>

namespace atelier::gpu::detail {

extern const norm_code avx512_norms;
const norm_code avx512_norms{core::instruction_set::avx512,
                             avx512::loops<float>,
                             avx512::loops<bfloat16_bits>};

} // namespace atelier::gpu::detail
