// SPDX-License-Identifier: Apache-2.0
// run_denoiser float32|bfloat16 FOLDER...
//
// Each folder holds config.json, weights.safetensors and input.safetensors
// (sample, timestep, context, and other inputs of the configuration). Writes
// output.<type>.safetensors beside them: `sample` in float32, and `alone`, each
// row computed without the others. Prints one line for each refused folder.
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/models/mmdit/mmdit.hpp>
#include <atelier/gpu/models/unet/unet.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace gpu = atelier::gpu;
using atelier::core::result;

namespace {

torch::Tensor read(const gpu::safetensors_file& from, const char* name) {
  const auto found = from.find(name);
  if (!found)
    return {};
  return torch::from_blob(
           const_cast<std::byte*>(found->bytes.data()), found->shape,
           torch::TensorOptions().dtype(gpu::torch_type(found->type)))
    .clone();
}

gpu::pass_inputs rows(const gpu::pass_inputs& x, int64_t first, int64_t count) {
  const auto part = [&](const torch::Tensor& of) {
    return of.defined() ? of.narrow(0, first, count) : of;
  };
  gpu::pass_inputs out{part(x.sample), part(x.timestep), {}};
  for (const auto& of : x.conditions)
    out.conditions.push_back(part(of));
  return out;
}

/// A network, and the tensors of an input that it uses.
struct network {
  std::unique_ptr<gpu::denoiser> net;
  std::vector<const char*> conditions;
};

template <class Net>
result<network> load(const gpu::component& from, const std::string& type,
                     std::vector<const char*> conditions) {
  auto net =
    Net::load(from, {torch::kCPU,
                     type == "bfloat16" ? torch::kBFloat16 : torch::kFloat32});
  if (!net)
    return net.why();
  return network{std::move(*net), std::move(conditions)};
}

result<network> load(const gpu::component& from, const std::string& type) {
  if (from.config.find("SD3Transformer2DModel") != std::string::npos)
    return load<gpu::mmdit>(from, type, {"context", "pooled"});
  return load<gpu::unet>(from, type,
                         {"context", "pooled", "time_ids", "guidance"});
}

gpu::named_tensor named(const char* name, const torch::Tensor& x) {
  return {
    name,
    {.type = gpu::tensor_type::float32,
     .shape = x.sizes().vec(),
     .bytes = {static_cast<const std::byte*>(x.const_data_ptr()), x.nbytes()}}};
}

result<void> run(const std::filesystem::path& folder, const std::string& type) {
  std::ifstream file{folder / "config.json"};
  std::ostringstream text;
  text << file.rdbuf();
  auto weights = gpu::safetensors_file::open(folder / "weights.safetensors");
  if (!weights)
    return weights.why();
  auto input = gpu::safetensors_file::open(folder / "input.safetensors");
  if (!input)
    return input.why();
  const gpu::component from{
    text.str(), (folder / "config.json").string(), {}, *weights, {}};
  const auto made = load(from, type);
  if (!made)
    return made.why();
  const auto& in = **input;
  gpu::pass_inputs x{read(in, "sample"), read(in, "timestep"), {}};
  for (const auto* name : made->conditions)
    x.conditions.push_back(read(in, name));
  const auto run_rows = [&](const gpu::pass_inputs& of) {
    return gpu::predict(*made->net, of).to(torch::kFloat32).contiguous();
  };
  const auto whole = run_rows(x);
  std::vector<torch::Tensor> parts;
  for (int64_t i = 0; i < x.sample.size(0); ++i)
    parts.push_back(run_rows(rows(x, i, 1)));
  const auto alone = torch::cat(parts);
  return gpu::write_safetensors(
    folder / fmt::format("output.{}.safetensors", type),
    {named("sample", whole), named("alone", alone)});
}

} // namespace

int main(int argc, char** argv) {
  for (int i = 2; i < argc; ++i)
    if (const auto done = run(argv[i], argv[1]); !done)
      fmt::print("{}: {}\n", argv[i], to_string(done.why()));
  return 0;
}
