// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/kernels/detail/activation_blocks.hpp>
#include <atelier/gpu/kernels/detail/kernel_target.hpp>
#include <atelier/gpu/kernels/host_activation.hpp>

namespace atelier::gpu::host {

int64_t count_activation_tasks(const activation_job& job) {
  return (job.count + detail::block_numbers - 1) / detail::block_numbers;
}

void run_activation(const activation_job& job, int64_t first, int64_t last) {
  detail::chosen_target().run_activation(job, first, last);
}

} // namespace atelier::gpu::host
