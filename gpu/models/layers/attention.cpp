// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/kernels/host_attention.hpp>
#include <atelier/gpu/models/layers/attention.hpp>
#include <atelier/gpu/models/layers/detail/host_side.hpp>

#include <cmath>
#include <vector>

namespace atelier::gpu::detail {

namespace {

host::attention_input input_of(const torch::Tensor& x) {
  return {x.const_data_ptr(), x.stride(0), x.stride(1)};
}

torch::Tensor attend_by_library(const torch::Tensor& q, const torch::Tensor& k,
                                const torch::Tensor& v, int64_t heads) {
  const auto split = [heads](const torch::Tensor& x) {
    return x.unflatten(2, {heads, -1}).transpose(1, 2);
  };
  return torch::scaled_dot_product_attention(split(q), split(k), split(v))
    .transpose(1, 2)
    .flatten(2);
}

// Attends one row after another, as LibTorch's sums may depend on their number.
torch::Tensor attend_by_row(const torch::Tensor& q, const torch::Tensor& k,
                            const torch::Tensor& v, int64_t heads) {
  std::vector<torch::Tensor> rows;
  for (int64_t i = 0; i < q.size(0); ++i)
    rows.push_back(attend_by_library(q.narrow(0, i, 1), k.narrow(0, i, 1),
                                     v.narrow(0, i, 1), heads));
  return torch::cat(rows);
}

} // namespace

torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k,
                     const torch::Tensor& v, int64_t heads) {
  TORCH_CHECK(heads > 0 && q.dim() == 3 && q.size(2) % heads == 0, "queries ",
              q.sizes(), " cannot be split into ", heads, " heads");
  const auto width = q.size(2) / heads;
  const auto type = host_element(q);
  if (!type)
    return attend_by_library(q, k, v, heads);
  // The host's kernels multiply pairs of numbers.
  if (width % 2 != 0)
    return attend_by_row(q, k, v, heads);
  for (const auto& x : {k, v})
    TORCH_CHECK(x.dim() == 3 && x.size(0) == q.size(0) && x.size(1) == k.size(1)
                  && x.size(2) == q.size(2)
                  && x.scalar_type() == q.scalar_type(),
                "queries ", q.sizes(), " cannot attend to ", x.sizes());
  for (const auto& x : {q, k, v})
    TORCH_CHECK(x.stride(2) == 1, "tokens with gaps: strides ", x.strides());
  auto out = torch::empty(q.sizes(), q.options());
  host::attention_job job;
  job.type = *type;
  job.queries = input_of(q);
  job.keys = input_of(k);
  job.values = input_of(v);
  job.rows = q.size(0);
  job.heads = heads;
  job.head_width = width;
  job.query_tokens = q.size(1);
  job.key_tokens = k.size(1);
  job.scale = 1 / std::sqrt(static_cast<float>(width));
  job.out = out.mutable_data_ptr();
  job.out_row_stride = out.stride(0);
  job.out_token_stride = out.stride(1);
  spread(count_attention_tasks(job), [&job](int64_t first, int64_t last) {
    run_attention(job, first, last);
  });
  return out;
}

} // namespace atelier::gpu::detail
