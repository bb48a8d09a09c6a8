// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/json_text.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning::detail {

using json = nlohmann::ordered_json;

inline constexpr size_t most_faults = 100;
inline constexpr double day_ms = 86'400'000;
inline constexpr uint64_t most_samples = 1'000'000'000;

/// Returns the nearest nanosecond, so that written values are read unchanged.
inline core::timespan span_of_ms(double ms) {
  return core::timespan{std::llround(ms * 1e6)};
}

/// Reads fields, and collects their faults.
class json_reader {
public:
  explicit json_reader(std::string_view where) : where_(where) {}

  size_t faults() const {
    return faults_.size();
  }

  core::error why() const {
    core::error out{core::ec::bad_payload, {}};
    for (const auto& x : faults_)
      out.text += (out.text.empty() ? "" : "\n") + x;
    return out;
  }

  void complain(const std::string& at, std::string_view what) {
    if (faults_.size() < most_faults)
      faults_.push_back(fmt::format("{}: {}: {}", where_, at, what));
    else if (faults_.size() == most_faults)
      faults_.push_back(fmt::format("{}: more faults follow", where_));
  }

  /// Reports the keys of `x` that are not among `known`.
  void expect_keys(const json& x, const std::string& at,
                   const std::set<std::string_view>& known) {
    for (const auto& [key, value] : x.items())
      if (!known.contains(key))
        complain(fmt::format("{}.{}", at, key), "is not a known key");
  }

  const json* find(const json& x, const std::string& at, const char* key,
                   bool needed) {
    const auto i = x.find(key);
    if (i != x.end())
      return &*i;
    if (needed)
      complain(at + "." + key, "is missing");
    return nullptr;
  }

  template <class T>
  void whole(const json& x, const std::string& at, const char* key,
             uint64_t least, uint64_t most, T& into, bool needed = true) {
    const auto* v = find(x, at, key, needed);
    if (v == nullptr)
      return;
    if (v->is_number_unsigned() && v->get<uint64_t>() >= least
        && v->get<uint64_t>() <= most)
      into = static_cast<T>(v->get<uint64_t>());
    else
      complain(at + "." + key, fmt::format("{} is not a whole number in {}..{}",
                                           shown(*v), least, most));
  }

  template <class T>
  void real(const json& x, const std::string& at, const char* key, double least,
            double most, T& into, bool needed = true) {
    const auto* v = find(x, at, key, needed);
    if (v == nullptr)
      return;
    const double value = v->is_number() ? v->get<double>() : std::nan("");
    if (value >= least && value <= most)
      into = static_cast<T>(value);
    else
      complain(at + "." + key, fmt::format("{} is not a number in {}..{}",
                                           shown(*v), least, most));
  }

  void span(const json& x, const std::string& at, const char* key,
            core::timespan& into, bool needed = false) {
    double ms = core::to_ms(into);
    real(x, at, key, 0, day_ms, ms, needed);
    into = span_of_ms(ms);
  }

  /// Reads the number of images behind `mean`, and their deviation.
  void images(const json& x, const std::string& at, const char* count,
              const char* deviation, double mean, uint32_t& images,
              double& by) {
    whole(x, at, count, 1, most_samples, images, false);
    real(x, at, deviation, 0, 1e6, by, false);
    if (images == 0 && by != 0)
      complain(at + "." + deviation, fmt::format("needs {}", count));
    if (images != 0 && by == 0 && !(mean >= 0 && mean <= 1))
      complain(at + "." + deviation,
               "is missing: only means in 0..1 do without");
  }

  static std::string shown(const json& x) {
    auto text = core::ascii_json_text(x);
    if (text.size() > 60)
      text = text.substr(0, 57) + "...";
    return text;
  }

protected:
  std::string_view where_;

private:
  std::vector<std::string> faults_;
};

inline json ms_of(core::timespan x) {
  return core::to_ms(x);
}

/// The limits of a document: the resulting objects stay below 1 GiB.
inline constexpr size_t most_values = 8'000'000;
inline constexpr size_t most_keys = 1'024;
inline constexpr size_t most_depth = 64;

/// Parses a file's text: a JSON object without duplicate keys.
/// Errors: ec::bad_payload, with `where` and, if known, the line.
core::result<json> parse_document(std::string_view text, std::string_view where,
                                  size_t most_bytes = size_t{64} << 20);

/// Reports a document with another format or version.
inline void expect_format(json_reader& r, const json& document,
                          const std::string& at, std::string_view format,
                          uint64_t version) {
  if (const auto* x = r.find(document, at, "format", true))
    if (*x != format)
      r.complain(at + ".format", fmt::format("{} is not \"{}\"",
                                             json_reader::shown(*x), format));
  if (const auto* x = r.find(document, at, "version", true))
    if (*x != version)
      r.complain(at + ".version",
                 fmt::format("{} is not {}", json_reader::shown(*x), version));
}

} // namespace atelier::planning::detail
