// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/content_digest.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/runtime/kept_scope.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

namespace atelier::runtime {

namespace {

/// Calls `take` with each variant of the devices, in the order of their
/// numbers, its executor, and the place of its model in the settings if its
/// files are read.
core::result<void> for_each_variant(
  const config::settings& x,
  const std::function<core::result<void>(const std::string&, const std::string&,
                                         std::optional<size_t>)>& take) {
  for (const auto& device : x.devices)
    for (const auto& name : device.variants) {
      const auto variant = planning::parse_variant(name);
      if (!variant)
        return variant.why();
      const auto model = std::ranges::find(x.models, variant->model,
                                           &config::model_settings::name);
      std::optional<size_t> place;
      if (device.executor != "test_card" && model != x.models.end())
        place = static_cast<size_t>(model - x.models.begin());
      if (auto ok = take(name, device.executor, place); !ok)
        return ok;
    }
  return {};
}

core::result<std::string> digest_of(const config::model_settings& x) {
  const auto in_model = [&](const core::error& why) {
    return core::fail(why.code, "models: {}: {}", x.name, why.text);
  };
  const auto files = gpu::open_model(x.path, file_options_of(x));
  if (!files)
    return in_model(files.why());
  auto out = gpu::content_digest(*files);
  if (!out)
    return in_model(out.why());
  return out;
}

} // namespace

core::result<std::vector<std::string>> digests_of_models(
  const config::settings& x) {
  std::vector<std::string> out(x.models.size());
  auto ok =
    for_each_variant(x,
                     [&](const auto&, const auto&,
                         std::optional<size_t> place) -> core::result<void> {
                       if (!place || !out[*place].empty())
                         return {};
                       auto made = digest_of(x.models[*place]);
                       if (!made)
                         return made.why();
                       out[*place] = std::move(*made);
                       return {};
                     });
  if (!ok)
    return ok.why();
  return out;
}

std::string kept_scope(const config::settings& x,
                       std::span<const std::string> digests,
                       std::string_view sources) {
  auto about = fmt::format("sources {}\n", sources);
  std::set<std::string> told;
  const auto tell = [&](std::string line) {
    if (const auto [at, is_new] = told.insert(std::move(line)); is_new)
      about += *at;
  };
  // A variant with a name of no sense was refused before.
  static_cast<void>(for_each_variant(
    x,
    [&](const std::string& name, const std::string& executor,
        std::optional<size_t> place) -> core::result<void> {
      tell(fmt::format("variant {} {}\n", name, executor));
      if (place)
        tell(
          fmt::format("model {} {}\n", x.models[*place].name, digests[*place]));
      return {};
    }));
  return core::sha256_hex(about);
}

} // namespace atelier::runtime
