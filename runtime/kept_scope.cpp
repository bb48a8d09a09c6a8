// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/core/version.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/runtime/kept_scope.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <vector>

namespace atelier::runtime {

namespace {

namespace fs = std::filesystem;

/// Adds the facts that distinguish a file from another one of its path.
core::result<void> add_file(const fs::path& file, std::string& to) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  if (error)
    return core::fail(core::ec::io_failed, "{}: {}", file.string(),
                      error.message());
  const auto changed = fs::last_write_time(file, error);
  if (error)
    return core::fail(core::ec::io_failed, "{}: {}", file.string(),
                      error.message());
  fmt::format_to(std::back_inserter(to), "file {} {} {}\n",
                 file.filename().string(), size,
                 changed.time_since_epoch().count());
  return {};
}

core::result<void> add_model(const config::model_settings& x, std::string& to) {
  const auto model = gpu::open_model(x.path, file_options_of(x));
  if (!model)
    return core::fail(model.why().code, "models: {}: {}", x.name,
                      model.why().text);
  to += model->scheduler;
  to += '\n';
  std::vector<const gpu::component*> parts{&model->denoiser, &model->vae};
  for (const auto* part : {&model->text_encoder, &model->text_encoder_2})
    if (*part)
      parts.push_back(&**part);
  for (const auto* part : parts) {
    to += part->config;
    to += '\n';
    for (const auto& file : part->files)
      if (auto ok = add_file(file, to); !ok)
        return ok;
  }
  for (const auto* words : {&model->tokenizer, &model->tokenizer_2})
    if (*words)
      if (auto ok = add_file((*words)->words(), to); !ok)
        return ok;
  return {};
}

} // namespace

core::result<std::string> kept_scope(const config::settings& x) {
  auto about = fmt::format("atelier {}\n", core::version());
  std::set<std::string> told;
  const auto tell = [&](std::string line) {
    const auto [at, is_new] = told.insert(std::move(line));
    if (is_new)
      about += *at;
    return is_new;
  };
  // In the order of their numbers.
  for (const auto& device : x.devices)
    for (const auto& name : device.variants) {
      const auto variant = planning::parse_variant(name);
      if (!variant)
        return variant.why();
      tell(fmt::format("variant {} {}\n", name, device.executor));
      const auto model =
        std::find_if(x.models.begin(), x.models.end(),
                     [&](const auto& m) { return m.name == variant->model; });
      if (device.executor == "test_card" || model == x.models.end()
          || !tell(fmt::format("model {}\n", model->name)))
        continue;
      if (auto ok = add_model(*model, about); !ok)
        return ok.why();
    }
  return core::sha256_hex(about);
}

} // namespace atelier::runtime
