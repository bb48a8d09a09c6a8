// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/kernels/detail/kernel_target.hpp>
#include <atelier/gpu/kernels/detail/norm_blocks.hpp>
#include <atelier/gpu/kernels/host_norm.hpp>

namespace atelier::gpu::host {

namespace detail {

int64_t count_channels(const group_norm_job& job) {
  return job.part_channels[0] + job.part_channels[1];
}

int64_t count_blocks(const group_norm_job& job) {
  return (job.pixels + block_pixels - 1) / block_pixels;
}

} // namespace detail

int64_t count_norm_sums(const group_norm_job& job) {
  // Two sums and the number around which they are taken.
  return count_norm_tasks(job) * 3 * detail::count_channels(job);
}

int64_t count_norm_factors(const group_norm_job& job) {
  return job.rows * 2 * detail::count_channels(job);
}

int64_t count_norm_tasks(const group_norm_job& job) {
  return job.rows * detail::count_blocks(job);
}

void sum_blocks(const group_norm_job& job, int64_t first, int64_t last) {
  detail::chosen_target().sum_blocks(job, first, last);
}

void find_factors(const group_norm_job& job, int64_t first, int64_t last) {
  detail::chosen_target().find_factors(job, first, last);
}

void apply_factors(const group_norm_job& job, int64_t first, int64_t last) {
  detail::chosen_target().apply_factors(job, first, last);
}

} // namespace atelier::gpu::host
