// SPDX-License-Identifier: Apache-2.0
#define ATELIER_KERNEL_TARGET avx2

#include <atelier/index/vectors/detail/products.hpp>
#include <atelier/index/vectors/detail/products_kernel.hpp>

namespace atelier::index::detail {

extern const products avx2_products;
const products avx2_products{core::instruction_set::avx2, avx2::exact,
                             avx2::of_codes};

} // namespace atelier::index::detail
