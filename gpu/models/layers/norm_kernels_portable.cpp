// SPDX-License-Identifier: Apache-2.0
#define ATELIER_KERNEL_TARGET portable

#include <atelier/gpu/models/layers/detail/norm_code.hpp>
#include <atelier/gpu/models/layers/detail/norm_loops.hpp>

namespace atelier::gpu::detail {

extern const norm_code portable_norms;
const norm_code portable_norms{core::instruction_set::portable,
                               portable::loops<float>,
                               portable::loops<bfloat16_bits>};

} // namespace atelier::gpu::detail
