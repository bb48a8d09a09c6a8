// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// Reads the keys of a network's config.json, which is one JSON object. The
/// first thing that is wrong is kept for `finish`; what is read after it is a
/// fallback. An absent key is its fallback; a null is one only for `optional_`
/// and `only`.
/// Threads: one at a time.
class config_fields {
public:
  /// `file`: where `text` stands, for messages.
  config_fields(std::string_view text, std::string file);

  bool flag(std::string_view key, bool fallback);
  int64_t whole(std::string_view key, int64_t fallback, int64_t least,
                int64_t most);
  std::optional<int64_t> optional_whole(std::string_view key, int64_t least,
                                        int64_t most);
  double number(std::string_view key, double fallback, double least,
                double most);
  std::string choice(std::string_view key, std::string_view fallback,
                     std::initializer_list<std::string_view> allowed);
  /// Returns nothing where the key is absent or null.
  std::optional<std::string> optional_choice(
    std::string_view key, std::initializer_list<std::string_view> allowed);

  /// Refuses every value but an absent one, null, and `allowed`.
  void only(std::string_view key, const nlohmann::json& allowed = nullptr);

  /// Knows keys that do not change what the network computes.
  void ignore(std::initializer_list<std::string_view> keys);

  /// Returns the value where the key is present and not null; for keys of more
  /// than one form.
  const nlohmann::json* find(std::string_view key);

  /// Notes that `value` cannot be used for `key`, and what could.
  void refuse(std::string_view key, const nlohmann::json& value,
              std::string_view allowed);

  /// Whether the file does not have the key at all; a null is there.
  bool absent(std::string_view key) const;

  bool failed() const {
    return why_.has_value();
  }

  /// Returns the first thing that was wrong, or a key that nobody asked for.
  /// Errors: ec::bad_config.
  core::result<void> finish() const;

private:
  std::string file_;
  nlohmann::json content_;
  std::set<std::string, std::less<>> known_;
  std::optional<core::error> why_;
};

/// Returns a whole number that fits, if `x` is one.
std::optional<int64_t> as_whole(const nlohmann::json& x);

} // namespace atelier::gpu::detail
