// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/files/tensor_source.hpp>

#include <torch/torch.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// The parameters and buffers of a network by name.
using state_dict = std::map<std::string, torch::Tensor, std::less<>>;

/// Return a network's tensors themselves, not copies.
state_dict state_of(const torch::nn::Module& network);

/// A copy of a network's tensors at one time, on the host, as what loads
/// networks takes them.
/// Threads: any; it does not change.
class module_state final : public tensor_source {
public:
  /// Types that tensor_type has no name for throw c10::Error.
  explicit module_state(const state_dict& from);

  std::optional<tensor_view> find(std::string_view name) const override;
  std::vector<std::string> names() const override;
  std::string where() const override;

  /// Return all tensors for write_safetensors, floating ones to be written as
  /// `as` where it is given. Valid as long as this object.
  std::vector<named_tensor> to_write(std::optional<tensor_type> as = {}) const;

private:
  state_dict tensors_;
};

/// Set a network's tensors to those of `from`, of any floating type.
/// Throws model_error (ec::bad_payload) naming a tensor that is missing, extra
/// or of another shape; the network is then unchanged.
void load_state(torch::nn::Module& network, const tensor_source& from);

} // namespace atelier::gpu
