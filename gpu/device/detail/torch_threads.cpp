// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/torch_threads.hpp>

#include <ATen/Parallel.h>

#ifdef _OPENMP
#  include <omp.h>
#endif

namespace atelier::gpu::detail {

void apply(const torch_threads& x) {
  if (x.count == 0)
    return;
  const auto count = static_cast<int>(x.count);
#ifdef _OPENMP
  if (!x.alone) {
    // A thread's first use of LibTorch sets the number of the whole process.
    at::get_num_threads();
    omp_set_num_threads(count);
    return;
  }
#endif
  at::set_num_threads(count);
}

} // namespace atelier::gpu::detail
