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

/// Reads a network's config.json field by field and keeps the first error, so
/// that a parser reads like the list of its fields. Nothing is trusted: a value
/// of another type or out of range is an error that names the file, the key,
/// the value and the allowed values.
/// Threads: one at a time.
class network_fields {
public:
  /// `file` is used only in messages.
  network_fields(std::string_view text, std::string file);

  /// Continues with the object under `key`, if it exists.
  void descend(std::string_view key);

  bool has(std::string_view key) const;
  bool is_list(std::string_view key) const;

  bool failed() const {
    return wrong_.has_value();
  }

  /// Each of these returns the field, or `otherwise` if the key is missing.
  /// Null counts as missing only if the name says so.
  int64_t integer(std::string_view key, int64_t otherwise, int64_t low,
                  int64_t high);
  double number(std::string_view key, double otherwise, double low,
                double high);
  bool flag(std::string_view key, bool otherwise);
  std::string text(std::string_view key, std::string_view otherwise,
                   std::initializer_list<std::string_view> allowed);
  std::optional<int64_t> integer_or_null(std::string_view key, int64_t low,
                                         int64_t high);
  std::optional<double> number_or_null(std::string_view key, double low,
                                       double high);
  std::optional<std::string> text_or_null(
    std::string_view key, std::initializer_list<std::string_view> allowed);
  std::vector<int64_t> integers(std::string_view key,
                                std::vector<int64_t> otherwise, int64_t low,
                                int64_t high, size_t most);
  std::vector<double> numbers_or_null(std::string_view key, size_t most);
  /// Reads a list whose elements must all be in `allowed`.
  std::vector<std::string> texts(
    std::string_view key, std::vector<std::string> otherwise,
    std::initializer_list<std::string_view> allowed, size_t most);

  /// Rejects any value except null and `allowed`.
  void expect(std::string_view key, const nlohmann::json& allowed = nullptr);

  /// Returns the field for a key of several forms, or null if it is missing.
  const nlohmann::json* take(std::string_view key);

  /// Accepts any value of these keys: they do not change the result.
  void ignore(std::initializer_list<std::string_view> keys);

  /// Rejects the value of `key` because it must be `allowed`.
  void refuse(std::string_view key, std::string_view allowed);

  /// Returns the first error. A key that was never read is an error unless its
  /// value has no effect: null, false, or empty.
  core::result<void> finish() const;

private:
  nlohmann::json root_;
  std::string file_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
  std::optional<core::error> wrong_;
};

/// Ignores keys that every transformers configuration may have for generating
/// text, training or its own records.
void ignore_records(network_fields& in);

/// Returns `x` if it is an integer that fits.
std::optional<int64_t> as_integer(const nlohmann::json& x);

/// Returns `x` as JSON, truncated to at most 80 bytes, for messages.
std::string shorten(const nlohmann::json& x);

} // namespace atelier::gpu::detail
