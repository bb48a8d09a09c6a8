// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/attention.hpp>
#include <atelier/gpu/models/unet/detail/unet_attention.hpp>

namespace atelier::gpu::detail {

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
