// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/shipped_family.hpp>
#include <atelier/core/utf8.hpp>
#include <atelier/runtime/cli/model_store.hpp>
#include <atelier/runtime/cli/nearest.hpp>
#include <atelier/runtime/cli/parse.hpp>

#include <algorithm>
#include <system_error>

namespace atelier::runtime::cli {

namespace fs = std::filesystem;
using core::ec;
using core::fail;

namespace {

constexpr std::string_view suffix = ".safetensors";

bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name.front() != '.'
      && name.find('/') == std::string_view::npos
      && name.find('\0') == std::string_view::npos;
}

} // namespace

std::vector<stored_model> model_store::shipped() const {
  std::vector<stored_model> out;
  if (family_.empty())
    return out;
  std::error_code ignored;
  for (const auto& x : config::shipped_family)
    if (const auto path = family_ / x.name;
        fs::exists(path / "model_index.json", ignored))
      out.push_back({std::string{x.name}, path, true});
  return out;
}

bool model_store::is_shipped(std::string_view name) const {
  const auto own = shipped();
  return std::any_of(own.begin(), own.end(),
                     [&](const auto& x) { return x.name == name; });
}

core::result<std::vector<stored_model>> model_store::list() const {
  auto out = shipped();
  const auto own = static_cast<std::ptrdiff_t>(out.size());
  std::error_code error;
  if (!fs::exists(folder_, error))
    return out;
  for (fs::directory_iterator i{folder_, error}, end; !error && i != end;
       i.increment(error)) {
    auto name = i->path().filename().string();
    // A name with a dot is an import that is under way, or was cut off.
    if (name.starts_with('.'))
      continue;
    std::error_code ignored;
    if (i->is_directory(ignored)
        || (i->is_regular_file(ignored) && name.ends_with(suffix)))
      out.push_back({std::move(name), i->path()});
  }
  if (error)
    return fail(ec::io_failed, "{}: {}", folder_.string(), error.message());
  std::sort(out.begin() + own, out.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

core::result<stored_model> model_store::find(const std::string& word) const {
  std::error_code error;
  if (fs::exists(word, error))
    return stored_model{name_from(word), word};
  for (const auto& own : shipped())
    if (own.name == word)
      return own;
  if (is_file_name(word))
    for (const auto& name : {word, word + std::string{suffix}})
      if (fs::exists(folder_ / name, error))
        return stored_model{name, folder_ / name};
  std::vector<std::string> known;
  if (const auto all = list())
    for (const auto& x : *all)
      known.push_back(x.name);
  const auto close = nearest(word, known);
  return fail(ec::not_found,
              "model {} was not found, neither in {} nor as a "
              "path{}",
              show_value(word), folder_.string(),
              close.empty() ? "" : "; the nearest is " + show_value(close));
}

core::result<fs::path> model_store::place(const std::string& name) const {
  if (is_file_name(name) && !core::find_utf8_fault(name)
      && !name.ends_with(suffix))
    return folder_ / name;
  return fail(ec::invalid_argument,
              "--name: {} is not a name: UTF-8 of 1..255 bytes without '/', no "
              "'.' first, no '{}' last",
              show_value(name), suffix);
}

std::string name_from(const fs::path& path) {
  std::error_code error;
  const auto whole = fs::absolute(path, error).lexically_normal();
  auto name = whole.filename().string();
  if (name.empty())
    name = whole.parent_path().filename().string();
  if (name.ends_with(suffix))
    name.resize(name.size() - suffix.size());
  return name;
}

uint64_t bytes_on_disk(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto bytes = fs::file_size(path, error);
    return error ? 0 : bytes;
  }
  uint64_t out = 0;
  for (fs::recursive_directory_iterator i{path, error}, end; !error && i != end;
       i.increment(error)) {
    std::error_code ignored;
    if (i->is_regular_file(ignored))
      if (const auto bytes = i->file_size(ignored); !ignored)
        out += bytes;
  }
  return out;
}

} // namespace atelier::runtime::cli
