// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/standard.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/core/text_file.hpp>
#include <atelier/planning/automatic.hpp>
#include <atelier/planning/comparisons.hpp>
#include <atelier/planning/confidence.hpp>
#include <atelier/planning/demand/workload.hpp>
#include <atelier/planning/demand_file.hpp>
#include <atelier/planning/policies/fixed/fixed.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/planning_files.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;

constexpr size_t most_trace_bytes = size_t{512} << 20;
constexpr size_t most_demand_bytes = size_t{64} << 20;
constexpr double most_qps = 1e6;
constexpr double most_seconds = 1e7;

/// Contents of synthetic loads: as many as DiffServe's data set has.
constexpr uint64_t contents = 5000;

/// What a file holds is the user's input: its faults are bad arguments.
core::error as_input(core::error why) {
  if (why.code == ec::bad_payload)
    why.code = ec::invalid_argument;
  return why;
}

core::result<std::shared_ptr<const planning::policy>> read_fixed(
  std::string_view argument, const std::string& path,
  const planning::profile& known, bool by_file, const policy_list& more) {
  const auto text = read_text(argument, path, planning::most_plan_bytes);
  if (!text)
    return text.why();
  std::string name{planning::fixed_name};
  if (by_file)
    name += ":" + std::filesystem::path{path}.filename().string();
  auto made = planning::make_fixed(*text, path, known, std::move(name), more);
  if (!made)
    return as_input(made.why());
  return made;
}

} // namespace

core::result<std::string> read_text(std::string_view argument,
                                    const std::string& path,
                                    size_t most_bytes) {
  auto text = core::read_text_file(path, most_bytes, show_value(path));
  if (!text)
    return fail(ec::invalid_argument, "{}: {}", argument, text.why().text);
  return text;
}

core::result<planning::profile> read_profile(std::string_view argument,
                                             const std::string& path) {
  const auto text = read_text(argument, path, planning::most_profile_bytes);
  if (!text)
    return text.why();
  auto out = planning::parse_profile(*text, path);
  if (!out)
    return as_input(out.why());
  if (auto there = actors::check_stages(*out); !there)
    return fail(ec::invalid_argument, "{}: {}: {}", argument, show_value(path),
                there.why().text);
  return planning::beyond_chance(std::move(*out));
}

core::result<planning::trace> read_trace(std::string_view argument,
                                         const std::string& path) {
  const auto text = read_text(argument, path, most_trace_bytes);
  if (!text)
    return text.why();
  auto out = planning::parse_trace(*text, path);
  if (!out)
    return as_input(out.why());
  return out;
}

core::result<std::vector<planning::traced_arrival>> make_load(
  std::string_view argument, std::string_view text, uint64_t seed) {
  const auto first = text.find(':');
  const auto second =
    first == std::string_view::npos ? first : text.find(':', first + 1);
  if (second == std::string_view::npos)
    return fail(ec::invalid_argument,
                "{}: {} is not KIND:LOW-HIGH:SECONDS, such as "
                "diurnal:2-16:3600",
                argument, show_value(text));
  const auto kind = planning::parse_load_kind(text.substr(0, first));
  if (!kind)
    return fail(ec::invalid_argument, "{}: {}", argument, kind.why().text);
  const auto rates = text.substr(first + 1, second - first - 1);
  const auto dash = rates.find('-');
  const auto low = parse_number(argument, rates.substr(0, dash), 0, most_qps);
  if (!low)
    return low.why();
  const auto high =
    dash == std::string_view::npos
      ? low
      : parse_number(argument, rates.substr(dash + 1), 0, most_qps);
  if (!high)
    return high.why();
  const auto seconds =
    parse_number(argument, text.substr(second + 1), 1, most_seconds);
  if (!seconds)
    return seconds.why();
  planning::load_spec load;
  load.kind = *kind;
  load.low = *low;
  load.high = *high;
  load.seconds = *seconds;
  load.seed = seed;
  const auto times = planning::arrivals(load);
  if (!times)
    return fail(ec::invalid_argument, "{}: {}", argument, times.why().text);
  if (times->empty())
    return fail(ec::invalid_argument, "{}: {} has no arrival", argument,
                show_value(text));
  std::vector<planning::traced_arrival> out;
  out.reserve(times->size());
  core::philox random{seed, core::purpose::sampling};
  for (const double t : *times)
    out.push_back({t, random.below(contents)});
  return planning::one_image_each(std::move(out));
}

