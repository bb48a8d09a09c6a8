// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace atelier::gpu::detail {

/// The tensors of a network, with their shapes.
using expected_tensors =
  std::map<std::string, std::vector<int64_t>, std::less<>>;

/// Collects the tensors of a network, layer by layer. Axis order: slowest
/// first, as PyTorch writes shapes.
struct tensor_table {
  void add(std::string name, std::vector<int64_t> shape) {
    if (!full())
      tensors.emplace(std::move(name), std::move(shape));
  }

  bool full() const {
    return tensors.size() > most;
  }

  /// Adds weight and bias of a normalisation.
  void add_norm(const std::string& name, int64_t width) {
    add(name + ".weight", {width});
    add(name + ".bias", {width});
  }

  void add_linear(const std::string& name, int64_t from, int64_t to) {
    add(name + ".weight", {to, from});
    add(name + ".bias", {to});
  }

  void add_conv(const std::string& name, int64_t from, int64_t to,
                int64_t side) {
    add(name + ".weight", {to, from, side, side});
    add(name + ".bias", {to});
  }

  /// Adds a residual block, without the layer for the timestep.
  void add_resnet(const std::string& name, int64_t from, int64_t to) {
    add_norm(name + ".norm1", from);
    add_conv(name + ".conv1", from, to, 3);
    add_norm(name + ".norm2", to);
    add_conv(name + ".conv2", to, to, 3);
    if (from != to)
      add_conv(name + ".conv_shortcut", from, to, 1);
  }

  /// Limit on the tensors: a configuration may name any numbers, so no more are
  /// added after that.
  size_t most;
  expected_tensors tensors;
};

} // namespace atelier::gpu::detail
