// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/detail/plan_fields.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace atelier::planning::detail {

namespace {

/// The error of the sum of shares that were rounded by hand.
constexpr double rounding = 1.001e-3;

} // namespace

json rows_json(std::span<const std::vector<double>> rows) {
  auto out = json::array();
  for (const auto& parts : rows) {
    auto one = json::object();
    for (size_t r = 0; r < parts.size(); ++r)
      if (parts[r] != 0)
        one[std::to_string(r)] = parts[r];
    out.push_back(std::move(one));
  }
  return out;
}

const json* plan_fields::list(const json& x, const std::string& at,
                              const char* key, bool needed, size_t least,
                              size_t most) {
  const auto* found = find(x, at, key, needed);
  if (found == nullptr)
    return nullptr;
  if (found->is_array() && found->size() >= least && found->size() <= most)
    return found;
  complain(
    fmt::format("{}.{}", at, key),
    fmt::format("{} is not a list of {}..{}", shown(*found), least, most));
  return nullptr;
}

bool plan_fields::object(const json& x, const std::string& at) {
  if (!x.is_object())
    complain(at, fmt::format("{} is not an object", shown(x)));
  return x.is_object();
}

std::string plan_fields::text(const json& x, const std::string& at,
                              const char* key) {
  const auto* found = find(x, at, key, true);
  if (found == nullptr)
    return {};
  constexpr size_t longest = 200;
  if (found->is_string() && !found->get_ref<const std::string&>().empty()
      && found->get_ref<const std::string&>().size() <= longest)
    return found->get<std::string>();
  complain(
    fmt::format("{}.{}", at, key),
    fmt::format("{} is not a text of 1..{} bytes", shown(*found), longest));
  return {};
}

void plan_fields::flag(const json& x, const std::string& at, const char* key,
                       bool& into) {
  const auto* found = find(x, at, key, false);
  if (found == nullptr)
    return;
  if (found->is_boolean())
    into = found->get<bool>();
  else
    complain(fmt::format("{}.{}", at, key),
             fmt::format("{} is neither true nor false", shown(*found)));
}

std::vector<core::variant_id> plan_fields::variants(const json& x,
                                                    const std::string& at,
                                                    const char* key,
                                                    bool needed, size_t least) {
  std::vector<core::variant_id> out;
  const auto* names = list(x, at, key, needed, least, known_.variants.size());
  for (size_t i = 0; names != nullptr && i < names->size(); ++i) {
    const auto& name = (*names)[i];
    std::optional<core::variant_id> found;
    for (uint32_t v = 0; v < known_.variants.size() && name.is_string(); ++v)
      if (known_.variants[v].name == name.get_ref<const std::string&>())
        found = core::variant_id{v};
    const auto here = fmt::format("{}.{}[{}]", at, key, i);
    if (!found) {
      std::vector<std::string_view> all;
      for (const auto& v : known_.variants)
        all.push_back(v.name);
      complain(here, fmt::format("{} is not a variant of the profile, which "
                                 "has {}",
                                 shown(name), fmt::join(all, ", ")));
    } else if (std::find(out.begin(), out.end(), *found) != out.end()) {
      complain(here, fmt::format("{} occurs twice", shown(name)));
    } else {
      out.push_back(*found);
    }
  }
  return out;
}

std::vector<uint32_t> plan_fields::wholes(const json& x, const std::string& at,
                                          const char* key, uint64_t most,
                                          bool needed) {
  std::vector<uint32_t> out;
  const auto* all = list(x, at, key, needed, 0, most_numbers);
  for (size_t i = 0; all != nullptr && i < all->size(); ++i) {
    const auto& n = (*all)[i];
    if (n.is_number_unsigned() && n.get<uint64_t>() <= most)
      out.push_back(static_cast<uint32_t>(n.get<uint64_t>()));
    else
      complain(
        fmt::format("{}.{}[{}]", at, key, i),
        fmt::format("{} is not a whole number in 0..{}", shown(n), most));
  }
  return out;
}

std::vector<double> plan_fields::reals(const json& x, const char* key,
                                       double least, double most,
                                       bool unbounded) {
  std::vector<double> out;
  const auto* all = list(x, "plan", key, false, 0, most_numbers);
  for (size_t i = 0; all != nullptr && i < all->size(); ++i) {
    const auto& n = (*all)[i];
    if (n.is_null() && unbounded) {
      out.push_back(std::numeric_limits<double>::infinity());
      continue;
    }
    const double value = n.is_number() ? n.get<double>() : std::nan("");
    if (value >= least && value <= most)
      out.push_back(value);
    else
      complain(
        fmt::format("{}[{}]", key, i),
        fmt::format("{} is not a number in {}..{}", shown(n), least, most));
  }
  return out;
}

void plan_fields::rising(const std::vector<uint32_t>& x,
                         const std::string& at) {
  if (std::adjacent_find(x.begin(), x.end(), std::greater_equal<>{}) != x.end())
    complain(at, "does not rise");
}

std::vector<double> plan_fields::row(const json& x, const std::string& at,
                                     std::span<const route> routes) {
  std::vector<double> out(routes.size(), 0.0);
  if (!object(x, at))
    return out;
  const auto before = faults();
  double sum = 0;
  for (const auto& [key, part] : x.items()) {
    size_t index = 0;
    const auto end = key.data() + key.size();
    const auto read = std::from_chars(key.data(), end, index);
    const auto here = fmt::format("{}.{}", at, key);
    if (read.ec != std::errc{} || read.ptr != end || index >= out.size()
        || key != std::to_string(index)) {
      complain(here, fmt::format("is not the number of a route, 0..{}",
                                 out.size() - 1));
      continue;
    }
    const double value = part.is_number() ? part.get<double>() : std::nan("");
    if (!(value >= 0 && value <= 1 + 1e-9)) {
      complain(here, fmt::format("{} is not a number in 0..1", shown(part)));
      continue;
    }
    if (value > 0 && routes[index].legs.empty())
      complain(here, "has a share of a route without stages");
    out[index] = value;
    sum += value;
  }
  if (faults() == before && !(std::abs(sum - 1) <= rounding))
    complain(at, fmt::format("sums to {}, not to 1", sum));
  return out;
}

std::vector<std::vector<double>> plan_fields::rows(
  const json& x, const std::string& at, const char* key, bool needed,
  std::span<const route> routes) {
  std::vector<std::vector<double>> out;
  const auto* all = list(x, at, key, needed, 0, most_classes);
  for (size_t i = 0; all != nullptr && !routes.empty() && i < all->size(); ++i)
    out.push_back(row((*all)[i], fmt::format("{}.{}[{}]", at, key, i), routes));
  return out;
}

core::result<void> expect_nothing(const saved_memory& from) {
  const auto x = parse_document(from.json, from.file);
  if (!x)
    return x.why();
  json_reader r{from.file};
  r.expect_keys(*x, "memory", {});
  if (r.faults() != 0)
    return r.why();
  return {};
}

} // namespace atelier::planning::detail
