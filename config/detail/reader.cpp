// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/detail/assign.hpp>
#include <atelier/config/detail/nearest.hpp>
#include <atelier/config/detail/number.hpp>
#include <atelier/config/detail/reader.hpp>
#include <atelier/config/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::config::detail {

namespace {

/// A file of another program could hold any number of unknown keys.
constexpr size_t most_faults = 100;

const section* find_section(std::string_view name) {
  const auto all = sections();
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](auto& x) { return x.name == name; });
  return at == all.end() ? nullptr : &*at;
}

const option* find_option(std::string_view section, std::string_view name) {
  const auto all = options();
  const auto at = std::find_if(all.begin(), all.end(), [&](auto& x) {
    return x.section == section && x.name == name;
  });
  return at == all.end() ? nullptr : &*at;
}

std::string table_key(const repetition& r, size_t index) {
  return fmt::format("{}[{}]", r.section, index);
}

/// Returns the repeated section that `first` names as section[index], and the
/// index.
std::pair<const repetition*, std::string_view> indexed(std::string_view first) {
  for (const auto& r : repetitions())
    if (first.starts_with(r.section) && first.ends_with(']')
        && first.substr(r.section.size()).starts_with('[')) {
      first.remove_prefix(r.section.size() + 1);
      first.remove_suffix(1);
      return {&r, first};
    }
  return {nullptr, {}};
}

/// Splits at the first dot; the second part is empty if there is no dot.
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const auto dot = path.find('.');
  if (dot == std::string_view::npos)
    return {path, {}};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

std::string_view trim(std::string_view x) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = x.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return x.substr(first, x.find_last_not_of(blanks) - first + 1);
}

/// Puts `value` under `name` in a table of its own.
node wrap(std::string_view name, node value) {
  node outer;
  table inner;
  inner.emplace_back(std::string{name}, std::move(value));
  outer.value = std::move(inner);
  return outer;
}

/// Reads the value of an override. A bare word counts as a string.
std::variant<node, syntax_fault> read_value(std::string_view text) {
  auto document = read_document(fmt::format("v = {}", text));
  if (auto* parsed = std::get_if<table>(&document)) {
    // A line feed in the value must not smuggle in further keys.
    if (parsed->size() != 1)
      return syntax_fault{0, "holds more than one value"};
    auto& value = parsed->front().second;
    value.line = 0;
    return std::move(value);
  }
  constexpr std::string_view quoted = "\"'[{";
  if (!text.empty() && quoted.find(text.front()) != std::string_view::npos)
    return std::get<syntax_fault>(document);
  return node{std::string{text}, 0};
}

} // namespace

reader::reader(std::span<const std::string> own)
  : executors_(std::begin(config::executors), std::end(config::executors)) {
  executors_.insert(executors_.end(), own.begin(), own.end());
}

void reader::read_text(std::string_view toml, std::string_view source) {
  source_ = source;
  const auto document = read_document(toml);
  if (const auto* broken = std::get_if<syntax_fault>(&document)) {
    incomplete_ = true;
    complain({}, broken->line, broken->text);
    return;
  }
  read_root(std::get<table>(document));
}

void reader::read_override(std::string_view assignment) {
  source_ = "--set";
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    complain(shorten(escape(assignment)), 0, "has no value; write KEY=VALUE");
    return;
  }
  const auto path = trim(assignment.substr(0, equals));
  auto value = read_value(trim(assignment.substr(equals + 1)));
  if (const auto* broken = std::get_if<syntax_fault>(&value)) {
    complain(shorten(escape(path)), 0, broken->text);
    return;
  }
  auto& content = std::get<node>(value);
  auto [first, rest] = split(path);
  // devices[0].name and devices.0.name are the same.
  if (const auto [r, index] = indexed(first); r != nullptr) {
    set_table(*r, path, index, rest, std::move(content));
  } else if (const auto* same = repetition_of(first);
             same != nullptr && !rest.empty()) {
    const auto [number, inner] = split(rest);
    set_table(*same, path, number, inner, std::move(content));
  } else {
    if (!rest.empty())
      content = wrap(rest, std::move(content));
    table root;
    root.emplace_back(std::string{first}, std::move(content));
    read_root(root);
  }
}

void reader::set_table(const repetition& r, std::string_view path,
                       std::string_view index, std::string_view rest,
                       node value) {
  const auto count = r.count(values_);
  const auto at = parse_whole(index);
  if (!at || *at > count || *at >= r.most) {
    complain(shorten(escape(path)), 0,
             fmt::format("{} is not the index of a {} in 0..{}",
                         shorten(quote(index)), r.one,
                         std::min(count, r.most - 1)));
    return;
  }
  // An index one above the last adds a table.
  if (*at == count) {
    r.add(values_);
    origins_[table_key(r, *at)] = {source_, 0};
  }
  read_table(r, rest.empty() ? std::move(value) : wrap(rest, std::move(value)),
             *at);
}

