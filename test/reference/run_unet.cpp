// SPDX-License-Identifier: Apache-2.0
// run_unet float32|bfloat16 FOLDER...
//
// Each folder holds config.json, weights.safetensors and input.safetensors
// (sample, timestep, context, and what else the config wants). Writes
// output.<type>.safetensors beside them: `sample` in float32, and `alone`, each
// row computed without the others. Prints one line for what is refused.
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/unet/unet.hpp>
#include <atelier/gpu/models/weights.hpp>

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

gpu::unet_input rows(const gpu::unet_input& x, int64_t first, int64_t count) {
  const auto part = [&](const torch::Tensor& of) {
    return of.defined() ? of.narrow(0, first, count) : of;
  };
  return {part(x.sample), part(x.timestep), part(x.context),
          part(x.pooled), part(x.time_ids), part(x.guidance_embedding)};
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
  const gpu::component from{text.str(),
                            (folder / "config.json").string(),
                            "UNet2DConditionModel",
                            *weights,
                            {}};
  const auto net =
    gpu::unet::load(from, {torch::kCPU, type == "bfloat16" ? torch::kBFloat16
                                                           : torch::kFloat32});
  if (!net)
    return net.why();
  const auto& in = **input;
  const gpu::unet_input x{read(in, "sample"),   read(in, "timestep"),
                          read(in, "context"),  read(in, "pooled"),
                          read(in, "time_ids"), read(in, "guidance")};
  const auto whole = (*net)->forward(x).to(torch::kFloat32).contiguous();
  std::vector<torch::Tensor> parts;
  for (int64_t i = 0; i < x.sample.size(0); ++i)
    parts.push_back((*net)->forward(rows(x, i, 1)));
  const auto alone = torch::cat(parts).to(torch::kFloat32).contiguous();
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
