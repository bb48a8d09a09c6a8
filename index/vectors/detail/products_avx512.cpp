// SPDX-License-Identifier: Apache-2.0
#define ATELIER_KERNEL_TARGET avx512

#include <atelier/index/vectors/detail/products.hpp>
#include <atelier/index/vectors/detail/products_kernel.hpp>

namespace atelier::index::detail {

extern const products avx512_products;
const products avx512_products{core::instruction_set::avx512, avx512::exact,
                               avx512::of_codes};

} // namespace atelier::index::detail
