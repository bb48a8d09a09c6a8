// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/files/tensor_source.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace atelier::test {

/// Tensors of small random numbers, in memory.
class made_weights final : public gpu::tensor_source {
public:
  void add(const std::string& name, std::vector<int64_t> shape) {
    size_t count = 1;
    for (const auto n : shape)
      count *= static_cast<size_t>(n);
    std::minstd_rand random{static_cast<unsigned>(tensors_.size() + 1)};
    std::uniform_real_distribution<float> value{-0.2f, 0.2f};
    auto& at = tensors_[name];
    at.shape = std::move(shape);
    at.values.resize(count);
    for (auto& x : at.values)
      x = value(random);
  }

  /// Adds `name`.weight and `name`.bias.
  void add_layer(const std::string& name, std::vector<int64_t> shape) {
    add(name + ".bias", {shape.front()});
    add(name + ".weight", std::move(shape));
  }

  void erase(const std::string& name) {
    tensors_.erase(name);
  }

  void type(const std::string& name, gpu::tensor_type what) {
    tensors_.at(name).type = what;
  }

  std::optional<gpu::tensor_view> find(std::string_view name) const override {
    const auto at = tensors_.find(name);
    if (at == tensors_.end())
      return std::nullopt;
    return gpu::tensor_view{at->second.type, at->second.shape,
                            std::as_bytes(std::span{at->second.values})};
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (const auto& [name, x] : tensors_)
      out.push_back(name);
    return out;
  }

  std::string where() const override {
    return "made.safetensors";
  }

private:
  struct tensor {
    gpu::tensor_type type = gpu::tensor_type::float32;
    std::vector<int64_t> shape;
    std::vector<float> values;
  };

  std::map<std::string, tensor, std::less<>> tensors_;
};

} // namespace atelier::test
