// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http::detail {

using json = nlohmann::json;

/// Parses a body: a JSON object of bounded depth and number of values.
/// Errors: ec::bad_payload.
core::result<json> parse_object(std::string_view text);

/// Returns the value shortened for an error message.
std::string shown(const json& x);

struct hint;

/// An error in a call.
struct field_fault {
  std::string field;
  /// Names the field, the value and the range.
  std::string text;
  /// not_found or invalid_argument.
  core::ec code = core::ec::invalid_argument;
};

/// Reads the fields of a call, each by its type. Null counts as omitted. The
/// first error is kept; after it, all fields read as omitted. Names are string
/// literals.
class field_reader {
public:
  enum class from : uint8_t {
    body,
    /// Numbers and flags may be texts, as all values of forms are.
    form,
  };

  /// @param object must outlive this; take() and file() remove values from it
  explicit field_reader(json& object, from how = from::body)
    : object_(object), how_(how) {}

  bool good() const {
    return !fault_;
  }

  const field_fault& why() const {
    return *fault_;
  }

  /// Records an error that the caller found.
  void refuse(std::string_view field, std::string text,
              core::ec code = core::ec::invalid_argument);

  /// Returns the value unchanged, or null if it is omitted.
  const json* find(std::string_view name);

  /// Moves the value out, which reads as omitted from then on. Returns null if
  /// it is omitted.
  json take(std::string_view name);

  std::optional<std::string> text(std::string_view name,
                                  uint64_t most_bytes = 1024);
  std::optional<std::string> choice(std::string_view name,
                                    std::span<const std::string_view> among);
  std::optional<std::string> choice(
    std::string_view name, std::initializer_list<std::string_view> among);
  std::optional<int64_t> whole(std::string_view name, int64_t least,
                               int64_t most);
  std::optional<double> real(std::string_view name, double least, double most);
  std::optional<bool> flag(std::string_view name);

  /// Reads a seed in 0..2^64 - 1; -1 counts as omitted.
  std::optional<uint64_t> seed(std::string_view name);

  /// Reads an image's file from base64 or a data URL; empty if it is omitted.
  /// The text is removed from the object, since it is at least as long as the
  /// file.
  std::vector<uint8_t> file(std::string_view name, uint64_t most_bytes);

  /// Allows a field only at values that have no effect, because its feature is
  /// not supported.
  void only(std::string_view name, std::initializer_list<json> values);

  /// Reads the hints of an API, see hints.hpp.
  void hint(std::string_view api);

  /// Returns the notes for the images of the call.
  const std::vector<std::string>& notes() const {
    return notes_;
  }

  /// Allows fields that change no image, at any value of up to
  /// most_unused_bytes.
  void ignore(std::initializer_list<std::string_view> names);

  /// Rejects the largest field if all fields but `others` have more than
  /// most_unused_bytes: what is only kept to be sent back must not fill the
  /// memory.
  void bound_all_but(std::initializer_list<std::string_view> others);

  static constexpr uint64_t most_unused_bytes = 64 << 10;

  /// Rejects fields that no other member has read or allowed.
  void no_others();

private:
  void hint(const detail::hint& x);

  /// Parses the numbers and flags of a form, which arrive as texts.
  json value_of(const json& x) const;

  json& object_;
  from how_;
  std::set<std::string_view> known_;
  std::optional<field_fault> fault_;
  std::vector<std::string> notes_;
};

} // namespace atelier::runtime::http::detail
