// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/runtime/http/detail/field_reader.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atelier::runtime::http::detail {

namespace {

using core::ec;

/// Limits of a body's structure, apart from the length of its texts: each value
/// takes many times the memory of its characters.
constexpr size_t most_depth = 64;
constexpr size_t most_values = 100'000;
/// No number that anything here takes is longer, and the digits of a longer one
/// cost far more time than those of a text.
constexpr size_t most_number = 1'000;

core::result<void> check_shape(std::string_view text) {
  size_t depth = 0;
  size_t values = 0;
  size_t number = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      i += c == '\\' ? 1 : 0;
      in_text = c != '"';
      continue;
    }
    in_text = c == '"';
    values += c == ',' || c == '[' || c == '{' ? 1 : 0;
    depth += c == '[' || c == '{' ? 1 : 0;
    if (depth > 0 && (c == ']' || c == '}'))
      --depth;
    number = (c >= '0' && c <= '9') ? number + 1 : 0;
    if (number > most_number)
      return core::fail(ec::bad_payload,
                        "the body has a number of more than {} digits",
                        most_number);
    if (depth > most_depth)
      return core::fail(ec::bad_payload, "the body is nested more than {} deep",
                        most_depth);
    if (values > most_values)
      return core::fail(ec::bad_payload, "the body has more than {} values",
                        most_values);
  }
  return {};
}

/// Makes values from the parser's events. Texts are moved, not copied, because
/// one may be an image's file.
class value_maker : public json::json_sax_t {
public:
  bool null() override {
    return put(json());
  }

  bool boolean(bool x) override {
    return put(x);
  }

  bool number_integer(number_integer_t x) override {
    return put(x);
  }

  bool number_unsigned(number_unsigned_t x) override {
    return put(x);
  }

  bool number_float(number_float_t x, const string_t&) override {
    return put(x);
  }

  bool string(string_t& x) override {
    return put(std::move(x));
  }

  bool binary(binary_t&) override {
    return false;
  }

  /// A program before the server may read the first of two equal fields, and
  /// the server the last.
  bool key(string_t& x) override {
    key_ = std::move(x);
    if (!inside_.back()->contains(key_))
      return true;
    twice = key_;
    return false;
  }

  bool start_object(size_t) override {
    return open(json::object());
  }

  bool start_array(size_t) override {
    return open(json::array());
  }

  bool end_object() override {
    inside_.pop_back();
    return true;
  }

  bool end_array() override {
    return end_object();
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& why) override {
    fault = position;
    // The library's number for "number overflow parsing".
    too_large = why.id == 406;
    return false;
  }

  json made;
  /// The field that an object has twice.
  std::optional<std::string> twice;
  /// The bytes up to the fault, with the one that is wrong; 0: no fault.
  size_t fault = 0;
  /// The fault is a number that is too large for any type.
  bool too_large = false;

private:
  json* place(json&& x) {
    if (inside_.empty())
      return &(made = std::move(x));
    auto& in = *inside_.back();
    if (in.is_array())
      return &in.emplace_back(std::move(x));
    return &(in[key_] = std::move(x));
  }

  bool put(json x) {
    place(std::move(x));
    return true;
  }

  bool open(json x) {
    inside_.push_back(place(std::move(x)));
    return true;
  }

  /// The values that are not closed yet, each inside the one before. Their
  /// addresses do not change.
  std::vector<json*> inside_;
  std::string key_;
};

core::error fault_at(std::string_view text, size_t bytes, bool too_large) {
  const auto before = text.substr(0, std::min(text.size(), bytes - 1));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  // npos + 1 is 0, which is right on the first line.
  const auto column = before.size() - (before.rfind('\n') + 1) + 1;
  if (too_large)
    return core::fail(ec::bad_payload,
                      "the body has a number beyond 1.8e308: it ends at line "
                      "{}, column {}",
                      line, column);
  return core::fail(ec::bad_payload,
                    "the body is not a JSON object: it is wrong at line {}, "
                    "column {}{}",
                    line, column, bytes > text.size() ? ", where it ends" : "");
}

} // namespace

core::result<json> parse_object(std::string_view text) {
  if (auto good = check_shape(text); !good)
    return good.why();
  value_maker values;
  const bool whole = json::sax_parse(text, &values);
  if (values.twice)
    return core::fail(ec::bad_payload, "the body has the field {} twice",
                      shown(*values.twice));
  if (!whole && values.fault > 0 && !text.empty())
    return fault_at(text, values.fault, values.too_large);
  if (!whole || !values.made.is_object())
    return core::fail(ec::bad_payload, "the body is not a JSON object");
  return std::move(values.made);
}

} // namespace atelier::runtime::http::detail
