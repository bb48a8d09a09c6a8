// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// Reads values out of a configuration and keeps the first fault: a value of
/// another kind, or outside its range. After a fault it returns the fallback.
class config_reader {
public:
  config_reader(const nlohmann::json& object, std::string_view where)
    : object_(object), where_(where) {}

  /// Returns a whole number in 1..2^24.
  int64_t whole(const char* key, std::optional<int64_t> fallback = {});

  /// Returns a list of such numbers; of one number where `count` is given that
  /// often.
  std::vector<int64_t> wholes(const char* key, std::optional<size_t> count = {},
                              std::optional<int64_t> fallback = {});

  std::vector<std::string> words(const char* key);

  bool flag(const char* key, bool fallback);

  /// Returns the text, or nothing for null and where there is none.
  std::optional<std::string> word(const char* key);

  /// Returns whether the key is there and not null.
  bool has(const char* key) const;

  /// Returns whether the key is there, null or not.
  bool names(const char* key) const;

  /// Notes a fault unless the key is absent, null, or has that value.
  void expect(const char* key, const nlohmann::json& value);

  void fault(const char* key, std::string_view what);

  const std::optional<core::error>& why() const {
    return fault_;
  }

private:
  const nlohmann::json* find(const char* key) const;
  int64_t checked(const char* key, const nlohmann::json& x);

  const nlohmann::json& object_;
  std::string_view where_;
  std::optional<core::error> fault_;
};

} // namespace atelier::gpu::detail
