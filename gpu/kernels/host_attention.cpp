// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/kernels/detail/attention_blocks.hpp>
#include <atelier/gpu/kernels/detail/kernel_target.hpp>
#include <atelier/gpu/kernels/host_attention.hpp>

namespace atelier::gpu::host {

int64_t detail::count_query_blocks(const attention_job& job) {
  return (job.query_tokens + block_queries - 1) / block_queries;
}

int64_t count_attention_tasks(const attention_job& job) {
  return detail::count_query_blocks(job) * job.heads * job.rows;
}

void run_attention(const attention_job& job, int64_t first, int64_t last) {
  detail::chosen_target().run_attention(job, first, last);
}

} // namespace atelier::gpu::host
