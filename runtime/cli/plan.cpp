// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/automatic.hpp>
#include <atelier/planning/demand/request_work.hpp>
#include <atelier/planning/feasibility.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policies/fixed/fixed.hpp>
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/runtime/cli/device_kinds.hpp>
#include <atelier/runtime/cli/plan.hpp>
#include <atelier/runtime/cli/planning_files.hpp>
#include <atelier/runtime/cli/policy_help.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/text_option.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <tuple>

namespace atelier::runtime::cli {

namespace {

/// Maximum number of plans that are made, each from the one before, until
/// nothing remains to be loaded.
constexpr int most_rounds = 6;

struct made_plan {
  planning::plan plan;
  /// The devices for which the plan is made.
  std::vector<planning::device_group> devices;
  double solve_ms = 0;
  bool settled = false;
  /// Requests a second: those of the demand, and the most that the plan's
  /// workers can answer.
  double asked_rate = 0;
  double carried_rate = 0;
};

double rate_of(const planning::demand& asked) {
  double arrived = 0;
  double seconds = 0;
  for (const auto& w : asked.windows) {
    arrived += static_cast<double>(w.arrived);
    seconds += core::to_seconds(w.length);
  }
  return seconds > 0 ? arrived / seconds : 0;
}

/// Adds what the plan carries, and calls it not feasible if that is less than
/// the demand and its policy does not check.
void weigh(made_plan& made, const planning::demand& asked,
           const planning::profile& known,
           const planning::cluster_view& there) {
  // A rate in whole requests of a window is not exact.
  constexpr double tolerance = 1.001;
  made.asked_rate = rate_of(asked);
  made.carried_rate = planning::carried_rate(made.plan, known, there);
  if (made.plan.feasible != planning::feasibility::unchecked
      || made.asked_rate <= made.carried_rate * tolerance)
    return;
  made.plan.feasible = planning::feasibility::no;
  made.plan.reason =
    fmt::format("demand: {:.6g} requests/s, of which the workers carry at most "
                "{:.6g}",
                made.asked_rate, made.carried_rate);
}

made_plan settle(const planning::policy& by, const planning::profile& usual,
                 const planning::demand& asked,
                 const std::vector<planning::device_group>& devices) {
  const auto known = planning::at_requested_work(usual, asked.windows);
  planning::cluster_view there;
  for (uint32_t i = 0; i < count_of(devices); ++i) {
    planning::worker_view w;
    w.worker = core::worker_id{i + 1};
    w.device_kind = planning::group_of(devices, i)->kind;
    w.hosting = {core::variant_id{0}};
    w.max_batch = w.seats_free = planning::largest_batch(known);
    there.workers.push_back(std::move(w));
  }
  made_plan out;
  out.devices = devices;
  for (int round = 0; round < most_rounds && !out.settled; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    out.plan =
      planning::judged(by.replan(asked, known, there, out.plan), known, there);
    out.solve_ms = std::chrono::duration<double, std::milli>(
                     std::chrono::steady_clock::now() - begin)
                     .count();
    out.settled = true;
    for (size_t i = 0; i < out.plan.workers.size(); ++i) {
      auto& w = there.workers[i];
      const auto& a = out.plan.workers[i];
      out.settled =
        out.settled && (a.hosting.empty() || a.hosting == w.hosting);
      if (!a.hosting.empty())
        w.hosting = a.hosting;
      w.level = a.level;
    }
  }
  weigh(out, asked, known, there);
  return out;
}

/// The work of a worker: its variants, kind of device, batch and level.
using work_alike = std::tuple<std::string, std::string, uint32_t, uint32_t>;

/// Returns the number of workers for each kind of work.
std::map<work_alike, uint32_t> groups_of(const made_plan& made,
                                         const planning::profile& known) {
  std::map<work_alike, uint32_t> out;
  for (const auto& a : made.plan.workers) {
    std::string names;
    for (const auto v : a.hosting)
      names += (names.empty() ? "" : "+") + known.variants[v.value].name;
    const auto* of = planning::group_of(made.devices, a.worker.value - 1);
    ++out[{names, of != nullptr ? of->kind : std::string{}, a.batch, a.level}];
  }
  return out;
}

std::string to_json(const planning::policy& by, const made_plan& made,
                    const planning::profile& known) {
  nlohmann::ordered_json j;
  const auto& x = made.plan;
  j["policy"] = by.name();
  // Null if the policy does not check feasibility.
  if (x.feasible == planning::feasibility::unchecked)
    j["feasible"] = nullptr;
  else
    j["feasible"] = x.feasible == planning::feasibility::yes;
  if (!x.reason.empty())
    j["reason"] = x.reason;
  j["demand_rate"] = made.asked_rate;
  if (std::isfinite(made.carried_rate))
    j["carried_rate"] = made.carried_rate;
  else
    j["carried_rate"] = nullptr;
  if (const auto value = by.explain(x).objective)
    j["objective"] = *value;
  else
    j["objective"] = nullptr;
  j["workers"] = nlohmann::ordered_json::array();
  for (const auto& [what, count] : groups_of(made, known)) {
    const auto& [names, kind, batch, level] = what;
    nlohmann::ordered_json w{{"variant", names},
                             {"device", kind.empty() ? "any" : kind},
                             {"count", count},
                             {"batch", batch}};
    if (level > 0)
      w["level"] = level;
    j["workers"].push_back(std::move(w));
  }
  j["thresholds"] = nlohmann::ordered_json::object();
  for (const auto& r : x.routes)
    for (const auto& s : r.legs)
      if (s.check && s.check->threshold < x.thresholds.size())
        j["thresholds"][r.name] = x.thresholds[s.check->threshold];
  j["routes"] = nlohmann::ordered_json::array();
  for (const auto& r : x.routes)
    j["routes"].push_back(r.name);
  j["shift"] = x.share;
  if (!x.admitted_rates.empty())
    j["admitted_rates"] = x.admitted_rates;
  j["solve_ms"] = made.solve_ms;
  j["saturated"] = x.saturated;
  return j.dump();
}

void print(const planning::policy& by, const made_plan& made,
           const planning::profile& known, std::ostream& to) {
  const auto& x = made.plan;
  for (const auto& [what, count] : groups_of(made, known)) {
    const auto& [names, kind, batch, level] = what;
    to << fmt::format("{:>6} workers  {}  batch {}", count,
                      names.empty() ? "as they are" : names, batch);
    if (!kind.empty())
      to << fmt::format("  on {}", kind);
    if (level > 0)
      to << fmt::format("  skips {} steps", level);
    to << '\n';
  }
  const auto digits =
    std::to_string(std::max<size_t>(x.share.size(), 1) - 1).size();
  for (size_t c = 0; c < x.share.size(); ++c)
    for (size_t r = 0; r < x.share[c].size(); ++r)
      if (x.share[c][r] > 5e-4)
        to << fmt::format("class {:>{}}: {:5.1f} % by {}\n", c, digits,
                          100 * x.share[c][r], x.routes[r].name);
  if (!x.reason.empty())
    to << "not feasible: " << x.reason << '\n';
  for (const auto& line : by.explain(x).lines)
    to << line << '\n';
  for (size_t c = 0; c < x.admitted_rates.size(); ++c)
    if (std::isfinite(x.admitted_rates[c]))
      to << fmt::format("class {:>{}}: at most {:.3f} requests/s are taken\n",
                        c, digits, x.admitted_rates[c]);
  if (std::isfinite(made.carried_rate))
    to << fmt::format("{:.6g} requests/s of the demand, at most {:.6g} "
                      "requests/s by these workers\n",
                      made.asked_rate, made.carried_rate);
  to << fmt::format("solved in {:.2f} ms{}{}\n", made.solve_ms,
                    x.saturated ? ", saturated" : "",
                    made.settled ? "" : ", still changing");
}

/// Checks that exactly one plan is written to the file, and that the file can
/// be written.
core::result<void> check_output(const std::string& path,
                                const policy_list& policies, on_existing mode) {
  if (policies.size() != 1)
    return core::fail(core::ec::invalid_argument,
                      "-o: a file holds one plan, --policy names {} policies",
                      policies.size());
  if (policies.front()->name() == planning::fixed_name)
    return core::fail(
      core::ec::invalid_argument,
      "-o: 'fixed' makes no plan but the one that --plan names");
  return check_writable(path, mode);
}

core::result<void> write_plan(const std::string& path,
                              const planning::plan& made,
                              std::string_view policy,
                              const planning::profile& known,
                              on_existing mode) {
  const auto text = to_json(planning::saved(made, policy), known);
  return write_file(
    path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, mode);
}

} // namespace

CLI::App* add_plan(CLI::App& app, plan_arguments& into) {
  auto* sub = app.add_subcommand(
    "plan", "Print the plan that a policy makes for a demand");
  const text_options add{*sub};
  add.group("Demand and devices");
  add("--profiles", into.profiles, "FILE", "Cost and quality of the variants");
  add("--demand", into.demand, "FILE|QPS",
      "Demand, or a rate in requests a second");
  add("--workers", into.workers, "N", "Devices (default: 16)");
  add_repeated_option(
    *sub, "--kind", into.kinds,
    "N devices of a kind whose costs are in FILE, a profile (default: the one "
    "of --profiles); repeatable, instead of --workers")
    ->type_name("NAME=N[:FILE]");
  add("--policy", into.policy, "P", policy_help("Policy (default: atelier)"));
  add_repeated_option(*sub, "--plan", into.plans,
                      "For the policy 'fixed': a plan that -o wrote; "
                      "repeatable")
    ->type_name("FILE");
  add.group("Output");
  add("-o,--output", into.output, "FILE",
      "Write the plan, for --plan and planner.plan");
  sub->add_flag("--force", into.force, "Replace a file that exists");
  return sub;
}

exit_status plan(const plan_arguments& arguments,
                 const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  if (world.policies.empty()
      && names_comparisons(arguments.policy.value_or(""), arguments.plans))
    return world.separate.compare(world);
  if (!arguments.profiles)
    return refuse(terminal,
                  {core::ec::invalid_argument, "--profiles is missing: FILE"});
  if (!arguments.demand)
    return refuse(terminal, {core::ec::invalid_argument,
                             "--demand is missing: FILE or QPS"});
  auto known = read_profile("--profiles", *arguments.profiles);
  if (!known)
    return refuse(terminal, known.why());
  const auto asked = read_demand("--demand", *arguments.demand);
  if (!asked)
    return refuse(terminal, asked.why());
  const auto devices = read_devices(arguments.workers, arguments.kinds, *known);
  if (!devices)
    return refuse(terminal, devices.why());
  const auto policies =
    read_policies("--policy", arguments.policy.value_or("atelier"),
                  arguments.plans, *known, world.policies);
  if (!policies)
    return refuse(terminal, policies.why());
  const auto mode =
    arguments.force ? on_existing::replace : on_existing::refuse;
  if (arguments.output)
    if (auto ok = check_output(*arguments.output, *policies, mode); !ok)
      return refuse(terminal, ok.why());
  auto end = exit_status::done;
  for (const auto& policy : *policies) {
    const auto made = settle(*policy, *known, *asked, *devices);
    if (common.json) {
      terminal.out << to_json(*policy, made, *known) << '\n';
    } else {
      if (policies->size() > 1 || arguments.policy == planning::automatic_name)
        terminal.out << policy->name() << ":\n";
      print(*policy, made, *known, terminal.out);
    }
    if (arguments.output)
      if (auto ok = write_plan(*arguments.output, made.plan, policy->name(),
                               *known, mode);
          !ok)
        return refuse(terminal, ok.why());
    if (made.plan.feasible == planning::feasibility::never
        || made.plan.feasible == planning::feasibility::no) {
      terminal.complain(
        fmt::format("{}: {}", policy->name(), made.plan.reason));
      end = exit_status::failed;
    }
  }
  return end;
}

} // namespace atelier::runtime::cli
