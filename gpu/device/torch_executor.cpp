// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/gpu/device/detail/device_thread.hpp>
#include <atelier/gpu/device/detail/loading_device.hpp>
#include <atelier/gpu/device/detail/torch_rows.hpp>
#include <atelier/gpu/device/detail/torch_threads.hpp>
#include <atelier/gpu/device/torch_executor.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/content_digest.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <torch/torch.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
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

using shelf_model = detail::hosted_models::opened_model;

core::result<shelf_model> open(
  const std::map<std::string, model_place, std::less<>>& models,
  const detail::shelf_title& what, const torch::Device& on) {
  const auto& place = models.find(what.model)->second;
  auto files = open_model(place.path, place.options);
  if (!files)
    return files.why();
  if (!place.digest.empty())
    if (auto same = check_content(*files, place.digest); !same)
      return same.why();
  auto facts = facts_of(*files);
  if (!facts)
    return facts.why();
  shelf_model out;
  out.bytes = what.bytes > 0
              ? what.bytes
              : facts->parameters * core::bytes_of(what.precision);
  out.load = [files = std::move(*files), bytes = out.bytes, on,
              as = torch_dtype(what.precision)]()
    -> core::result<std::pair<std::shared_ptr<const gpu::model>, uint64_t>> {
    auto made = load_model(files, {on, as});
    if (!made)
      return made.why();
    const auto held = std::max(bytes, (*made)->weight_bytes());
    return std::pair<std::shared_ptr<const gpu::model>, uint64_t>{
      std::move(*made), held};
  };
  return out;
}

/// The variants loaded at the start, and those that could not be.
struct first_models {
  std::vector<core::variant_id> there;
  std::vector<load_failure> failed;
};

/// Loads the first variants that fit together. Others take the place of those
/// that cannot be loaded.
core::result<first_models> load_first(detail::hosted_models& models,
                                      const titles& of,
                                      std::vector<core::variant_id> left,
                                      uint64_t most) {
  first_models out;
  for (;;) {
    out.there = fitting(left, of, most);
    auto failed = models.bring(out.there, {});
    if (!failed)
      return failed.why();
    if (failed->empty())
      return out;
    for (const auto& x : *failed)
      std::erase(left, x.variant);
    std::move(failed->begin(), failed->end(), std::back_inserter(out.failed));
  }
}

detail::memory_probe probe_of(const torch_executor_config& config) {
  return [most = config.free_bytes](const torch::Device& of) {
    auto free = detail::free_memory(of);
    if (most > 0)
      free = std::min(free.value_or(most), most);
    return free;
  };
}

} // namespace

core::result<std::shared_ptr<executor>> make_torch_executor(
  const torch_executor_config& config, std::shared_ptr<ipc::slot_store> slots) {
  const auto device = parse_device(config.device);
  if (!device)
    return device.why();
  const detail::torch_threads threads{config.threads, config.alone};
  apply(threads);
  auto titles = titles_of(config);
  if (!titles)
    return titles.why();
  std::vector<core::variant_id> all;
  for (const auto& name : config.variants)
    all.push_back(*planning::find_variant(*config.known, name));
  auto models = std::make_shared<detail::hosted_models>(
    *titles, config.memory_bytes,
    [models = config.models, on = *device](const detail::shelf_title& x) {
      return open(models, x, on);
    });
  if (config.bare)
    all.clear();
  auto first = load_first(*models, *titles, all, config.memory_bytes);
  if (!first)
    return first.why();
  detail::hosted_judges judges;
  for (const auto& [name, folder] : config.judges) {
    auto judge = image_judge::load(folder, *device);
    if (!judge)
      return judge.why();
    judges.emplace(name, std::move(*judge));
  }
  auto runs = std::make_shared<detail::device_thread>(
    std::make_unique<detail::torch_rows>(
      models, std::move(judges), std::move(slots), threads, probe_of(config)));
  detail::loading_device::shelf shelf;
  shelf.has = [models](const auto& variants) { return models->has(variants); };
  shelf.take_out = [models](const auto& variants) {
    return models->take_out(variants);
  };
  shelf.bring = [models, threads](const auto& variants, const auto& keep) {
    apply(threads);
    const auto begin = core::time_point::clock::now();
    load_report out;
    auto failed = models->bring(variants, keep);
    if (!failed) {
      out.failure = failed.why();
      return out;
    }
    out.failed = std::move(*failed);
    core::log_info("loaded models in {} ms; {} MiB are resident",
                   std::chrono::duration_cast<std::chrono::milliseconds>(
                     core::time_point::clock::now() - begin)
                     .count(),
                   models->bytes() >> 20);
    return out;
  };
  return std::shared_ptr<executor>{std::make_shared<detail::loading_device>(
    std::move(runs), std::move(shelf), std::move(first->there),
    std::move(first->failed))};
}

} // namespace atelier::gpu
