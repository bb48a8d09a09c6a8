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

/// Parses a body: a JSON object, of bounded depth and count of values.
/// Errors: ec::bad_payload.
core::result<json> parse_object(std::string_view text);

/// Returns the value for an error's text, shortened.
std::string shown(const json& x);

struct hint;

/// What is wrong with a call.
struct field_fault {
  std::string field;
  /// Names the field, the value and the range.
  std::string text;
  /// not_found or invalid_argument.
  core::ec code = core::ec::invalid_argument;
};

/// Reads the fields of a call, each by its type. What is null counts as left
/// out. The first fault is kept; after it everything reads as left out. Names
/// are literals.
class field_reader {
public:
  enum class from : uint8_t {
    body,
    /// All values are texts; those of numbers and flags are read.
    form,
  };

  /// @param object must outlive this; take() and file() take out of it
  explicit field_reader(json& object, from how = from::body)
    : object_(object), how_(how) {}

  bool good() const {
    return !fault_;
  }

  const field_fault& why() const {
    return *fault_;
  }

  /// Notes a fault of the caller's own finding.
  void refuse(std::string_view field, std::string text,
              core::ec code = core::ec::invalid_argument);

  /// The value as it is; null where it is left out.
  const json* find(std::string_view name);

  /// The value itself, which reads as left out from then on; null where it is.
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

  /// A seed: 0 up to 2^64 - 1; -1 counts as left out.
  std::optional<uint64_t> seed(std::string_view name);

  /// An image's file, in base64 or a data URL; empty where it is left out. Its
  /// text is taken: it is no shorter than the file.
  std::vector<uint8_t> file(std::string_view name, uint64_t most_bytes);

  /// Allows a field only at values with which it says nothing: what it stands
  /// for is not there.
  void only(std::string_view name, std::initializer_list<json> values);

  /// Takes the hints of an API: see hints.hpp.
  void hint(std::string_view api);

  /// What is to be said of the call with its images.
  const std::vector<std::string>& notes() const {
    return notes_;
  }

  /// Allows fields that change no picture, whatever they say.
  void ignore(std::initializer_list<std::string_view> names);

  /// Refuses a field that nobody asked for.
  void no_others();

private:
  void hint(const detail::hint& x);

  /// Numbers and flags of a form, as the texts that they are.
  json value_of(const json& x) const;

  json& object_;
  from how_;
  std::set<std::string_view> known_;
  std::optional<field_fault> fault_;
  std::vector<std::string> notes_;
};

} // namespace atelier::runtime::http::detail