void reader::read_root(const table& from) {
  for (const auto& [name, value] : from) {
    if (const auto* r = repetition_of(name))
      read_tables(*r, value);
    else if (find_section(name))
      read_section(name, name, value, 0);
    else
      unknown(quote_key(name), name, {}, value.line);
  }
}

void reader::read_tables(const repetition& r, const node& from) {
  const std::string key{r.section};
  const auto* items = std::get_if<list>(&from.value);
  if (!items || items->size() < r.least || items->size() > r.most) {
    const auto what =
      items ? fmt::format("a list of {}", items->size()) : describe(from);
    complain(key, from.line,
             fmt::format("{} is not {}..{} tables [[{}]]", what, r.least,
                         r.most, r.section));
    return;
  }
  // This also removes the keys that earlier sources set for single tables.
  std::erase_if(origins_,
                [&](const auto& x) { return x.first.starts_with(r.section); });
  r.assign(values_, items->size());
  origins_[key] = {source_, from.line};
  for (size_t i = 0; i < items->size(); ++i) {
    origins_[table_key(r, i)] = {source_, (*items)[i].line};
    read_table(r, (*items)[i], i);
  }
}

void reader::read_table(const repetition& r, const node& from, size_t index) {
  read_section(r.section, table_key(r, index), from, index);
}

void reader::read_section(std::string_view section, std::string_view shown,
                          const node& from, size_t index) {
  const auto* entries = std::get_if<table>(&from.value);
  if (!entries) {
    complain(std::string{shown}, from.line,
             fmt::format("{} is not a table", describe(from)));
    return;
  }
  for (const auto& [name, value] : *entries) {
    if (const auto* x = find_option(section, name))
      read_option(*x, value, index);
    else
      unknown(fmt::format("{}.{}", shown, quote_key(name)),
              fmt::format("{}.{}", section, name), shown, value.line);
  }
}

void reader::read_option(const option& x, const node& from, size_t index) {
  auto key = key_of(x, index);
  const auto wide = widened_by(executors_, x);
  const auto to = x.at(values_, index);
  if (!assign(wide, from, to))
    return complain(std::move(key), from.line, refusal_of(wide, from));
  if (x.shape == form::path || x.shape == form::nonempty_path)
    if (auto& path = *std::get<std::string*>(to); !anchor(path))
      return complain(std::move(key), from.line,
                      fmt::format("{} is relative to a folder whose path is "
                                  "too long, or has characters that no path "
                                  "may have here",
                                  describe(from)));
  origins_[std::move(key)] = {source_, from.line};
}

bool reader::anchor(std::string& path) const {
  // "-" is standard output.
  if (path.empty() || path == "-" || path.front() == '/' || folder_.empty())
    return true;
  path = (folder_ / path).string();
  return is_plain(path);
}

void reader::unknown(const std::string& shown, std::string_view known_as,
                     std::string_view prefix, uint32_t line) {
  std::string text = "is not a known key";
  if (faults_.size() < most_faults)
    if (auto near = nearest_key(known_as); !near.empty()) {
      // Inside one of several tables the suggestion names that table.
      const auto dot = near.find('.');
      if (!prefix.empty() && dot != std::string::npos
          && repetition_of(near.substr(0, dot)) != nullptr
          && prefix.starts_with(near.substr(0, dot)))
        near = std::string{prefix} + near.substr(dot);
      text += fmt::format("; did you mean {}?", near);
    }
  complain(shown, line, std::move(text));
}

void reader::complain(std::string key, uint32_t line, std::string text) {
  if (faults_.size() < most_faults)
    faults_.push_back({source_, line, std::move(key), std::move(text)});
  else if (faults_.size() == most_faults)
    faults_.push_back({source_, 0, {}, "more faults follow, not shown"});
}

bool reader::is_faulty(const std::string& key) const {
  return std::any_of(faults_.begin(), faults_.end(),
                     [&](const fault& x) { return x.key == key; });
}

std::vector<std::string> reader::given() const {
  std::vector<std::string> keys;
  for (const auto& [key, from] : origins_)
    keys.push_back(key);
  return keys;
}

std::pair<const origin*, std::string> reader::origin_of(
  const std::vector<std::string>& keys) const {
  for (const auto& key : keys)
    if (const auto at = origins_.find(key); at != origins_.end())
      return {&at->second, key};
  for (const auto& key : keys) {
    const auto whole = std::string_view{key}.substr(0, key.rfind('.'));
    if (const auto at = origins_.find(whole); at != origins_.end())
      return {&at->second, key};
  }
  return {nullptr, keys.front()};
}

} // namespace atelier::config::detail
