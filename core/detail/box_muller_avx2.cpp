// SPDX-License-Identifier: Apache-2.0
#define ATELIER_KERNEL_TARGET avx2

#include <atelier/core/detail/box_muller_code.hpp>
#include <atelier/core/detail/box_muller_kernel.hpp>

namespace atelier::core::detail {

extern const box_muller_code avx2_box_muller;
const box_muller_code avx2_box_muller{instruction_set::avx2, avx2::transform};

} // namespace atelier::core::detail
