// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/detail/document.hpp>
#include <atelier/config/detail/reader.hpp>
#include <atelier/config/detail/rules.hpp>
#include <atelier/config/detail/text.hpp>
#include <atelier/config/load.hpp>
#include <atelier/config/schema.hpp>
#include <atelier/core/input_file.hpp>
#include <atelier/core/utf8.hpp>

#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace atelier::config {

namespace {

/// Turns what `check` found into a fault at the place that set a key of it.
fault located(const detail::finding& found, const detail::reader& from) {
  const auto [at, key] = from.origin_of(found.keys);
  if (!at)
    return {"defaults", 0, key, found.text};
  return {at->source, at->line, key, found.text};
}

/// Checks the whole. Rules about keys that are in fault already are left out:
/// they would judge defaults that the user did not choose.
outcome finish(const detail::reader& from) {
  outcome result{from.values(), from.faults(), from.given()};
  if (from.incomplete())
    return result;
  for (const auto& found : detail::check(from.values(), from.executors())) {
    const auto faulty = [&](auto& key) { return from.is_faulty(key); };
    if (std::none_of(found.keys.begin(), found.keys.end(), faulty))
      result.faults.push_back(located(found, from));
  }
  return result;
}

/// @param folder that of the text's relative paths
/// @param here that of the overrides' relative paths
outcome read(std::string_view toml, std::string_view source_name,
             const std::filesystem::path& folder,
             std::span<const std::string> overrides,
             const std::filesystem::path& here,
             std::span<const std::string> own_executors) {
  detail::reader from{own_executors};
  from.enter(folder);
  from.read_text(toml, source_name);
  from.enter(here);
  for (const auto& assignment : overrides)
    from.read_override(assignment);
  return finish(from);
}

outcome only(fault x) {
  outcome result;
  result.faults.push_back(std::move(x));
  return result;
}

core::error cannot_read(int number) {
  return core::fail(core::ec::io_failed, "cannot be read: {}",
                    std::generic_category().message(number));
}

/// Reads the whole of a regular file. An error's text is without the path.
core::result<std::string> read_file(const std::string& path) {
  const core::opened_file file{path};

  struct stat about {};

  if (file.number < 0 || fstat(file.number, &about) != 0)
    return cannot_read(errno);
  if (!S_ISREG(about.st_mode))
    return core::fail(core::ec::io_failed, "is not a regular file");
  auto content = core::read_bytes(file, detail::most_document_bytes);
  if (content.longer)
    return core::fail(core::ec::io_failed, "holds more than {} bytes",
                      detail::most_document_bytes);
  if (content.fault != 0)
    return cannot_read(content.fault);
  return std::move(content.text);
}

} // namespace

std::string to_string(const fault& x) {
  std::string text = detail::escape(x.source);
  if (x.line > 0)
    text += fmt::format(":{}", x.line);
  if (!x.key.empty())
    text += ": " + x.key;
  return text + ": " + x.text;
}

outcome parse(std::string_view toml, std::string_view source_name,
              std::span<const std::string> overrides,
              std::span<const std::string> own_executors) {
  return read(toml, source_name, {}, overrides, {}, own_executors);
}

std::string text_override(std::string_view key, std::string_view value) {
  // Bytes that are not UTF-8 stay, so that they are refused.
  const auto text = !core::find_utf8_fault(value) ? detail::quote(value)
                                                  : fmt::format("'{}'", value);
  return fmt::format("{} = {}", key, text);
}

outcome load(const std::filesystem::path& path,
             std::span<const std::string> overrides,
             std::span<const std::string> own_executors) {
  std::error_code ignored;
  const auto here = std::filesystem::current_path(ignored);
  if (path.empty())
    return read({}, "defaults", {}, overrides, here, own_executors);
  const auto content = read_file(path.string());
  if (!content)
    return only({path.string(), 0, {}, content.why().text});
  return read(*content, path.string(), (here / path).parent_path(), overrides,
              here, own_executors);
}

std::vector<fault> validate(const settings& x) {
  std::vector<fault> faults;
  for (const auto& found : detail::check(x, executors))
    faults.push_back({"settings", 0, found.keys.front(), found.text});
  return faults;
}

core::error to_error(const std::vector<fault>& faults) {
  core::error what{core::ec::bad_config, {}};
  for (const auto& x : faults)
    what.text += (what.text.empty() ? "" : "\n") + to_string(x);
  return what;
}

} // namespace atelier::config
