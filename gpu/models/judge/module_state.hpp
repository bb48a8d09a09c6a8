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

/// Returns a network's tensors themselves, not copies.
state_dict state_of(const torch::nn::Module& network);

/// A snapshot of a network's tensors on the host, in the form that loaders of
/// networks read.
/// Threads: any; it does not change.
class module_state final : public tensor_source {
public:
  /// Throws c10::Error for types that tensor_type has no name for.
  explicit module_state(const state_dict& from);

  std::optional<tensor_view> find(std::string_view name) const override;
  std::vector<std::string> names() const override;
  std::string where() const override;

  /// Returns all tensors for write_safetensors; floating-point ones are to be
  /// written as `as`, if given. The result is valid as long as this object.
  std::vector<named_tensor> to_write(std::optional<tensor_type> as = {}) const;

private:
  state_dict tensors_;
};

/// Sets a network's tensors to those of `from`, of any floating-point type.
/// Throws model_error (ec::bad_payload) with the name of a tensor that is
/// missing, extra or of another shape; the network is then unchanged.
void load_state(torch::nn::Module& network, const tensor_source& from);

} // namespace atelier::gpu
