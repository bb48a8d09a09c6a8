// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace atelier::gpu {

namespace {

tensor_type stored_type(torch::Dtype x) {
  for (const auto type :
       {tensor_type::float64, tensor_type::float32, tensor_type::float16,
        tensor_type::bfloat16, tensor_type::int64, tensor_type::int32,
        tensor_type::int16, tensor_type::int8, tensor_type::uint8,
        tensor_type::boolean})
    if (torch_type(type) == x)
      return type;
  TORCH_CHECK(false, "tensors of type ", x, " cannot be stored");
}

tensor_view view_of(const torch::Tensor& x) {
  return {stored_type(x.scalar_type()),
          x.sizes().vec(),
          {static_cast<const std::byte*>(x.const_data_ptr()), x.nbytes()}};
}

[[noreturn]] void refuse(const tensor_source& from, std::string why) {
  throw model_error{{core::ec::bad_payload,
                     fmt::format("{}: {}", from.where(), std::move(why))}};
}

} // namespace

state_dict state_of(const torch::nn::Module& network) {
  state_dict out;
  for (const auto& x : network.named_parameters())
    out.emplace(x.key(), x.value());
  for (const auto& x : network.named_buffers())
    out.emplace(x.key(), x.value());
  return out;
}

module_state::module_state(const state_dict& from) {
  for (const auto& [name, x] : from) {
    stored_type(x.scalar_type());
    tensors_.emplace(
      name,
      x.detach().to(torch::kCPU, x.scalar_type(), false, true).contiguous());
  }
}

std::optional<tensor_view> module_state::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    return std::nullopt;
  return view_of(found->second);
}

std::vector<std::string> module_state::names() const {
  std::vector<std::string> out;
  for (const auto& [name, x] : tensors_)
    out.push_back(name);
  return out;
}

std::string module_state::where() const {
  return "a network in training";
}

std::vector<named_tensor> module_state::to_write(
  std::optional<tensor_type> as) const {
  std::vector<named_tensor> out;
  for (const auto& [name, x] : tensors_)
    out.push_back(
      {name, view_of(x), x.is_floating_point() ? as : std::nullopt});
  return out;
}

void load_state(torch::nn::Module& network, const tensor_source& from) {
  const torch::NoGradGuard guard;
  const auto own = state_of(network);
  for (const auto& name : from.names())
    if (!own.contains(name))
      refuse(from, fmt::format("{} is not a tensor of the network", name));
  std::vector<std::pair<torch::Tensor, torch::Tensor>> values;
  for (const auto& [name, to] : own) {
    const auto found = from.find(name);
    if (!found)
      refuse(from, fmt::format("{} is missing", name));
    if (found->shape != to.sizes().vec() || found->transposed)
      refuse(from, fmt::format("{} has the shape [{}], not [{}]", name,
                               fmt::join(found->shape, ", "),
                               fmt::join(to.sizes(), ", ")));
    auto x = torch::empty(found->shape, torch_type(found->type));
    std::ranges::copy(found->bytes,
                      static_cast<std::byte*>(x.mutable_data_ptr()));
    values.emplace_back(to, std::move(x));
  }
  for (auto& [to, x] : values)
    to.copy_(x);
}

} // namespace atelier::gpu
