// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/json_text.hpp>
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/detail/field_reader.hpp>
#include <atelier/runtime/http/detail/hints.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::runtime::http::detail {

namespace {

using core::ec;

/// Returns the bytes of a value's texts, with one for each value.
uint64_t bytes_of(const json& x) {
  if (x.is_string())
    return x.get_ref<const std::string&>().size() + 1;
  uint64_t sum = 1;
  if (x.is_object())
    for (const auto& [key, value] : x.items())
      sum += key.size() + bytes_of(value);
  else if (x.is_array())
    for (const auto& value : x)
      sum += bytes_of(value);
  return sum;
}

} // namespace

std::string shown(const json& x) {
  constexpr size_t most = 60;
  // A long value is cut before it is written.
  if (x.is_string() && x.get_ref<const std::string&>().size() > most)
    return shown(
      json(x.get_ref<const std::string&>().substr(0, most - 3) + "..."));
  if (x.is_structured() && x.size() > most)
    return x.is_array() ? "a list" : "an object";
  auto text = core::ascii_json_text(x);
  if (text.size() > 2 * most)
    text = text.substr(0, most - 3) + "...";
  return text;
}

void field_reader::refuse(std::string_view field, std::string text,
                          core::ec code) {
  if (!fault_)
    fault_ = field_fault{std::string{field}, std::move(text), code};
}

const json* field_reader::find(std::string_view name) {
  known_.insert(name);
  const auto i = object_.find(name);
  if (!good() || i == object_.end() || i->is_null())
    return nullptr;
  return &*i;
}

json field_reader::take(std::string_view name) {
  return find(name) == nullptr ? json() : std::move(*object_.find(name));
}

