// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/gpu/captions/caption_words.hpp>
#include <atelier/gpu/models/catalog/expected_tensors.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/output_file.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/files/staging_folder.hpp>
#include <atelier/training/caption.hpp>
#include <atelier/training/export_model.hpp>
#include <atelier/training/family.hpp>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace atelier::gpu {

namespace {

namespace fs = std::filesystem;
using core::ec;
using json = nlohmann::ordered_json;

constexpr auto sums_name = "SHA256SUMS";
// Size limit of one file of a shipped model, far above any actual size.
constexpr uint64_t most_file_bytes = uint64_t{1} << 30;

/// A network and its destination.
struct part {
  std::string name;
  const exported_network* network;
  std::string class_name;
  /// The file name that the library expects.
  std::string file;
};

std::vector<part> parts_of(const model_export& x) {
  constexpr auto* diffusers = "diffusion_pytorch_model.safetensors";
  std::vector<part> out{
    {"unet", &x.unet, "UNet2DConditionModel", diffusers},
    {"vae", &x.vae, "AutoencoderKL", diffusers},
    {"text_encoder", &x.text_encoder, "CLIPTextModel", "model.safetensors"}};
  if (x.preview)
    out.push_back({"vae_preview", &*x.preview, "AutoencoderTiny", diffusers});
  return out;
}

/// Writes one folder and records the checksums of its files.
class writer {
public:
  explicit writer(fs::path folder) : folder_(std::move(folder)) {}

  core::result<void> add_text(const fs::path& name, std::string_view text) {
    auto to = detail::output_file::create(folder_ / name);
    if (!to)
      return to.why();
    if (auto ok = to->write(std::as_bytes(std::span{text})); !ok)
      return ok;
    sums_.emplace_back(name.generic_string(), core::sha256_hex(text));
    return to->finish();
  }

  core::result<void> add_folder(const fs::path& name) {
    std::error_code error;
    fs::create_directory(folder_ / name, error);
    if (error)
      return core::fail(ec::io_failed, "{}: {}", (folder_ / name).string(),
                        error.message());
    return {};
  }

  core::result<void> add_link(const fs::path& name, const fs::path& to) {
    std::error_code error;
    fs::create_directory_symlink(to, folder_ / name, error);
    if (error)
      return core::fail(ec::io_failed, "{}: {}", (folder_ / name).string(),
                        error.message());
    return {};
  }

  core::result<void> add_weights(const fs::path& name,
                                 const tensor_source& from, tensor_type as) {
    std::vector<named_tensor> tensors;
    for (auto& each : from.names()) {
      auto view = *from.find(each);
      const auto type = is_floating(view.type) ? as : view.type;
      tensors.push_back({std::move(each), std::move(view), type});
    }
    // Transformers rejects a file that does not name its framework.
    if (auto ok =
          write_safetensors(folder_ / name, tensors, {{"format", "pt"}});
        !ok)
      return ok;
    const auto bytes = detail::read_text(folder_ / name, most_file_bytes);
    if (!bytes)
      return bytes.why();
    sums_.emplace_back(name.generic_string(), core::sha256_hex(*bytes));
    return {};
  }

