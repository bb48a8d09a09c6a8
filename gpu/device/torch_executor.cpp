// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/gpu/device/detail/device_thread.hpp>
#include <atelier/gpu/device/detail/loading_device.hpp>
#include <atelier/gpu/device/detail/torch_rows.hpp>
#include <atelier/gpu/device/torch_executor.hpp>
#include <atelier/gpu/models/weights.hpp>

#include <torch/torch.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <set>
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
  const int there = static_cast<unsigned char>(torch::cuda::device_count());
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

using titles = std::vector<std::optional<detail::shelf_title>>;

core::result<titles> titles_of(const torch_executor_config& config) {
  titles out(config.known->variants.size());
  for (const auto& name : config.variants) {
    const auto id = planning::find_variant(*config.known, name);
    if (!id)
      return core::fail(core::ec::not_found,
                        "variant '{}' is not in the profile", name);
    const auto& v = config.known->variants[id->value];
    if (config.models.find(v.model) == config.models.end())
      return core::fail(core::ec::not_found,
                        "variant '{}': model '{}' was not found", name,
                        v.model);
    out[id->value] = detail::shelf_title{v.model, v.precision, v.memory_bytes};
  }
  return out;
}

// Returns the first variants that fit together, at least one.
std::vector<core::variant_id> fitting(const std::vector<core::variant_id>& all,
                                      const titles& of, uint64_t most) {
  std::vector<core::variant_id> out;
  std::set<std::pair<std::string, core::dtype>> models;
  uint64_t bytes = 0;
  for (const auto id : all) {
    const auto& x = *of[id.value];
    const bool is_new = models.count({x.model, x.precision}) == 0;
    const uint64_t more = is_new ? x.bytes : 0;
    if (most > 0 && !out.empty() && bytes + more > most)
      continue;
    models.emplace(x.model, x.precision);
    bytes += more;
    out.push_back(id);
  }
  return out;
}

core::result<std::pair<std::shared_ptr<const gpu::model>, uint64_t>> load(
  const std::map<std::string, model_place, std::less<>>& models,
  const detail::shelf_title& what, const torch::Device& on) {
  const auto& place = models.find(what.model)->second;
  const auto files = open_model(place.path, place.options);
  if (!files)
    return files.why();
  auto made = load_model(*files, {on, torch_dtype(what.precision)});
  if (!made)
    return made.why();
  const auto bytes = std::max(what.bytes, (*made)->weight_bytes());
  return std::pair<std::shared_ptr<const gpu::model>, uint64_t>{
    std::move(*made), bytes};
}

} // namespace

core::result<std::shared_ptr<executor>> make_torch_executor(
  const torch_executor_config& config, std::shared_ptr<ipc::slot_store> slots) {
  const auto device = parse_device(config.device);
  if (!device)
    return device.why();
  if (config.threads > 0)
    at::set_num_threads(static_cast<int>(config.threads));
  auto titles = titles_of(config);
  if (!titles)
    return titles.why();
  std::vector<core::variant_id> all;
  for (const auto& name : config.variants)
    all.push_back(*planning::find_variant(*config.known, name));
  const auto first = fitting(all, *titles, config.memory_bytes);
  auto models = std::make_shared<detail::hosted_models>(
    std::move(*titles), config.memory_bytes,
    [models = config.models, on = *device](const detail::shelf_title& x) {
      return load(models, x, on);
    });
  if (auto brought = models->bring(first, {}); !brought)
    return brought.why();
  detail::hosted_judges judges;
  for (const auto& [name, folder] : config.judges) {
    auto judge = image_judge::load(folder, *device);
    if (!judge)
      return judge.why();
    judges.emplace(name, std::move(*judge));
  }
  auto runs = std::make_shared<detail::device_thread>(
    std::make_unique<detail::torch_rows>(models, std::move(judges),
                                         std::move(slots), config.threads));
  detail::loading_device::shelf shelf;
  shelf.has = [models](const auto& variants) { return models->has(variants); };
  shelf.take_out = [models](const auto& variants) {
    return models->take_out(variants);
  };
  shelf.bring = [models, threads = config.threads](const auto& variants,
                                                   const auto& keep) {
    // The setting applies only to the calling thread.
    if (threads > 0)
      at::set_num_threads(static_cast<int>(threads));
    const auto begin = core::time_point::clock::now();
    auto brought = models->bring(variants, keep);
    if (!brought)
      return std::move(brought).why();
    core::log_info("loaded models in {} ms; {} MiB are resident",
                   std::chrono::duration_cast<std::chrono::milliseconds>(
                     core::time_point::clock::now() - begin)
                     .count(),
                   models->bytes() >> 20);
    return core::error{};
  };
  return std::shared_ptr<executor>{std::make_shared<detail::loading_device>(
    std::move(runs), std::move(shelf), first)};
}

} // namespace atelier::gpu
