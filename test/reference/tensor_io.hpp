// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <torch/torch.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace atelier::reference {

/// Returns the value, or ends the program with the error's text.
template <class T>
T value_of(core::result<T> x) {
  if (!x) {
    std::cerr << core::to_string(x.why()) << "\n";
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>)
    return std::move(*x);
}

/// Opens a folder with config.json and one file of weights.
inline gpu::component open_network(const std::filesystem::path& folder,
                                   std::string class_name) {
  gpu::component out;
  const auto file = folder / "config.json";
  std::ifstream in{file};
  out.config.assign(std::istreambuf_iterator<char>{in}, {});
  out.config_file = file.string();
  out.class_name = std::move(class_name);
  for (const auto* name :
       {"model.safetensors", "diffusion_pytorch_model.safetensors"})
    if (std::filesystem::exists(folder / name))
      out.weights = value_of(gpu::safetensors_file::open(folder / name));
  return out;
}

/// Returns a copy of a tensor of the file.
inline torch::Tensor read_tensor(const gpu::safetensors_file& file,
                                 std::string_view name) {
  const auto x = file.find(name);
  if (!x) {
    std::cerr << file.where() << " has no tensor " << name << "\n";
    std::exit(1);
  }
  return torch::from_blob(const_cast<std::byte*>(x->bytes.data()), x->shape,
                          torch::TensorOptions(gpu::torch_type(x->type)))
    .clone();
}

/// Writes tensors as float32.
inline void write_tensors(
  const std::filesystem::path& file,
  std::vector<std::pair<std::string, torch::Tensor>> tensors) {
  std::vector<gpu::named_tensor> out;
  for (auto& [name, x] : tensors) {
    x = x.to(torch::kFloat32).contiguous();
    out.push_back(
      {name,
       {gpu::tensor_type::float32,
        x.sizes().vec(),
        {static_cast<const std::byte*>(x.const_data_ptr()), x.nbytes()}}});
  }
  value_of(gpu::write_safetensors(file, out));
}

/// Returns the type for a name such as "bfloat16".
inline torch::Dtype type_of(std::string_view name) {
  if (name == "bfloat16")
    return torch::kBFloat16;
  return name == "float16" ? torch::kFloat16 : torch::kFloat32;
}

} // namespace atelier::reference
