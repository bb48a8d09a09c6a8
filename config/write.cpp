// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/load.hpp>
#include <atelier/config/schema.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace atelier::config {

namespace {

/// Whether a file explains itself.
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
                        size_t device, comments with) {
  const bool repeated = table.name == devices_section;
  auto text = repeated ? fmt::format("[[{}]]\n", table.name)
                       : fmt::format("[{}]\n", table.name);
  for (const auto& x : options()) {
    if (x.section != table.name)
      continue;
    if (with == comments::all)
      text += explained(x);
    text += fmt::format("{} = {}\n", x.name,
                        value_text(x, look_at(x, values, device)));
  }
  return text;
}

std::string write(const settings& values, comments with) {
  std::string text;
  for (const auto& table : sections()) {
    const bool repeated = table.name == devices_section;
    const size_t n = repeated ? values.devices.size() : 1;
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
