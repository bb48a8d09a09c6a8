// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/detail/config_fields.hpp>
#include <atelier/gpu/models/detail/json_file.hpp>

#include <fmt/ranges.h>

#include <limits>

namespace atelier::gpu::detail {

namespace {

// A value as it stands in a message: short, whatever stands in the file.
std::string shown(const nlohmann::json& x) {
  constexpr size_t longest = 80;
  auto text = x.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > longest) {
    text.resize(longest);
    text += "...";
  }
  return text;
}

} // namespace

std::optional<int64_t> as_whole(const nlohmann::json& x) {
  if (x.is_number_unsigned()) {
    const auto value = x.get<uint64_t>();
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return static_cast<int64_t>(value);
  } else if (x.is_number_integer()) {
    return x.get<int64_t>();
  }
  return std::nullopt;
}

config_fields::config_fields(std::string_view text, std::string file)
  : file_(std::move(file)) {
  // What nests deeply would be written and freed by recursion.
  auto parsed = parse_object(text, file_);
  if (parsed)
    content_ = std::move(*parsed);
  else
    why_ = core::fail(core::ec::bad_config, "{}", parsed.why().text);
}

const nlohmann::json* config_fields::find(std::string_view key) {
  known_.emplace(key);
  if (!content_.is_object())
    return nullptr;
  const auto i = content_.find(key);
  return i == content_.end() || i->is_null() ? nullptr : &*i;
}

bool config_fields::absent(std::string_view key) const {
  return !content_.is_object() || !content_.contains(key);
}

void config_fields::refuse(std::string_view key, const nlohmann::json& value,
                           std::string_view allowed) {
  if (!why_)
    why_ =
      core::fail(core::ec::bad_config, "{}: {} = {} is not supported; it is {}",
                 file_, key, shown(value), allowed);
}

bool config_fields::flag(std::string_view key, bool fallback) {
  const auto* x = find(key);
  if (x == nullptr)
    return fallback;
  if (x->is_boolean())
    return x->get<bool>();
  refuse(key, *x, "true or false");
  return fallback;
}

int64_t config_fields::whole(std::string_view key, int64_t fallback,
                             int64_t least, int64_t most) {
  if (const auto x = optional_whole(key, least, most))
    return *x;
  if (!absent(key) && !why_)
    refuse(key, nullptr, fmt::format("a whole number in {}..{}", least, most));
  return fallback;
}

std::optional<int64_t> config_fields::optional_whole(std::string_view key,
                                                     int64_t least,
                                                     int64_t most) {
  const auto* x = find(key);
  if (x == nullptr)
    return std::nullopt;
  const auto value = as_whole(*x);
  if (value && *value >= least && *value <= most)
    return value;
  refuse(key, *x, fmt::format("a whole number in {}..{}", least, most));
  return std::nullopt;
}

double config_fields::number(std::string_view key, double fallback,
                             double least, double most) {
  const auto* x = find(key);
  if (x == nullptr) {
    if (!absent(key))
      refuse(key, nullptr, fmt::format("a number in {}..{}", least, most));
    return fallback;
  }
  if (x->is_number()) {
    const auto value = x->get<double>();
    if (value >= least && value <= most)
      return value;
  }
  refuse(key, *x, fmt::format("a number in {}..{}", least, most));
  return fallback;
}

std::string config_fields::choice(
  std::string_view key, std::string_view fallback,
  std::initializer_list<std::string_view> allowed) {
  auto x = optional_choice(key, allowed);
  if (!x && !absent(key) && !why_)
    refuse(key, nullptr, fmt::format("{}", fmt::join(allowed, " or ")));
  return x ? std::move(*x) : std::string{fallback};
}

std::optional<std::string> config_fields::optional_choice(
  std::string_view key, std::initializer_list<std::string_view> allowed) {
  const auto* x = find(key);
  if (x == nullptr)
    return std::nullopt;
  if (x->is_string())
    for (const auto name : allowed)
      if (x->get_ref<const std::string&>() == name)
        return std::string{name};
  refuse(key, *x, fmt::format("{}", fmt::join(allowed, " or ")));
  return std::nullopt;
}

void config_fields::only(std::string_view key, const nlohmann::json& allowed) {
  const auto* x = find(key);
  if (x != nullptr && *x != allowed)
    refuse(key, *x, allowed.is_null() ? "null" : shown(allowed));
}

void config_fields::ignore(std::initializer_list<std::string_view> keys) {
  for (const auto key : keys)
    known_.emplace(key);
}

core::result<void> config_fields::finish() const {
  if (why_)
    return *why_;
  for (const auto& [key, value] : content_.items())
    if (!known_.contains(key))
      return core::fail(core::ec::bad_config, "{}: {} = {} is not a known key",
                        file_, key, shown(value));
  return {};
}

} // namespace atelier::gpu::detail
