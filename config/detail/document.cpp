// SPDX-License-Identifier: Apache-2.0
// The only file that knows the TOML parser.
#include <atelier/config/detail/document.hpp>
#include <atelier/config/detail/key_depth.hpp>
#include <atelier/config/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>

// Values of options nest two deep; the parser recurses for every level.
#define TOML_MAX_NESTED_VALUES 16
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/impl/preprocessor.h>
// Version 3.3 asserts, or lets the compiler assume, what bad text makes untrue:
// a key after "[[", a value before ",". Its code after those assertions handles
// such text, while "[[[" would end the program.
#undef TOML_ASSERT
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_ASSERT_ASSUME(expr) static_assert(true)
#include <toml++/toml.h>

namespace atelier::config::detail {

namespace {

node convert(const toml::node& from);

table convert(const toml::table& from) {
  table result;
  result.reserve(from.size());
  for (const auto& [key, value] : from) {
    auto converted = convert(value);
    converted.line = key.source().begin.line;
    result.emplace_back(std::string{key.str()}, std::move(converted));
  }
  // The parser sorts by key; people read by line.
  std::stable_sort(result.begin(), result.end(), [](auto& a, auto& b) {
    return a.second.line < b.second.line;
  });
  return result;
}

node convert(const toml::node& from) {
  node result;
  result.line = from.source().begin.line;
  if (const auto* whole = from.as_integer())
    result.value = whole->get();
  else if (const auto* real = from.as_floating_point())
    result.value = real->get();
  else if (const auto* text = from.as_string())
    result.value = text->get();
  else if (const auto* inner = from.as_table())
    result.value = convert(*inner);
  else if (const auto* array = from.as_array()) {
    list items;
    items.reserve(array->size());
    for (const auto& item : *array)
      items.push_back(convert(item));
    result.value = std::move(items);
  } else if (const auto* truth = from.as_boolean())
    result.value = foreign{truth->get() ? "true" : "false"};
  else
    result.value = foreign{"a date or time"};
  return result;
}

/// Says what a value is, for each type that a node can hold.
struct describer {
  std::string operator()(int64_t x) const {
    return fmt::format("{}", x);
  }

  std::string operator()(double x) const {
    return fmt::format("{}", x);
  }

  std::string operator()(const std::string& x) const {
    return "the text " + shorten(quote(x));
  }

  std::string operator()(const list&) const {
    return "a list";
  }

  std::string operator()(const table&) const {
    return "a table";
  }

  std::string operator()(const foreign& x) const {
    return x.what;
  }
};

} // namespace

std::variant<table, syntax_fault> read_document(std::string_view toml) {
  if (toml.size() > most_document_bytes)
    return syntax_fault{0, fmt::format("{} bytes are more than {}", toml.size(),
                                       most_document_bytes)};
  if (const uint32_t line = find_deep_key(toml))
    return syntax_fault{
      line, fmt::format("a key of more than {} parts", most_key_parts)};
  const auto parsed = toml::parse(toml);
  if (!parsed) {
    const auto& why = parsed.error();
    return syntax_fault{why.source().begin.line,
                        shorten(escape(why.description()))};
  }
  return convert(parsed.table());
}

std::string describe(const node& x) {
  return std::visit(describer{}, x.value);
}

} // namespace atelier::config::detail