  core::result<void> finish() {
    std::ranges::sort(sums_);
    std::string text;
    for (const auto& [name, sum] : sums_)
      text += fmt::format("{}  {}\n", sum, name);
    return add_text(sums_name, text);
  }

private:
  fs::path folder_;
  std::vector<std::pair<std::string, std::string>> sums_;
};

core::result<void> check(const part& x) {
  if (!x.network->weights)
    return x.network->same_as.empty() ? core::fail(
             ec::invalid_argument, "{}: there are no weights", x.name)
                                      : core::result<void>{};
  component network;
  network.config = x.network->config;
  network.config_file = x.name + "/config.json";
  network.class_name = x.class_name;
  network.weights = x.network->weights;
  const auto faults = detail::compare_tensors(network);
  if (!faults)
    return faults.why();
  if (!faults->empty())
    return core::fail(ec::bad_payload, "{}: {}", x.name, faults->front());
  return {};
}

core::result<void> write_part(writer& to, const part& x, tensor_type as) {
  if (!x.network->weights)
    return to.add_link(x.name, x.network->same_as);
  if (auto ok = to.add_folder(x.name); !ok)
    return ok;
  const fs::path folder{x.name};
  if (auto ok = to.add_text(folder / "config.json", x.network->config); !ok)
    return ok;
  return to.add_weights(folder / x.file, *x.network->weights, as);
}

std::string index_text() {
  const auto of = [](const char* library, const char* name) {
    return json::array({library, name});
  };
  const auto none = json::array({nullptr, nullptr});
  const json out = {
    {"_class_name", "StableDiffusionPipeline"},
    {"feature_extractor", none},
    {"image_encoder", none},
    {"requires_safety_checker", false},
    {"safety_checker", none},
    {"scheduler", of("diffusers", "DDIMScheduler")},
    {"text_encoder", of("transformers", "CLIPTextModel")},
    {"tokenizer", of("transformers", "CLIPTokenizer")},
    {"unet", of("diffusers", "UNet2DConditionModel")},
    {"vae", of("diffusers", "AutoencoderKL")},
  };
  return out.dump(2) + "\n";
}

core::result<void> write_all(writer& to, const model_export& what) {
  for (const auto& x : parts_of(what))
    if (auto ok = write_part(to, x, what.as); !ok)
      return ok;
  for (const auto* folder : {"tokenizer", "scheduler"})
    if (auto ok = to.add_folder(folder); !ok)
      return ok;
  std::vector<std::pair<fs::path, std::string>> texts{
    {"scheduler/scheduler_config.json", what.scheduler},
    {"model_index.json", index_text()},
    {"README.md", what.card}};
  for (const auto& [name, text] : what.tokenizer)
    texts.emplace_back(fs::path{"tokenizer"} / name, text);
  if (!what.words.empty())
    texts.emplace_back("known_words.txt", what.words.text());
  if (what.traits != model_traits{})
    texts.emplace_back(traits_file, to_text(what.traits));
  for (const auto& [name, text] : texts)
    if (auto ok = to.add_text(name, text); !ok)
      return ok;
  return to.finish();
}

// Fails if the target exists, unless `replace` is set and the target is not a
// folder, is empty or looks like an export.
core::result<void> check_target(const fs::path& to, tensor_type as,
                                bool replace) {
  std::error_code error;
  if (!is_floating(as))
    return core::fail(ec::invalid_argument, "{} is no floating-point type",
                      to_string(as));
  const auto status = fs::symlink_status(to, error);
  if (to.filename().empty())
    return core::fail(ec::invalid_argument, "'{}' is not the name of a folder",
                      to.string());
  if (!fs::exists(status))
    return {};
  if (!replace)
    return core::fail(ec::invalid_argument, "{} exists already", to.string());
  if (fs::is_directory(status) && !fs::exists(to / sums_name, error)
      && !fs::is_empty(to, error))
    return core::fail(ec::invalid_argument,
                      "{}: not an exported network (it has no {}), so that it "
                      "is not replaced",
                      to.string(), sums_name);
  return {};
}

} // namespace

core::result<void> export_model(const model_export& what, const fs::path& to) {
  if (auto ok = check_target(to, what.as, what.replace); !ok)
    return ok;
  for (const auto& x : parts_of(what))
    if (auto ok = check(x); !ok)
      return ok;
  auto staging = detail::staging_folder::create(to);
  if (!staging)
    return staging.why();
  writer out{staging->path()};
  if (auto ok = write_all(out, what); !ok)
    return ok;
  return staging->publish(what.replace);
}

core::result<void> export_network(const network_export& what,
                                  const fs::path& to) {
  if (auto ok = check_target(to, what.as, what.replace); !ok)
    return ok;
  auto staging = detail::staging_folder::create(to);
  if (!staging)
    return staging.why();
  writer out{staging->path()};
  if (auto ok = out.add_text("config.json", what.config); !ok)
    return ok;
  if (auto ok = out.add_weights("model.safetensors", *what.weights, what.as);
      !ok)
    return ok;
  for (const auto& [name, text] : what.texts)
    if (auto ok = out.add_text(name, text); !ok)
      return ok;
  if (auto ok = out.finish(); !ok)
    return ok;
  return staging->publish(what.replace);
}

model_export family_export(family_member x) {
  model_export out;
  out.scheduler = scheduler_config_text();
  out.tokenizer = tokenizer_texts(caption_vocabulary(), family_tokens);
  out.words = known_words{fmt::format("{}", fmt::join(caption_words(), "\n"))};
  out.traits = family_traits(x);
  return out;
}

core::result<void> check_sums(const fs::path& folder) {
  const auto file = folder / sums_name;
  const auto text = detail::read_text(file, detail::most_config_bytes);
  if (!text)
    return text.why();
  constexpr size_t digits = 64;
  std::string_view left{*text};
  while (!left.empty()) {
    const auto end = std::min(left.find('\n'), left.size());
    const auto line = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    const auto well_formed =
      line.size() > digits + 2 && line.substr(digits, 2) == "  ";
    const fs::path name{well_formed ? line.substr(digits + 2) : ""};
    if (!well_formed || name.is_absolute()
        || std::ranges::find(name, fs::path{".."}) != name.end())
      return core::fail(ec::bad_payload, "{}: '{}' is no sum of a file",
                        file.string(), detail::printable(line));
    const auto bytes = detail::read_text(folder / name, most_file_bytes);
    if (!bytes)
      return bytes.why();
    if (core::sha256_hex(*bytes) != line.substr(0, digits))
      return core::fail(ec::bad_payload, "{}: not the file that was written",
                        (folder / name).string());
  }
  return {};
}

} // namespace atelier::gpu
