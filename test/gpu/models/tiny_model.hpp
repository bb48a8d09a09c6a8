// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/scratch_folder.hpp"
#include <atelier/gpu/models/files/safetensors.hpp>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace atelier::test {

/// Tensors for a test to write. The box owns their numbers, which are drawn.
class tensor_box {
public:
  explicit tensor_box(uint64_t seed = 1) : state_(seed) {}

  tensor_box(tensor_box&&) = default;
  tensor_box& operator=(tensor_box&&) = default;

  /// Adds a tensor of numbers in -1..1.
  void add(const std::string& name, std::vector<int64_t> shape,
           gpu::tensor_type type = gpu::tensor_type::float32);

  /// Adds a tensor of given float32 numbers.
  void add(const std::string& name, std::vector<int64_t> shape,
           const std::vector<float>& values);

  void remove(const std::string& name);

  /// Renames a tensor.
  void rename(const std::string& from, const std::string& to);

  const gpu::tensor_view& operator[](const std::string& name) const;

  std::vector<std::string> names() const;
  std::vector<gpu::named_tensor> list() const;

  void write(
    const std::filesystem::path& file,
    const std::map<std::string, std::string, std::less<>>& metadata = {}) const;

private:
  uint64_t state_;
  std::deque<std::vector<std::byte>> bytes_;
  std::map<std::string, gpu::tensor_view> tensors_;
};

// The configurations of small networks.
std::string tiny_unet_config(const std::string& more = {});
std::string tiny_vae_config(const std::string& more = {});
std::string tiny_text_config();

/// Returns the tensors that a configuration requires.
tensor_box tiny_tensors(const std::string& class_name,
                        const std::string& config, uint64_t seed = 1);

/// A folder in diffusers' layout: stable_diffusion with one text encoder.
class tiny_folder : public scratch_folder {
public:
  tiny_folder();

  void write_at(const std::string& name, const std::string& text) const;
  void write_unet(const tensor_box& x) const;
  void remove(const std::string& name) const;

  tensor_box unet;
  tensor_box vae;
  tensor_box text;
};

std::string tiny_mmdit_config(const std::string& more = {});

/// A folder in diffusers' layout: stable_diffusion_3 with two joint blocks and
/// without T5. Tests change only these parts.
class tiny_joint_folder : public scratch_folder {
public:
  tiny_joint_folder();

  void write_at(const std::string& name, const std::string& text) const;
};

/// Returns the tiny networks as an original checkpoint of SD 1.x.
tensor_box tiny_checkpoint(const tiny_folder& from);

} // namespace atelier::test
