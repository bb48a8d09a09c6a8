// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/model_card.hpp>

#include <fmt/format.h>

namespace atelier::gpu {

namespace {

// Returns `text` as a table cell: on one line, and with escaped separators.
std::string cell(const std::string& text) {
  std::string out;
  for (const auto c : text) {
    if (c == '|')
      out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

} // namespace

std::string to_markdown(const model_card& x) {
  std::string out = "---\nlicense: apache-2.0\n";
  if (!x.library.empty())
    out += fmt::format("library_name: {}\n", x.library);
  if (!x.task.empty())
    out += fmt::format("pipeline_tag: {}\n", x.task);
  out += fmt::format("---\n\n# {}\n", x.name);
  const auto add = [&](std::string_view title, std::string_view text) {
    if (!text.empty())
      out += fmt::format("\n## {}\n\n{}\n", title, text);
  };
  if (!x.what_it_is.empty())
    out += fmt::format("\n{}\n", x.what_it_is);
  add("Data", x.data);
  add("Training",
      fmt::format("{}{}Seed {}, {:.1f} minutes.", x.recipe,
                  x.recipe.empty() ? "" : "\n\n", x.seed, x.minutes));
  if (!x.command.empty())
    out += fmt::format("\n```\n{}\n```\n", x.command);
  if (!x.figures.empty()) {
    std::string table = "| figure | value |\n| --- | --- |";
    for (const auto& [name, value] : x.figures)
      table += fmt::format("\n| {} | {} |", cell(name), cell(value));
    add("Figures", table);
  }
  add("Limits", x.limits);
  return out;
}

} // namespace atelier::gpu