core::result<planning::demand> read_demand(std::string_view argument,
                                           const std::string& text) {
  double qps = 0;
  const auto end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, qps);
  if (stop == end && !text.empty()) {
    if (code != std::errc{} || !(qps >= 0 && qps <= most_qps))
      return fail(ec::invalid_argument,
                  "{}: {} is neither a rate in 0..{} requests a second nor a "
                  "file",
                  argument, show_value(text), most_qps);
    return planning::demand_of_rate(qps);
  }
  const auto file = read_text(argument, text, most_demand_bytes);
  if (!file)
    return file.why();
  auto out = planning::parse_demand(*file, text);
  if (!out)
    return as_input(out.why());
  return out;
}

core::result<policy_list> read_policies(std::string_view argument,
                                        std::string_view text,
                                        const std::vector<std::string>& plans,
                                        const planning::profile& known,
                                        const policy_list& more) {
  policy_list out;
  const auto add = [&](std::shared_ptr<const planning::policy> one,
                       std::string_view named) -> core::result<void> {
    for (const auto& other : out)
      if (other->name() == one->name())
        return fail(ec::invalid_argument, "{}: {} is named twice", named,
                    show_value(one->name()));
    out.push_back(std::move(one));
    return {};
  };
  const auto add_fixed = [&]() -> core::result<void> {
    if (plans.empty())
      return fail(ec::invalid_argument,
                  "{}: 'fixed' answers by a plan: --plan FILE is missing",
                  argument);
    for (const auto& file : plans) {
      auto made = read_fixed("--plan", file, known, plans.size() > 1, more);
      if (!made)
        return made.why();
      if (auto ok = add(std::move(*made), "--plan"); !ok)
        return ok;
    }
    return {};
  };
  const auto add_named = [&](std::string_view name) -> core::result<void> {
    auto found =
      planning::make_policy(planning::policy_named(name, known), more);
    if (!found)
      return fail(ec::invalid_argument, "{}: {}", argument, found.why().text);
    return add(std::move(*found), argument);
  };
  bool fixed = false;
  for (bool goes_on = true; goes_on;) {
    const auto comma = text.find(',');
    const auto name = text.substr(0, comma);
    const bool by_file = name == planning::fixed_name;
    if (by_file && fixed)
      return fail(ec::invalid_argument, "{}: 'fixed' is named twice", argument);
    fixed = fixed || by_file;
    if (auto ok = by_file ? add_fixed() : add_named(name); !ok)
      return ok.why();
    goes_on = comma != std::string_view::npos;
    text.remove_prefix(goes_on ? comma + 1 : text.size());
  }
  if (!plans.empty() && !fixed)
    return fail(ec::invalid_argument,
                "--plan: a plan is for the policy 'fixed', which {} does not "
                "name",
                argument);
  return out;
}

bool names_comparisons(std::string_view text,
                       const std::vector<std::string>& plans) {
  for (bool goes_on = true; goes_on;) {
    const auto comma = text.find(',');
    if (planning::is_for_comparisons(text.substr(0, comma)))
      return true;
    goes_on = comma != std::string_view::npos;
    text.remove_prefix(goes_on ? comma + 1 : text.size());
  }
  return std::any_of(plans.begin(), plans.end(), [](const std::string& path) {
    // A pipe can be read only once.
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
      return false;
    const auto plan = read_text("--plan", path, planning::most_plan_bytes);
    return plan && planning::plan_is_for_comparisons(*plan);
  });
}

core::result<double> parse_number(std::string_view argument,
                                  std::string_view text, double least,
                                  double most) {
  double value = 0;
  const auto end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || stop != end || !(value >= least && value <= most))
    return fail(ec::invalid_argument, "{}: {} is not a number in {}..{}",
                argument, show_value(text), least, most);
  return value;
}

} // namespace atelier::runtime::cli
