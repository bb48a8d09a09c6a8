// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/core/image/parameters.hpp>
#include <atelier/core/json_text.hpp>
#include <atelier/core/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace atelier::image {

namespace {

constexpr std::string_view negative_mark = "Negative prompt:";

/// A last line with fewer fields counts as a line of the prompt.
constexpr size_t fewest_fields = 3;

/// Returns whether `c` is ASCII white space for Python's strip() and \s.
constexpr bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F);
}

/// Returns whether `c` may be in a word. Letters of other scripts are several
/// bytes of UTF-8.
constexpr bool is_word(char c) {
  return core::is_alphanumeric(c) || c == '_'
      || static_cast<unsigned char>(c) >= 0x80;
}

constexpr bool is_name(char c) {
  return is_word(c) || c == ' ' || c == '-' || c == '/';
}

std::string_view strip(std::string_view x) {
  return core::trim(x, is_space);
}

template <class Predicate>
size_t skip(std::string_view x, size_t at, Predicate wanted) {
  while (at < x.size() && wanted(x[at]))
    ++at;
  return at;
}

std::string quote(std::string_view value) {
  if (value.find_first_of(",\n:") == std::string_view::npos)
    return std::string{value};
  return core::json_text(nlohmann::json(value));
}

std::string unquote(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    const auto json = nlohmann::json::parse(value, nullptr, false);
    if (json.is_string())
      return json.get<std::string>();
  }
  return std::string{value};
}

/// Returns the end of the value that starts at `at`. The value is a JSON-like
/// string if a comma or the end of the line follows it; otherwise it ends at
/// the next comma.
size_t end_of_value(std::string_view line, size_t at) {
  if (at < line.size() && line[at] == '"') {
    size_t end = at + 1;
    while (end < line.size() && line[end] != '"')
      end += line[end] == '\\' ? 2u : 1u;
    if (end < line.size() && end > at + 1
        && (end + 1 == line.size() || line[end + 1] == ','))
      return end + 1;
  }
  return std::min(line.find(',', at), line.size());
}

struct field_views {
  std::string_view name;
  std::string_view value;
};

/// Finds the fields of a line as the web UI's regular expression does:
/// \s*(\w[\w \-/]+):\s*("(?:\\.|[^\\"])+"|[^,]*)(?:,|$)
std::vector<field_views> find_fields(std::string_view line) {
  std::vector<field_views> found;
  size_t at = 0;
  while (at < line.size() && found.size() < most_fields) {
    const size_t from = skip(line, at, [](char c) { return !is_word(c); });
    const size_t to = skip(line, from, is_name);
    // A name that started later in this run would also end here. The search
    // therefore continues after the run, and takes linear time.
    if (to == line.size() || line[to] != ':' || to - from < 2) {
      at = to + 1;
      continue;
    }
    const size_t value = skip(line, to + 1, is_space);
    const size_t end = end_of_value(line, value);
    found.push_back(
      {line.substr(from, to - from), line.substr(value, end - value)});
    at = end + 1;
  }
  return found;
}

void add_line(std::string& text, std::string_view line) {
  if (!text.empty())
    text += '\n';
  text += line;
}

std::string told(const core::parameter& x, bool value) {
  return std::string{value ? x.webui_true : "False"};
}

std::string told(const core::parameter&, core::sampler value) {
  return std::string{webui_name(value)};
}

std::string told(const core::parameter&, core::noise_source value) {
  return value == core::noise_source::torch_cpu ? "CPU" : "Philox";
}

std::string told(const core::parameter&, core::step_spacing value) {
  return std::string{
    core::step_spacing_webui_names[static_cast<size_t>(value)]};
}

std::string told(const core::parameter&, core::strength_rule value) {
  return std::string{core::strength_rule_names[static_cast<size_t>(value)]};
}

std::string told(const core::parameter&, core::prompt_grammar value) {
  return std::string{core::prompt_grammar_names[static_cast<size_t>(value)]};
}

std::string told(const core::parameter&, core::emphasis_rule value) {
  return std::string{
    core::emphasis_rule_webui_names[static_cast<size_t>(value)]};
}

template <class Number>
std::string told(const core::parameter&, Number value) {
  return fmt::to_string(value);
}

void tell_parameters(const core::recipe& how, bool before_seed,
                     std::vector<std::pair<std::string, std::string>>& to) {
  const core::used_parameters usual;
  core::each_parameter([&](const core::parameter& x, auto at) {
    if constexpr (requires { at.used; }) {
      if (x.webui.empty() || x.before_seed != before_seed
          || (x.told == core::telling::if_changed
              && how.*at.used == usual.*at.used)
          || (x.told == core::telling::if_from_image && !how.from_image))
        return;
      to.emplace_back(x.webui, told(x, how.*at.used));
    }
  });
}

} // namespace

std::optional<std::string_view> parameters::find(std::string_view name) const {
  const auto at = std::find_if(fields.rbegin(), fields.rend(),
                               [&](const auto& x) { return x.first == name; });
  if (at == fields.rend())
    return std::nullopt;
  return at->second;
}

parameters describe(const core::prompt_pair& text, const core::recipe& how,
                    std::string_view model,
                    std::vector<std::pair<std::string, std::string>> more) {
  parameters result{text.positive, text.negative, {}};
  auto& fields = result.fields;
  tell_parameters(how, true, fields);
  fields.emplace_back("Seed", fmt::to_string(how.seed));
  const auto px = core::answered_px(how);
  fields.emplace_back("Size", fmt::format("{}x{}", px.width, px.height));
  if (px != how.px)
    fields.emplace_back("Drawn size",
                        fmt::format("{}x{}", how.px.width, how.px.height));
  fields.emplace_back("Model", std::string{model});
  tell_parameters(how, false, fields);
  std::move(more.begin(), more.end(), std::back_inserter(fields));
  fields.emplace_back("Version", fmt::format("Atelier {}", core::version()));
  return result;
}

std::string to_text(const parameters& what) {
  std::string text = what.prompt;
  if (!what.negative.empty())
    text += fmt::format("\n{} {}", negative_mark, what.negative);
  text += '\n';
  std::string_view between;
  for (const auto& [name, value] : what.fields) {
    text += between;
    text += name == value ? name : fmt::format("{}: {}", name, quote(value));
    between = ", ";
  }
  return std::string{strip(text)};
}

parameters parse_parameters(std::string_view text) {
  text = strip(text);
  const size_t last = text.rfind('\n');
  const size_t from = last == std::string_view::npos ? 0 : last + 1;
  auto found = find_fields(text.substr(from));
  if (found.size() >= fewest_fields)
    text = text.substr(0, from == 0 ? 0 : last);
  else
    found.clear();
  const bool only_fields = !found.empty() && from == 0;

  parameters result;
  bool in_negative = false;
  while (!only_fields) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = strip(text.substr(0, end));
    if (line.starts_with(negative_mark)) {
      in_negative = true;
      line = strip(line.substr(negative_mark.size()));
    }
    add_line(in_negative ? result.negative : result.prompt, line);
    if (end == text.size())
      break;
    text.remove_prefix(end + 1);
  }
  for (const auto& [name, value] : found)
    if (!value.empty())
      result.fields.emplace_back(name, unquote(value));
  return result;
}

} // namespace atelier::image
