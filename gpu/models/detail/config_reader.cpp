// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/detail/config_reader.hpp>
#include <atelier/gpu/models/detail/printable.hpp>

#include <fmt/format.h>

namespace atelier::gpu::detail {

namespace {

using nlohmann::json;

constexpr int64_t most = int64_t{1} << 24;
constexpr size_t most_values = 64;

std::string shown(const json& x) {
  return printable(x.dump(-1, ' ', false, json::error_handler_t::replace));
}

} // namespace

const json* config_reader::find(const char* key) const {
  const auto i = object_.find(key);
  return i == object_.end() || i->is_null() ? nullptr : &*i;
}

bool config_reader::has(const char* key) const {
  return find(key) != nullptr;
}

bool config_reader::names(const char* key) const {
  return object_.contains(key);
}

void config_reader::fault(const char* key, std::string_view what) {
  if (!fault_)
    fault_ = core::fail(core::ec::bad_config, "{}: {}: {}", where_, key, what);
}

int64_t config_reader::checked(const char* key, const json& x) {
  if (x.is_number_integer()) {
    const auto value = x.get<int64_t>();
    if (value >= 1 && value <= most)
      return value;
  }
  fault(key, fmt::format("{} is not a whole number in 1..{}", shown(x), most));
  return 1;
}

int64_t config_reader::whole(const char* key, std::optional<int64_t> fallback) {
  if (const auto* x = find(key))
    return checked(key, *x);
  if (!fallback)
    fault(key, "is missing");
  return fallback.value_or(1);
}

std::vector<int64_t> config_reader::wholes(const char* key,
                                           std::optional<size_t> count,
                                           std::optional<int64_t> fallback) {
  const auto* x = find(key);
  if (x == nullptr || x->is_number()) {
    if (count)
      return std::vector<int64_t>(*count, whole(key, fallback));
    fault(key, "is missing, or not a list");
    return {};
  }
  if (!x->is_array() || x->empty() || x->size() > most_values
      || (count && x->size() != *count)) {
    fault(key, fmt::format("{} is not a list of {} numbers", shown(*x),
                           count ? std::to_string(*count) : "1..64"));
    return std::vector<int64_t>(count.value_or(1), 1);
  }
  std::vector<int64_t> out;
  for (const auto& value : *x)
    out.push_back(checked(key, value));
  return out;
}

std::vector<std::string> config_reader::words(const char* key) {
  const auto* x = find(key);
  if (x == nullptr || !x->is_array() || x->empty() || x->size() > most_values) {
    fault(key, "is missing, or not a list of 1..64 words");
    return {};
  }
  std::vector<std::string> out;
  for (const auto& value : *x) {
    if (!value.is_string())
      fault(key, fmt::format("{} is not a word", shown(value)));
    out.push_back(value.is_string() ? value.get<std::string>() : "");
  }
  return out;
}

bool config_reader::flag(const char* key, bool fallback) {
  const auto* x = find(key);
  if (x == nullptr)
    return fallback;
  if (!x->is_boolean())
    fault(key, fmt::format("{} is neither true nor false", shown(*x)));
  return x->is_boolean() && x->get<bool>();
}

std::optional<std::string> config_reader::word(const char* key) {
  const auto* x = find(key);
  if (x == nullptr)
    return std::nullopt;
  if (!x->is_string())
    fault(key, fmt::format("{} is not a word", shown(*x)));
  return x->is_string() ? x->get<std::string>() : "";
}

void config_reader::expect(const char* key, const json& value) {
  if (const auto* x = find(key); x != nullptr && *x != value)
    fault(key,
          fmt::format("{} is not known here; {} is", shown(*x), shown(value)));
}

} // namespace atelier::gpu::detail