json field_reader::value_of(const json& x) const {
  constexpr size_t longest_number = 64;
  if (how_ == from::body || !x.is_string()
      || x.get_ref<const std::string&>().size() > longest_number)
    return x;
  const auto& text = x.get_ref<const std::string&>();
  if (text == "True" || text == "False")
    return text == "True";
  auto value = json::parse(text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : x;
}

std::optional<std::string> field_reader::text(std::string_view name,
                                              uint64_t most_bytes) {
  const auto* x = find(name);
  if (x == nullptr)
    return std::nullopt;
  if (!x->is_string()) {
    refuse(name, fmt::format("{} {} is not a string", name, shown(*x)));
    return std::nullopt;
  }
  const auto& value = x->get_ref<const std::string&>();
  if (value.size() > most_bytes) {
    refuse(name, fmt::format("{} has {} bytes, outside 0..{}", name,
                             value.size(), most_bytes));
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> field_reader::choice(
  std::string_view name, std::initializer_list<std::string_view> among) {
  return choice(name, std::span{among.begin(), among.size()});
}

std::optional<std::string> field_reader::choice(
  std::string_view name, std::span<const std::string_view> among) {
  const auto* x = find(name);
  if (x == nullptr)
    return std::nullopt;
  std::string all;
  for (const auto one : among) {
    if (*x == one)
      return std::string{one};
    all += (all.empty() ? "" : ", ") + std::string{one};
  }
  refuse(name, fmt::format("{} {} is not one of {}", name, shown(*x), all));
  return std::nullopt;
}

std::optional<int64_t> field_reader::whole(std::string_view name, int64_t least,
                                           int64_t most) {
  const auto* x = find(name);
  if (x == nullptr)
    return std::nullopt;
  const auto v = value_of(*x);
  std::optional<int64_t> value;
  if (v.is_number_unsigned()) {
    if (v.get<uint64_t>() <= INT64_MAX)
      value = static_cast<int64_t>(v.get<uint64_t>());
  } else if (v.is_number_integer()) {
    value = v.get<int64_t>();
  } else if (v.is_number_float()) {
    // Some clients have only one type of number.
    constexpr double exact = 9'007'199'254'740'992;
    const auto real = v.get<double>();
    if (std::abs(real) <= exact && real == std::floor(real))
      value = static_cast<int64_t>(real);
  }
  if (value && *value >= least && *value <= most)
    return value;
  refuse(name, fmt::format("{} {} is not a whole number in {}..{}", name,
                           shown(*x), least, most));
  return std::nullopt;
}

std::optional<double> field_reader::real(std::string_view name, double least,
                                         double most) {
  const auto* x = find(name);
  if (x == nullptr)
    return std::nullopt;
  const auto v = value_of(*x);
  if (v.is_number())
    if (const auto value = v.get<double>(); value >= least && value <= most)
      return value;
  refuse(name, fmt::format("{} {} is not a number in {:g}..{:g}", name,
                           shown(*x), least, most));
  return std::nullopt;
}

std::optional<bool> field_reader::flag(std::string_view name) {
  const auto* x = find(name);
  if (x == nullptr)
    return std::nullopt;
  const auto v = value_of(*x);
  if (v.is_boolean())
    return v.get<bool>();
  refuse(name, fmt::format("{} {} is neither true nor false", name, shown(*x)));
  return std::nullopt;
}

std::optional<uint64_t> field_reader::seed(std::string_view name) {
  const auto* x = find(name);
  if (x == nullptr)
    return std::nullopt;
  const auto v = value_of(*x);
  if (v.is_number_unsigned())
    return v.get<uint64_t>();
  if (v.is_number() && v == -1)
    return std::nullopt;
  if (v.is_number_float()) {
    const auto got = whole(name, -1, 1ll << 53);
    return got ? std::optional{static_cast<uint64_t>(*got)} : std::nullopt;
  }
  refuse(name, fmt::format("{} {} is not a whole number in -1..{}", name,
                           shown(*x), UINT64_MAX));
  return std::nullopt;
}

std::vector<uint8_t> field_reader::file(std::string_view name,
                                        uint64_t most_bytes) {
  const auto x = take(name);
  if (x.is_null())
    return {};
  if (!x.is_string()) {
    refuse(name, fmt::format("{} {} is not an image in base64 or a data URL",
                             name, shown(x)));
    return {};
  }
  auto got = from_image_text(name, x.get_ref<const std::string&>(), most_bytes);
  if (!got)
    refuse(name, got.why().text);
  else if (got->empty())
    refuse(name,
           fmt::format("{} is empty: leave it out or send an image", name));
  else
    return std::move(*got);
  return {};
}

void field_reader::only(std::string_view name,
                        std::initializer_list<json> values) {
  const auto* x = find(name);
  if (x == nullptr)
    return;
  const auto v = value_of(*x);
  std::string all;
  for (const auto& one : values) {
    if (v == one || *x == one)
      return;
    all += (all.empty() ? "" : ", ") + shown(one);
  }
  refuse(name, fmt::format("{} {} is not supported; {}", name, shown(*x),
                           all.empty() ? std::string{"leave it out"}
                                       : "it can be " + all));
}

void field_reader::hint(std::string_view api) {
  for (const auto& x : hints())
    if (x.api == api)
      hint(x);
}

void field_reader::hint(const detail::hint& x) {
  const auto* value = find(x.field);
  if (value == nullptr)
    return;
  const auto v = value_of(*value);
  if (!x.takes(v))
    return refuse(x.field, fmt::format("{} {} is not supported; it can be {}",
                                       x.field, shown(*value), x.values));
  if (!x.is_quiet(v))
    notes_.push_back(fmt::format("{} {}: {}", x.field, shown(v), x.note));
}

void field_reader::ignore(std::initializer_list<std::string_view> names) {
  for (const auto name : names)
    if (const auto* x = find(name); x != nullptr)
      if (const auto bytes = bytes_of(*x); bytes > most_unused_bytes)
        refuse(name, fmt::format("{} has {} bytes, outside 0..{}", name, bytes,
                                 most_unused_bytes));
}

void field_reader::bound_all_but(
  std::initializer_list<std::string_view> others) {
  uint64_t sum = 0;
  uint64_t most = 0;
  std::string_view largest;
  for (const auto& [key, value] : object_.items()) {
    if (std::find(others.begin(), others.end(), key) != others.end())
      continue;
    const auto bytes = key.size() + bytes_of(value);
    sum += bytes;
    if (bytes > most) {
      most = bytes;
      largest = key;
    }
  }
  largest = largest.substr(0, 60);
  if (sum > most_unused_bytes)
    refuse(largest,
           fmt::format("{} has {} bytes, and the fields beside prompts "
                       "and images {}, outside 0..{}",
                       largest, most, sum, most_unused_bytes));
}

void field_reader::no_others() {
  for (const auto& [key, value] : object_.items())
    if (!known_.contains(key))
      refuse(key.substr(0, 60),
             fmt::format("{} is not a field of this call", key.substr(0, 60)));
}

} // namespace atelier::runtime::http::detail
