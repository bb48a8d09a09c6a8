// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/device_thread.hpp>
#include <atelier/gpu/device/detail/torch_rows.hpp>
#include <atelier/gpu/device/torch_executor.hpp>
#include <atelier/gpu/models/weights.hpp>

#include <torch/torch.h>

#include <charconv>
#include <string_view>
#include <utility>

namespace atelier::gpu {

namespace {

core::result<torch::Device> parse_device(std::string_view name) {
  const auto colon = name.find(':');
  const auto kind = name.substr(0, colon);
  int index = 0;
  const auto number = colon == std::string_view::npos ? std::string_view{}
                                                      : name.substr(colon + 1);
  const auto parsed =
    std::from_chars(number.data(), number.data() + number.size(), index);
  if (parsed.ec != std::errc{} || parsed.ptr != number.data() + number.size()
      || (kind != "cpu" && kind != "cuda"))
    return core::fail(core::ec::bad_config,
                      "device '{}' is neither cpu:N nor cuda:N", name);
  if (kind == "cpu")
    return torch::Device{torch::kCPU};
  const auto there = static_cast<int>(torch::cuda::device_count());
  if (index >= there)
    return core::fail(core::ec::not_found,
                      "device '{}': LibTorch finds {} CUDA devices", name,
                      there);
  return torch::Device{torch::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

torch::Dtype torch_dtype(core::dtype x) {
  switch (x) {
    case core::dtype::float32:
      return torch::kFloat32;
    case core::dtype::float16:
      return torch::kFloat16;
    case core::dtype::bfloat16:
      return torch::kBFloat16;
  }
  return torch::kFloat32;
}

} // namespace

core::result<std::shared_ptr<executor>> make_torch_executor(
  const torch_executor_config& config, std::shared_ptr<ipc::slot_store> slots) {
  const auto device = parse_device(config.device);
  if (!device)
    return device.why();
  if (config.threads > 0)
    at::set_num_threads(static_cast<int>(config.threads));
  using key = std::pair<std::string, core::dtype>;
  std::map<key, std::shared_ptr<const diffusion_model>> loaded;
  detail::hosted_models hosted(config.known->variants.size());
  for (const auto& name : config.variants) {
    const auto id = planning::find_variant(*config.known, name);
    if (!id)
      return core::fail(core::ec::not_found,
                        "variant '{}' is not in the "
                        "profile",
                        name);
    const auto& v = config.known->variants[id->value];
    auto& model = loaded[{v.model, v.precision}];
    if (!model) {
      const auto place = config.models.find(v.model);
      if (place == config.models.end())
        return core::fail(core::ec::not_found,
                          "variant '{}': there is no model '{}'", name,
                          v.model);
      const auto files = open_model(place->second.path, place->second.options);
      if (!files)
        return files.why();
      auto made =
        diffusion_model::load(*files, {*device, torch_dtype(v.precision)});
      if (!made)
        return made.why();
      model = std::move(*made);
    }
    hosted[id->value] = model;
  }
  detail::hosted_judges judges;
  for (const auto& [name, folder] : config.judges) {
    auto judge = picture_judge::load(folder, *device);
    if (!judge)
      return judge.why();
    judges.emplace(name, std::move(*judge));
  }
  return std::shared_ptr<executor>{std::make_shared<detail::device_thread>(
    std::make_unique<detail::torch_rows>(std::move(hosted), std::move(judges),
                                         std::move(slots), config.threads))};
}

} // namespace atelier::gpu
