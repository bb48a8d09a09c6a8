// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/kernels/host_attention.hpp>
#include <atelier/gpu/models/layers/detail/host_side.hpp>
#include <atelier/gpu/models/unet/detail/unet_attention.hpp>

#include <cmath>

namespace atelier::gpu::detail {

namespace {

host::attention_input input_of(const torch::Tensor& x) {
  return {x.const_data_ptr(), x.stride(0), x.stride(1)};
}

// [n, tokens, width] of each -> [n, tokens, width].
torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k,
                     const torch::Tensor& v, int64_t heads) {
  const auto width = q.size(2) / heads;
  const auto type = host_element(q);
  if (!type || width % 2 != 0) {
    const auto split = [heads](const torch::Tensor& x) {
      return x.unflatten(2, {heads, -1}).transpose(1, 2);
    };
    return torch::scaled_dot_product_attention(split(q), split(k), split(v))
      .transpose(1, 2)
      .flatten(2);
  }
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

} // namespace

self_attention::self_attention(weights& from, const std::string& name,
                               int64_t width, int64_t heads)
  : heads_(heads),
    qkv_(linear::joined(from, {name + ".to_q", name + ".to_k", name + ".to_v"},
                        width, width)),
    out_(from, name + ".to_out.0", width, width) {}

torch::Tensor self_attention::add_to(const torch::Tensor& onto,
                                     const torch::Tensor& x) const {
  const auto qkv = qkv_(x).chunk(3, 2);
  return out_.add_to(onto, attend(qkv[0], qkv[1], qkv[2], heads_));
}

cross_attention::cross_attention(weights& from, const std::string& name,
                                 int64_t width, int64_t heads,
                                 int64_t context_width)
  : heads_(heads),
    q_(from, name + ".to_q", width, width, false),
    kv_(linear::joined(from, {name + ".to_k", name + ".to_v"}, context_width,
                       width)),
    out_(from, name + ".to_out.0", width, width) {}

torch::Tensor cross_attention::keys_values(const torch::Tensor& context) const {
  return kv_(context);
}

torch::Tensor cross_attention::add_to(const torch::Tensor& onto,
                                      const torch::Tensor& x,
                                      const torch::Tensor& keys_values) const {
  const auto kv = keys_values.chunk(2, 2);
  return out_.add_to(onto, attend(q_(x), kv[0], kv[1], heads_));
}

} // namespace atelier::gpu::detail
