// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/detail/assign.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace atelier::config::detail {

namespace {

/// Returns the number in the unit of the settings, where it lies in the range.
std::optional<double> scaled_number(const option& x, const node& from) {
  double number = 0;
  if (const auto* whole = std::get_if<int64_t>(&from.value))
    number = static_cast<double>(*whole);
  else if (const auto* real = std::get_if<double>(&from.value))
    number = *real;
  else
    return std::nullopt;
  // Written so that NaN is outside.
  if (!(number >= x.least && number <= x.most))
    return std::nullopt;
  return number * unit_of(x).scale;
}

/// Reads a value for each type that a place can hold. The ranges keep every
/// number below 2^53, so that doubles are exact.
struct converter {
  const option& x;
  const node& from;

  template <class T>
  std::optional<T> number() const {
    const auto value = scaled_number(x, from);
    if (!value)
      return std::nullopt;
    if constexpr (std::is_integral_v<T>) {
      // A fraction of a KiB is rounded to bytes, as one of a second to
      // nanoseconds.
      if (unit_of(x).scale != 1)
        return static_cast<T>(std::llround(*value));
      if (!std::holds_alternative<int64_t>(from.value))
        return std::nullopt;
    }
    return static_cast<T>(*value);
  }

  std::optional<core::timespan> span() const {
    const auto value = scaled_number(x, from);
    if (!value)
      return std::nullopt;
    return core::timespan{std::llround(*value)};
  }

  std::optional<process_mode> mode() const {
    const auto* text = std::get_if<std::string>(&from.value);
    const auto at = text ? std::find(x.choices.begin(), x.choices.end(), *text)
                         : x.choices.end();
    if (at == x.choices.end())
      return std::nullopt;
    return static_cast<process_mode>(at - x.choices.begin());
  }

  std::optional<std::vector<std::string>> texts() const {
    const auto* items = std::get_if<list>(&from.value);
    if (!items)
      return std::nullopt;
    std::vector<std::string> result;
    for (const auto& item : *items) {
      const auto* text = std::get_if<std::string>(&item.value);
      if (!text)
        return std::nullopt;
      result.push_back(*text);
    }
    return result;
  }

  bool operator()(core::timespan* to) const {
    return store(span(), to);
  }

  bool operator()(process_mode* to) const {
    return store(mode(), to);
  }

  bool operator()(std::string* to) const {
    // A port alone reads as a number.
    if (const auto* port = std::get_if<int64_t>(&from.value);
        port && x.shape == form::endpoint)
      return store(std::optional{fmt::format("{}", *port)}, to);
    const auto* text = std::get_if<std::string>(&from.value);
    return text && store(std::optional{*text}, to);
  }

  bool operator()(std::vector<std::string>* to) const {
    return store(texts(), to);
  }

  template <class T>
  bool operator()(T* to) const {
    return store(number<T>(), to);
  }

  /// Stores a value that is also of the form that the option demands.
  template <class T>
  bool store(std::optional<T> value, T* to) const {
    if (!value || fault_of(x, &*value))
      return false;
    *to = std::move(*value);
    return true;
  }
};

} // namespace

bool assign(const option& x, const node& from, const place& to) {
  return std::visit(converter{x, from}, to);
}

std::string refusal_of(const option& x, const node& from) {
  const auto whole = fmt::format("{} is not {}", describe(from), demand_of(x));
  const auto* const items = std::get_if<list>(&from.value);
  if (kind_of(x) != kind::text_list || items == nullptr)
    return whole;
  for (const auto& item : *items)
    if (!std::holds_alternative<std::string>(item.value))
      return fmt::format("the element {} is not a text; this is {}",
                         describe(item), demand_of(x));
  auto texts = *converter{x, from}.texts();
  return fault_of(x, &texts).value_or(whole);
}

} // namespace atelier::config::detail
