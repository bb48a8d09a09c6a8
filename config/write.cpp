// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/load.hpp>
#include <atelier/config/schema.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace atelier::config {

namespace {

/// Whether a file contains explanations.
enum class comments : uint8_t { none, all };

/// Returns `text` as comment lines within 80 columns.
std::string commented(std::string_view text) {
  constexpr size_t columns = 80;
  std::string lines;
  std::string line = "#";
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (line.size() + 1 + end > columns) {
      lines += line + "\n";
      line = "#";
    }
    line += fmt::format(" {}", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + line + "\n";
}

std::string explained(const option& x) {
  auto demand = demand_of(x);
  demand[0] = static_cast<char>(std::toupper(demand[0]));
  return commented(x.doc) + commented(demand + ".");
}

std::string write_table(const section& table, const settings& values,
                        size_t index, comments with) {
  const bool repeated = repetition_of(table.name) != nullptr;
  auto text = repeated ? fmt::format("[[{}]]\n", table.name)
                       : fmt::format("[{}]\n", table.name);
  for (const auto& x : options()) {
    if (x.section != table.name)
      continue;
    if (with == comments::all)
      text += explained(x);
    text += fmt::format("{} = {}\n", x.name,
                        value_text(x, look_at(x, values, index)));
  }
  return text;
}

/// Writes a section without a table as comments, with defaults.
std::string write_absent(const section& table, const repetition& r) {
  settings sample;
  r.assign(sample, 1);
  const auto shown = write_table(table, sample, 0, comments::all);
  std::string text;
  for (size_t at = 0; at < shown.size();) {
    const auto end = shown.find('\n', at);
    const auto line = std::string_view{shown}.substr(at, end - at);
    text += line.starts_with('#') ? "" : "# ";
    text += line;
    text += '\n';
    at = end + 1;
  }
  return text;
}

std::string write(const settings& values, comments with) {
  std::string text;
  for (const auto& table : sections()) {
    const auto* repeated = repetition_of(table.name);
    const size_t n = repeated != nullptr ? repeated->count(values) : 1;
    if (n == 0 && with == comments::all)
      text += "\n" + commented(table.doc) + write_absent(table, *repeated);
    for (size_t i = 0; i < n; ++i) {
      text += text.empty() ? "" : "\n";
      if (with == comments::all)
        text += commented(table.doc);
      text += write_table(table, values, i, with);
    }
  }
  return text;
}

} // namespace

std::string to_toml(const settings& x) {
  return write(x, comments::none);
}

std::string example_toml() {
  return commented("Every option of Atelier at its default. A file needs only "
                   "what it changes. On the command line --set "
                   "section.key=value wins over the file, with "
                   "devices[0].key=value for a device.")
       + "\n" + write(settings{}, comments::all);
}

} // namespace atelier::config
