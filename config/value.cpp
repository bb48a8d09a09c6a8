// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/core_set.hpp>
#include <atelier/config/detail/number.hpp>
#include <atelier/config/detail/text.hpp>
#include <atelier/config/detail/variant_name.hpp>
#include <atelier/config/device_kind.hpp>
#include <atelier/config/endpoint.hpp>
#include <atelier/config/network.hpp>
#include <atelier/config/schema.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace atelier::config {

namespace {

std::string number_demand(const option& x) {
  const bool whole =
    kind_of(x) == kind::integer || unit_of(x).suffix == "_bytes";
  auto text =
    fmt::format("a {}number in {}..{}", whole ? "whole " : "", x.least, x.most);
  if (const auto& u = unit_of(x); !u.name.empty())
    text += fmt::format(" ({})", u.name);
  if (x.shape == form::multiple_of_64)
    text += ", a multiple of 64 bytes";
  if (x.shape == form::power_of_two)
    text += ", a power of two";
  return text;
}

std::string choice_demand(const option& x) {
  std::string text = "one of";
  for (const auto& choice : x.choices)
    text += fmt::format("{} \"{}\"", text.back() == 'f' ? "" : ",", choice);
  return text;
}

bool is_device_name(std::string_view x) {
  for (const std::string_view family : {"cpu:", "cuda:"})
    if (x.starts_with(family)) {
      const auto number = x.substr(family.size());
      return number.size() <= 3 && detail::parse_whole(number).has_value();
    }
  return false;
}

bool well_formed(const option& x, uint64_t value) {
  switch (x.shape) {
    case form::multiple_of_64:
      return value % 64 == 0;
    case form::power_of_two:
      return std::has_single_bit(value);
    default:
      return true;
  }
}

bool well_formed(const option& x, const std::string& value) {
  if (!detail::is_plain(value))
    return false;
  if (!x.choices.empty())
    return std::find(x.choices.begin(), x.choices.end(), value)
        != x.choices.end();
  switch (x.shape) {
    case form::nonempty:
    case form::nonempty_path:
      return !value.empty();
    case form::device_name:
      return is_device_name(value);
    case form::endpoint:
      return parse_listen(value).has_value();
    case form::core_set:
      return value.empty() || parse_core_set(value).has_value();
    case form::kind_name:
      return value.empty() || is_kind_name(value);
    default:
      return true;
  }
}

std::string element_demand(const option& x) {
  if (x.shape == form::origin_list)
    return "http://HOST[:PORT] or https://HOST[:PORT], in lower case";
  if (x.shape == form::network_list)
    return "ADDRESS or ADDRESS/BITS of IPv4 or IPv6";
  return fmt::format("NAME@STEPS or NAME@STEPS/TYPE, TYPE {}",
                     detail::element_types_text());
}

bool element_is_well_formed(const option& x, const std::string& item) {
  if (x.shape == form::network_list)
    return parse_network(item).has_value();
  return x.shape == form::origin_list ? is_origin(item)
                                      : detail::parse_variant(item).has_value();
}

/// Returns the first invalid element; null if all are valid.
const std::string* bad_element(const option& x,
                               const std::vector<std::string>& list) {
  const auto at =
    std::find_if_not(list.begin(), list.end(), [&](const auto& item) {
      return element_is_well_formed(x, item);
    });
  return at == list.end() ? nullptr : &*at;
}

bool within(const option& x, double in_unit) {
  // Written so that NaN is outside.
  return in_unit >= x.least && in_unit <= x.most;
}

/// Returns whether the value is valid, for each type that a place can hold.
struct checker {
  const option& x;

  template <class T>
  bool operator()(const T* at) const {
    if constexpr (std::is_floating_point_v<T>)
      return within(x, static_cast<double>(*at));
    else
      return within(x, static_cast<double>(*at) / unit_of(x).scale)
          && well_formed(x, *at);
  }

  bool operator()(const core::timespan* at) const {
    return within(x, static_cast<double>(at->count()) / unit_of(x).scale);
  }

  bool operator()(const process_mode* at) const {
    return static_cast<size_t>(*at) < x.choices.size();
  }

  bool operator()(const std::string* at) const {
    return well_formed(x, *at);
  }

  bool operator()(const std::vector<std::string>* at) const {
    return at->size() <= detail::most_variants && !bad_element(x, *at);
  }
};

/// Returns the value as TOML, for each type that a place can hold.
struct printer {
  const option& x;

  template <class T>
  std::string operator()(const T* at) const {
    if constexpr (std::is_floating_point_v<T>)
      return fmt::format("{}", *at);
    else
      return detail::number_text(*at, unit_of(x).scale);
  }

  std::string operator()(const core::timespan* at) const {
    return detail::number_text(at->count(), unit_of(x).scale);
  }

  std::string operator()(const process_mode* at) const {
    const auto i = static_cast<size_t>(*at);
    return i < x.choices.size() ? detail::quote(x.choices[i])
                                : fmt::format("{}", i);
  }

  std::string operator()(const std::string* at) const {
    return detail::quote(*at);
  }

  std::string operator()(const std::vector<std::string>* at) const {
    std::string text = "[";
    for (const auto& item : *at)
      text += (text.size() == 1 ? "" : ", ") + detail::quote(item);
    return text + "]";
  }
};

} // namespace

std::string demand_of(const option& x) {
  switch (kind_of(x)) {
    case kind::integer:
    case kind::duration:
    case kind::byte_size:
    case kind::real:
      return number_demand(x);
    case kind::choice:
      return choice_demand(x);
    case kind::text_list:
      return fmt::format("a list of at most {} texts {}", detail::most_variants,
                         element_demand(x));
    case kind::text:
      break;
  }
  switch (x.shape) {
    case form::nonempty:
    case form::nonempty_path:
      return "a text of at least one character";
    case form::endpoint:
      return "HOST:PORT, :PORT or PORT, with PORT in 0..65535";
    case form::device_name:
      return "\"cpu:N\" or \"cuda:N\" with N in 0..999";
    case form::core_set:
      return fmt::format("numbers in 0..{} and ranges of them, as \"0-3,6\", "
                         "each once",
                         most_cores - 1);
    case form::kind_name:
      return "a name of 1..64 of the characters a-z, A-Z, 0-9, ., _ and -";
    default:
      return "a text";
  }
}

std::optional<std::string> fault_of(const option& x, const place& where) {
  if (std::visit(checker{x}, where))
    return std::nullopt;
  auto* const* const list = std::get_if<std::vector<std::string>*>(&where);
  if (list != nullptr && (*list)->size() <= detail::most_variants)
    return fmt::format("{} is not {}",
                       detail::shorten(detail::quote(*bad_element(x, **list))),
                       element_demand(x));
  return fmt::format("{} is not {}", detail::shorten(value_text(x, where)),
                     demand_of(x));
}

std::string value_text(const option& x, const place& where) {
  return std::visit(printer{x}, where);
}

} // namespace atelier::config
