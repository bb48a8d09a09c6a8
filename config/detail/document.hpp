// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace atelier::config::detail {

/// Most bytes of one document.
inline constexpr size_t most_document_bytes = 1 << 20;

struct entry;
struct node;

/// Keys with their values in the order of the text.
using table = std::vector<entry>;
using list = std::vector<node>;

/// A value that no option takes; the text names what it is.
struct foreign {
  std::string text;
};

/// One value of a document, free of the parser's types.
struct node {
  std::variant<int64_t, double, std::string, list, table, foreign> value;
  /// From 1; 0 where there is no text.
  uint32_t line = 0;
};

/// One key of a table with its value.
struct entry {
  entry(std::string key, node value)
    : first(std::move(key)), second(std::move(value)) {}

  std::string first;
  node second;
};

/// What is wrong with a document's syntax.
struct syntax_fault {
  uint32_t line = 0;
  std::string text;
};

/// Reads TOML into a table, or says the first thing wrong with its syntax.
/// Never throws and never recurses deeply, whatever the text.
std::variant<table, syntax_fault> read_document(std::string_view toml);

/// Says what `x` is, for people: `the text "abc"`, `20`, `a table`.
std::string describe(const node& x);

} // namespace atelier::config::detail
