// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/detail/weight_files.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/files/tensor_collection.hpp>

#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <set>

namespace atelier::gpu::detail {

namespace {

namespace fs = std::filesystem;
using core::ec;

constexpr std::string_view suffix = ".safetensors";

bool is_there(const fs::path& x) {
  std::error_code ignored;
  return fs::exists(x, ignored);
}

/// Returns whether `name` is a plain file name, which cannot lead out of the
/// folder.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".."
      && name.find('/') == std::string::npos
      && name.find('\0') == std::string::npos;
}

core::result<opened_weights> open_one(const fs::path& file) {
  auto opened = safetensors_file::open(file);
  if (!opened)
    return opened.why();
  return opened_weights{*opened, {file}};
}

/// Reads the map from tensors to files in an index.
core::result<std::map<std::string, std::string>> read_weight_map(
  const fs::path& index) {
  const auto object = read_object(index, most_index_bytes);
  if (!object)
    return object.why();
  const auto map = object->find("weight_map");
  if (map == object->end() || !map->is_object() || map->empty())
    return core::fail(ec::bad_payload, "{}: weight_map is missing or empty",
                      index.string());
  std::map<std::string, std::string> out;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string() || !is_plain_name(file.get_ref<const std::string&>()))
      return core::fail(ec::bad_payload,
                        "{}: weight_map.{}: {} is not the name of a file in "
                        "the same folder",
                        index.string(), printable(name),
                        printable(file.is_string()
                                    ? file.get_ref<const std::string&>()
                                    : file.type_name()));
    out.emplace(name, file.get<std::string>());
  }
  return out;
}

core::result<opened_weights> open_parts_of(const fs::path& index) {
  const auto map = read_weight_map(index);
  if (!map)
    return map.why();
  std::set<std::string> names;
  for (const auto& [tensor, file] : *map)
    names.insert(file);
  auto all = std::make_shared<tensor_collection>(index.string());
  opened_weights out{all, {}};
  for (const auto& name : names) {
    const auto path = index.parent_path() / name;
    const auto part = safetensors_file::open(path);
    if (!part)
      return part.why();
    out.files.push_back(path);
    all->keep(*part);
    for (auto& tensor : (*part)->names()) {
      const auto i = map->find(tensor);
      if (i == map->end())
        return core::fail(ec::bad_payload,
                          "{}: tensor {} is not in the index {}", path.string(),
                          printable(tensor), index.string());
      if (i->second != name)
        return core::fail(ec::bad_payload,
                          "{}: it has tensor {}, but the index {} names {} "
                          "for that tensor",
                          path.string(), printable(tensor), index.string(),
                          printable(i->second));
      all->add(tensor, *(*part)->find(tensor));
    }
  }
  for (const auto& [tensor, file] : *map)
    if (!all->find(tensor))
      return core::fail(ec::bad_payload,
                        "{}: weight_map.{}: {} has no such "
                        "tensor",
                        index.string(), printable(tensor), printable(file));
  return out;
}

std::string_view stem_of(weight_naming naming) {
  return naming == weight_naming::diffusers ? "diffusion_pytorch_model"
                                            : "model";
}

/// Returns the file to open for a variant: weights or an index.
std::optional<fs::path> find_variant(const fs::path& folder,
                                     weight_naming naming,
                                     std::string_view variant) {
  const auto stem = stem_of(naming);
  std::vector<std::string> single;
  std::vector<std::string> index;
  if (variant.empty()) {
    single = {fmt::format("{}{}", stem, suffix)};
    index = {fmt::format("{}{}.index.json", stem, suffix)};
  } else {
    single = {fmt::format("{}.{}{}", stem, variant, suffix)};
    index = {fmt::format("{}{}.index.{}.json", stem, suffix, variant),
             fmt::format("{}{}.{}.index.json", stem, suffix, variant),
             fmt::format("{}.{}{}.index.json", stem, variant, suffix)};
  }
  auto& first = naming == weight_naming::diffusers ? index : single;
  auto& second = naming == weight_naming::diffusers ? single : index;
  first.insert(first.end(), second.begin(), second.end());
  for (const auto& name : first)
    if (is_there(folder / name))
      return folder / name;
  return std::nullopt;
}

/// Other contents of a folder without the expected weights.
struct folder_contents {
  std::set<std::string> variants;
  std::string pickled;
  std::string other;
};

folder_contents look_into(const fs::path& folder, weight_naming naming) {
  folder_contents out;
  const auto start = fmt::format("{}.", stem_of(naming));
  const auto index_start = fmt::format("{}safetensors.index.", start);
  std::error_code error;
  for (fs::directory_iterator i{folder, error}, end; !error && i != end;
       i.increment(error)) {
    const auto name = i->path().filename().string();
    const auto extension = i->path().extension();
    if (extension == ".bin" || extension == ".ckpt" || extension == ".pt"
        || extension == ".pth")
      out.pickled = std::max(out.pickled, name);
    // The form is stem.safetensors.index.VARIANT.json.
    if (name.starts_with(index_start) && name.ends_with(".json")
        && name.size() > index_start.size() + 5)
      out.variants.insert(
        name.substr(index_start.size(), name.size() - index_start.size() - 5));
    if (!name.ends_with(suffix))
      continue;
    out.other = std::max(out.other, name);
    // The form is stem.VARIANT.safetensors.
    if (name.starts_with(start) && name.size() > start.size() + suffix.size())
      out.variants.insert(
        name.substr(start.size(), name.size() - start.size() - suffix.size()));
  }
  // Parts are named stem.VARIANT-00001-of-00002.safetensors.
  std::erase_if(out.variants, [](const std::string& x) {
    return x.find('-') != std::string::npos;
  });
  return out;
}

} // namespace

core::result<opened_weights> open_weights(const fs::path& folder,
                                          weight_naming naming,
                                          std::string_view variant) {
  auto found = find_variant(folder, naming, variant);
  if (!found && !variant.empty())
    found = find_variant(folder, naming, {});
  if (!found) {
    const auto contents = look_into(folder, naming);
    if (contents.variants.size() > 1)
      return core::fail(ec::not_found,
                        "{}: only variants of the weights were found ({}): "
                        "name one",
                        folder.string(), fmt::join(contents.variants, ", "));
    if (contents.variants.size() == 1)
      found = find_variant(folder, naming, *contents.variants.begin());
    else if (!contents.other.empty())
      return core::fail(ec::not_found, "{}: {}{} was not found, only {}",
                        folder.string(), stem_of(naming), suffix,
                        printable(contents.other));
    else if (!contents.pickled.empty())
      return core::fail(ec::bad_payload,
                        "{}: the weights are only a PyTorch file ({}), which "
                        "can run code when it is read: convert them to "
                        ".safetensors",
                        folder.string(), printable(contents.pickled));
    else
      return core::fail(ec::not_found, "{}: {}{} was not found",
                        folder.string(), stem_of(naming), suffix);
  }
  return found->extension() == ".json" ? open_parts_of(*found)
                                       : open_one(*found);
}

} // namespace atelier::gpu::detail
