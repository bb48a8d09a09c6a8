// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/demand_file.hpp>
#include <atelier/planning/json_reader.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace atelier::planning {

namespace {

using detail::json;
using detail::json_reader;

constexpr size_t most_windows = 100'000;
constexpr uint64_t most_count = 1'000'000'000'000;
constexpr uint64_t most_entries = 4'096;
constexpr uint32_t most_steps = 10'000;

/// Reads a list of counts; if it is absent, the result is empty.
std::vector<uint64_t> counts(json_reader& r, const json& x,
                             const std::string& at, const char* key) {
  std::vector<uint64_t> out;
  const auto* list = r.find(x, at, key, false);
  if (list == nullptr)
    return out;
  const auto here = fmt::format("{}.{}", at, key);
  if (!list->is_array() || list->size() > most_entries) {
    r.complain(here,
               fmt::format("is not a list of at most {} counts", most_entries));
    return out;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    const json& n = (*list)[i];
    if (n.is_number_unsigned() && n.get<uint64_t>() <= most_count)
      out.push_back(n.get<uint64_t>());
    else
      r.complain(fmt::format("{}[{}]", here, i),
                 fmt::format("{} is not a whole number in 0..{}",
                             json_reader::shown(n), most_count));
  }
  return out;
}

// The maximum surplus or deficit of a window, in images.
constexpr double most_extra = 1e12;

std::vector<double> reals(json_reader& r, const json& x, const std::string& at,
                          const char* key) {
  std::vector<double> out;
  const auto* list = r.find(x, at, key, false);
  if (list == nullptr)
    return out;
  const auto here = fmt::format("{}.{}", at, key);
  if (!list->is_array() || list->size() > most_entries) {
    r.complain(
      here, fmt::format("is not a list of at most {} numbers", most_entries));
    return out;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    const json& n = (*list)[i];
    if (n.is_number() && std::abs(n.get<double>()) <= most_extra)
      out.push_back(n.get<double>());
    else
      r.complain(fmt::format("{}[{}]", here, i),
                 fmt::format("{} is not a number in {}..{}",
                             json_reader::shown(n), -most_extra, most_extra));
  }
  return out;
}

void read_predicted(json_reader& r, const json& x, const std::string& at,
                    demand_window& w) {
  const auto* all = r.find(x, at, "predicted", false);
  if (all == nullptr)
    return;
  if (!all->is_object()) {
    r.complain(at + ".predicted", "is not an object of lists by ladder");
    return;
  }
  // A profile identifies ladders by index.
  for (const auto& [ladder, list] : all->items()) {
    const auto here = at + ".predicted";
    const bool number =
      ladder.size() == 1 && ladder[0] >= '0' && ladder[0] < '8';
    if (!number) {
      r.complain(fmt::format("{}.{}", here, ladder),
                 "is not the index of a ladder, 0..7");
      continue;
    }
    const auto at_ladder = static_cast<size_t>(ladder[0] - '0');
    if (w.predicted.size() <= at_ladder)
      w.predicted.resize(at_ladder + 1);
    w.predicted[at_ladder] = counts(r, *all, here, ladder.c_str());
  }
}

// Reads an object of counts by steps.
std::vector<std::pair<uint32_t, uint64_t>> by_steps(json_reader& r,
                                                    const json& x,
                                                    const std::string& at,
                                                    const char* key) {
  std::vector<std::pair<uint32_t, uint64_t>> out;
  const auto* all = r.find(x, at, key, false);
  if (all == nullptr)
    return out;
  const auto here = fmt::format("{}.{}", at, key);
  if (!all->is_object()) {
    r.complain(here, "is not an object of counts by steps");
    return out;
  }
  for (const auto& [name, n] : all->items()) {
    uint32_t steps = 0;
    const auto end = name.data() + name.size();
    const auto read = std::from_chars(name.data(), end, steps);
    if (read.ec != std::errc{} || read.ptr != end || steps > most_steps) {
      r.complain(fmt::format("{}.{}", here, name),
                 fmt::format("is not a number of steps, 0..{}", most_steps));
      continue;
    }
    uint64_t count = 0;
    r.whole(*all, here, name.c_str(), 0, most_count, count, true);
    out.emplace_back(steps, count);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void read_predictions(json_reader& r, const json& x, const std::string& at,
                      prediction_tally& into) {
  const auto* all = r.find(x, at, "predictions", false);
  if (all == nullptr)
    return;
  const auto here = at + ".predictions";
  if (!all->is_object())
    return r.complain(here, "is not an object");
  r.expect_keys(
    *all, here,
    {"right_hits", "false_hits", "missed_hits", "right_misses", "checked"});
  const auto count = [&](const char* key, uint64_t& to) {
    r.whole(*all, here, key, 0, most_count, to, true);
  };
  count("right_hits", into.right_hits);
  count("false_hits", into.false_hits);
  count("missed_hits", into.missed_hits);
  count("right_misses", into.right_misses);
  count("checked", into.checked);
}

demand_window read_window(json_reader& r, const json& x,
                          const std::string& at) {
  demand_window w;
  if (!x.is_object()) {
    r.complain(at, "is not an object");
    return w;
  }
  r.expect_keys(x, at,
                {"seconds", "arrived", "answered", "refused", "failed",
                 "cancelled", "late", "searched", "hits", "predictions",
                 "skips", "allowed", "predicted", "confidences", "edits",
                 "placed", "extra_work", "extra_pixels"});
  double seconds = 0;
  r.real(x, at, "seconds", 1e-3, 1e7, seconds);
  w.length = core::from_seconds(seconds);
  const auto count = [&](const char* key, uint64_t& into, bool needed = false) {
    r.whole(x, at, key, 0, most_count, into, needed);
  };
  count("arrived", w.arrived, true);
  count("answered", w.answered);
  count("refused", w.refused);
  count("failed", w.failed);
  count("cancelled", w.cancelled);
  count("late", w.late);
  count("searched", w.searched);
  count("hits", w.hits);
  read_predictions(r, x, at, w.predictions);
  w.skips = by_steps(r, x, at, "skips");
  w.allowed = by_steps(r, x, at, "allowed");
  read_predicted(r, x, at, w);
  w.confidences = counts(r, x, at, "confidences");
  w.edits = counts(r, x, at, "edits");
  w.placed = counts(r, x, at, "placed");
  w.extra_work = reals(r, x, at, "extra_work");
  w.extra_pixels = reals(r, x, at, "extra_pixels");
  return w;
}

} // namespace

demand demand_of_rate(double qps) {
  // Counts are whole, so a window is as long as its count takes at this rate.
  constexpr double shortest = 1000;
  constexpr double longest = 1e7;
  demand out;
  const double count = std::max(1.0, std::round(qps * shortest));
  const double seconds = qps * longest >= 1 ? count / qps : shortest;
  for (int i = 0; i < 20; ++i) {
    demand_window w;
    w.begin = core::after(core::time_point{}, core::from_seconds(seconds * i));
    w.length = core::from_seconds(seconds);
    w.arrived = qps * longest >= 1 ? static_cast<uint64_t>(count) : 0;
    w.answered = w.arrived;
    out.now = core::after(w.begin, w.length);
    out.windows.push_back(std::move(w));
  }
  return out;
}

core::result<demand> parse_demand(std::string_view text,
                                  std::string_view where) {
  const auto document = detail::parse_document(text, where);
  if (!document)
    return document.why();
  json_reader r{where};
  r.expect_keys(*document, "demand",
                {"format", "version", "windows", "backlog", "waiting"});
  detail::expect_format(r, *document, "demand", "atelier.demand", 1);
  demand out;
  r.whole(*document, "demand", "backlog", 0, most_count, out.backlog, false);
  out.waiting = counts(r, *document, "demand", "waiting");
  if (const auto* windows = r.find(*document, "demand", "windows", true)) {
    if (!windows->is_array() || windows->empty()
        || windows->size() > most_windows)
      r.complain("demand.windows",
                 fmt::format("is not a list of 1..{}", most_windows));
    else
      for (size_t i = 0; i < windows->size(); ++i) {
        auto w = read_window(r, (*windows)[i], fmt::format("windows[{}]", i));
        w.begin = out.now;
        out.now = core::after(w.begin, w.length);
        out.windows.push_back(std::move(w));
      }
  }
  if (r.faults() != 0)
    return r.why();
  return out;
}

} // namespace atelier::planning
