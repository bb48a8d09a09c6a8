// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/detail/document.hpp>
#include <atelier/config/load.hpp>
#include <atelier/config/schema.hpp>

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::config::detail {

/// Where a key was set.
struct origin {
  std::string source;
  uint32_t line = 0;
};

/// Fills settings from documents and overrides, the later one winning, and
/// keeps what was wrong with each. A key in fault leaves the default in place.
class reader {
public:
  /// @param executors what else devices[].executor may be; texts that have
  ///        to live as long
  explicit reader(std::span<const std::string> executors);

  /// Sets the folder that relative paths read from now on are in; empty: they
  /// stay relative.
  void enter(std::filesystem::path folder) {
    folder_ = std::move(folder);
  }

  /// Reads TOML text called `source`.
  void read_text(std::string_view toml, std::string_view source);

  /// Reads one "key.path=value".
  void read_override(std::string_view assignment);

  /// Returns what devices[].executor may be.
  std::span<const std::string_view> executors() const {
    return executors_;
  }

  const settings& values() const {
    return values_;
  }

  /// Returns whether a text was left out because its syntax is broken.
  bool incomplete() const {
    return incomplete_;
  }

  /// Returns whether a fault was already found at `key`.
  bool is_faulty(const std::string& key) const;

  /// Returns where one of `keys`, or else what one is part of, was set, and
  /// that key. Earlier keys go first.
  std::pair<const origin*, std::string> origin_of(
    const std::vector<std::string>& keys) const;

  /// Returns the faults found, in the order found.
  std::vector<fault> faults() const {
    return faults_;
  }

  /// Returns the keys that were set.
  std::vector<std::string> given() const;

private:
  void read_root(const table& from);
  void read_section(std::string_view section, std::string_view shown,
                    const node& from, size_t index);
  void read_tables(const repetition& r, const node& from);
  void read_table(const repetition& r, const node& from, size_t index);
  void read_option(const option& x, const node& from, size_t index);
  /// Makes the path absolute if it is relative to a folder. Returns whether
  /// the result is a valid text.
  bool anchor(std::string& path) const;
  void set_table(const repetition& r, std::string_view path,
                 std::string_view index, std::string_view rest, node value);
  void unknown(const std::string& shown, std::string_view known_as,
               std::string_view prefix, uint32_t line);
  void complain(std::string key, uint32_t line, std::string text);

  settings values_;
  std::vector<std::string_view> executors_;
  std::string source_;
  std::filesystem::path folder_;
  std::vector<fault> faults_;
  std::map<std::string, origin, std::less<>> origins_;
  bool incomplete_ = false;
};

} // namespace atelier::config::detail
