// SPDX-License-Identifier: Apache-2.0

// DiffServe's figures 4, 5, 6, 8, 9 and section 4.5, on 16 simulated A100. The
// file is long because the figures share their settings, a function each.

#include <atelier/bench/papers/comparison.hpp>
#include <atelier/bench/papers/experiments.hpp>
#include <atelier/bench/papers/policies/diffserve_comparisons.hpp>
#include <atelier/planning/demand/workload.hpp>
#include <atelier/planning/policies/diffserve/quality.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace atelier::runtime::detail {

namespace {

using papers::diffserve_comparison_rules;

constexpr uint32_t gpus = 16;
constexpr auto paper = "DiffServe";

/// A light and a heavy variant, and the trace that the paper pairs with them.
struct cascade_case {
  const char* name;
  const char* profile;
  /// The light variant's name in the published tables.
  const char* light;
  const char* heavy;
  const char* trace;
  double low;
  double high;
};

constexpr cascade_case c1{
  "C1", "diffserve-sd-turbo", "sd-turbo", "sd-v1.5", "maf_4to32qps.txt", 4, 32};
constexpr cascade_case c2{
  "C2", "diffserve-sdxs", "sdxs", "sd-v1.5", "maf_4to32qps.txt", 4, 32};
constexpr cascade_case c3{"C3",   "diffserve-sdxl-lightning", "sdxl-lightning",
                          "sdxl", "maf_1to8qps.txt",          1,
                          8};

/// A cascade with all published data about it.
struct setting {
  cascade_case what;
  std::shared_ptr<planning::profile> profile;
  std::vector<planning::traced_arrival> trace;
  bool published = false;

  const planning::cascade_profile& cascade() const {
    return profile->cascades.front();
  }
};

/// Replaces the table of f(t) by the whole published one; the shipped table has
/// fewer points.
void take_table(const std::string& csv, const cascade_case& of,
                planning::cascade_profile& into) {
  std::vector<std::pair<double, double>> points;
  std::istringstream lines{csv};
  const auto name = fmt::format("{}:{}", of.light, of.heavy);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(',');
    const auto second = line.find(',', first + 1);
    if (second == std::string::npos || line.substr(0, first) != name)
      continue;
    points.emplace_back(std::strtod(line.c_str() + first + 1, nullptr),
                        std::strtod(line.c_str() + second + 1, nullptr));
  }
  if (!points.empty())
    into.deferred = std::move(points);
}

setting read(experiments& e, const cascade_case& of) {
  setting out{of, shipped(of.profile), {}, false};
  if (!e.options.published.empty()) {
    const auto folder = e.options.published + "/diffserve/";
    const auto trace = text_of(folder + "traces/" + of.trace);
    const auto table = text_of(folder + "deferral.csv");
    if (!trace || !table) {
      e.failure = trace ? table.why() : trace.why();
      return out;
    }
    auto arrivals = planning::parse_trace(*trace, of.trace);
    if (!arrivals) {
      e.failure = arrivals.why();
      return out;
    }
    out.trace = std::move(arrivals->arrivals);
    take_table(*table, of, out.profile->cascades.front());
    out.published = true;
    return out;
  }
  // The published trace rises to its peak and falls again in 350 s.
  planning::load_spec load;
  load.kind = planning::load_kind::production;
  load.low = of.low;
  load.high = of.high;
  load.seconds = load.period = 350 * e.options.length;
  const auto times = planning::arrivals(load);
  ATELIER_EXPECTS(times, "a sound load");
  uint64_t content = 0;
  for (const double t : *times)
    out.trace.push_back({t, ++content * 2654435761u % 5000});
  return out;
}

std::string where(const experiments& e, const setting& s) {
  return fmt::format("{}, {}, {} seeds, 2 % noise", s.what.name,
                     s.published ? fmt::format("trace {}", s.what.trace)
                                 : fmt::format("synthetic {:.0f}-{:.0f} qps",
                                               s.what.low, s.what.high),
                     e.options.seeds);
}

/// Returns the rules of that name: of a comparison, or of the paper's policy.
diffserve_comparison_rules rules(const std::string& name) {
  auto all = papers::diffserve_comparisons();
  for (const auto& r : planning::all_diffserve_rules())
    all.push_back({r, {}, {}, {}, {}});
  const auto found =
    std::ranges::find(all, name, &diffserve_comparison_rules::name);
  ATELIER_EXPECTS(found != all.end(), "rules of that name");
  // The artifact draws workers at random. The specification's figures use the
  // least loaded worker, for all policies.
  found->worker_queues = false;
  return *found;
}

scenario base(const setting& s) {
  scenario x;
  x.profile = s.profile;
  x.trace = s.trace;
  x.workers = gpus;
  x.deadline = s.cascade().deadline;
  // The noise makes seeds differ even if the arrivals come from a file.
  x.noise = 0.02;
  return x;
}

/// Runs the setting's trace, or a steady load, with every seed.
named_run ran(experiments& e, const setting& s,
              const diffserve_comparison_rules& r, double steady_rate = 0) {
  auto x = base(s);
  x.policy = std::make_shared<papers::diffserve_comparison>(r);
  return {r.name, e.run_seeds(x, fmt::format("{} {}", s.what.name, r.name),
                              [&](uint64_t seed) {
                                if (!(steady_rate > 0))
                                  return s.trace;
                                auto out = steady(steady_rate,
                                                  240 * e.options.length, seed);
                                for (auto& a : out)
                                  a.content = a.content * 2654435761u % 5000;
                                return out;
                              })};
}

double violations(const named_run& of) {
  return violations_of(of.runs);
}

double fid(const named_run& of) {
  return mean_of(of.runs, [](auto& o) { return o.fid; });
}

double peak(const named_run& of) {
  return mean_of(of.runs, peak_violations);
}

/// Returns what a row's runs did, and the share that the light variant
/// answered.
std::string by_light_share(const named_runs& of) {
  std::string out;
  for (const auto& x : of)
    out +=
      fmt::format("{}{} has FID {:.2f} with {:.1f} % of the light variant",
                  out.empty() ? "" : ", ", x.name, fid(x),
                  100 * mean_of(x.runs, [](auto& o) { return o.light_share; }));
  return out + "; " + what_they_did(of);
}

/// Returns the rules of Clipper with batches of one.
diffserve_comparison_rules clipper(bool heavy) {
  auto r = rules(heavy ? "heavy-aimd" : "light-aimd");
  r.name = heavy ? "Clipper-Heavy" : "Clipper-Light";
  r.trial_batches = false;
  return r;
}

std::string percent(double share) {
  return fmt::format("{:.2f} %", 100 * share);
}

double lower_by(double ours, double theirs) {
  return theirs > 0 ? 1 - ours / theirs : 0;
}

/// The runs of Figures 5, 6 and 8.
struct played {
  setting on;
  named_run light;
  named_run heavy;
  named_run ours;
};

played play(experiments& e, const setting& s) {
  return {s, ran(e, s, clipper(false)), ran(e, s, clipper(true)),
          ran(e, s, rules("diffserve-paper"))};
}

void plan_time(experiments& e, const played& x) {
  const double ms =
    mean_of(x.ours.runs, [](auto& o) { return o.plan_mean_wall_ms; });
  e.add(paper, fmt::format("Section 4.5, time of a plan ({})", x.on.what.name),
        "about 10 ms", fmt::format("{:.2f} ms", ms),
        "mean at most 10 ms, on the machine that simulates", ms <= 10);
}

void better_than_light(experiments& e, const played& x) {
  const bool first = x.on.what.name == c1.name;
  const double gain = lower_by(fid(x.ours), fid(x.light));
  e.add(paper,
        fmt::format("Fig. {}, FID lower than Clipper-Light's ({})",
                    first ? 5 : 6, x.on.what.name),
        first ? "up to 23.4 %" : "6-24 % (C2), 8-15 % (C3)",
        fmt::format("{} ({:.2f} against {:.2f})", percent(gain), fid(x.ours),
                    fid(x.light)),
        where(e, x.on) + ": at least 20 %", gain >= 0.20, {x.ours, x.light},
        by_light_share);
}

void figure_5(experiments& e, const played& x) {
  auto r = rules("diffserve-paper");
  r.provisioning = 1.2;
  const auto generous = ran(e, x.on, r);
  const auto fixed = ran(e, x.on, rules("diffserve-static"));
  const auto proteus = ran(e, x.on, rules("diffserve-proteus"));
  if (e.failure.code != core::ec::none)
    return;
  const auto on = where(e, x.on);
  better_than_light(e, x);
  const double most = peak(x.heavy);
  e.add(paper, "Fig. 5, Clipper-Heavy's peak of violations", "up to 75 %",
        percent(most), on + ", batch 1, 25 s mean: 65-80 %",
        most >= 0.65 && most <= 0.80, {x.heavy}, what_they_did);
  e.add(paper, "Fig. 5, violations of DiffServe, o = 1.05", "low",
        percent(violations(x.ours)), on + ": at most 5 %",
        violations(x.ours) <= 0.05, {x.ours}, what_they_did);
  e.add(paper, "Fig. 5, violations of DiffServe, o = 1.2",
        "low (the artifact's)", percent(violations(generous)),
        on + ": at most 1.5 %", violations(generous) <= 0.015, {generous},
        what_they_did);
  const double r_tD = mean_of(x.ours.runs, [](const outcome& o) {
    std::vector<std::pair<double, double>> pairs;
    for (const auto& i : o.series)
      if (i.threshold >= 0 && i.arrived > 0)
        pairs.emplace_back(i.threshold, static_cast<double>(i.arrived));
    return correlation(pairs);
  });
  e.add(paper, "Fig. 5, threshold falls with demand", "inverse",
        fmt::format("r = {:.2f}", r_tD), on + ": at most -.7", r_tD <= -0.7,
        {x.ours}, what_they_did);
  e.tell(paper, "Fig. 5, violations of DiffServe-Static", "up to 19 %",
         fmt::format("{} (FID {:.2f})", percent(violations(fixed)), fid(fixed)),
         on + "; its published allocation is never overloaded: no gate");
  e.tell(
    paper, "Fig. 5, violations of Proteus", "< 5 %",
    fmt::format("{} (FID {:.2f})", percent(violations(proteus)), fid(proteus)),
    on + "; FID on the line between both ends");
  plan_time(e, x);
}

void figure_6(experiments& e, const played& x) {
  const auto fixed = ran(e, x.on, rules("diffserve-static"));
  const auto proteus = ran(e, x.on, rules("diffserve-proteus"));
  if (e.failure.code != core::ec::none)
    return;
  const bool second = x.on.what.name == c2.name;
  const auto on = where(e, x.on);
  const auto row = [&](const std::string& what) {
    return fmt::format("Fig. 6, {} ({})", what, x.on.what.name);
  };
  better_than_light(e, x);
  const double better = lower_by(fid(x.ours), fid(proteus));
  e.add(paper, row("FID lower than Proteus's"), "6-24 % (C2), 8-15 % (C3)",
        fmt::format("{} ({:.2f} against {:.2f})", percent(better), fid(x.ours),
                    fid(proteus)),
        on + ": at least 5 %", better >= 0.05, {x.ours, proteus},
        by_light_share);
  const double ratio =
    violations(x.ours) > 0 ? violations(x.heavy) / violations(x.ours) : 1e9;
  e.add(paper, row("violations of Clipper-Heavy over DiffServe's"),
        second ? "26x" : "52x",
        fmt::format("{} ({} against {})",
                    ratio > 1e8 ? "unbounded" : fmt::format("{:.1f}x", ratio),
                    percent(violations(x.heavy)), percent(violations(x.ours))),
        on + ": at least 10x", ratio >= 10, {x.ours, x.heavy}, what_they_did);
  e.tell(paper, row("Clipper-Heavy's peak of violations"),
         second ? "68.4 %" : "73 %", percent(peak(x.heavy)), on);
  e.tell(paper, row("violations of Static and Proteus"),
         second ? "1.4x, 1.7x DiffServe's" : "1.2x, 1.9x DiffServe's",
         fmt::format("{}, {}", percent(violations(fixed)),
                     percent(violations(proteus))),
         on);
  plan_time(e, x);
}

void figure_4(experiments& e, const setting& s) {
  // These loads are steady. Every point of Proteus has one of DiffServe beside
  // it.
  const std::vector<double> provisions{1, 1.05, 1.2, 1.5, 2};
  for (const double rate : {10.0, 20.0, 30.0}) {
    named_runs ours;
    named_runs theirs;
    for (const double o : provisions) {
      auto r = rules("diffserve-paper");
      r.provisioning = o;
      ours.push_back(ran(e, s, r, rate));
      ours.back().name = fmt::format("DiffServe, o = {}", o);
      r = rules("diffserve-proteus");
      r.provisioning = o;
      theirs.push_back(ran(e, s, r, rate));
      theirs.back().name = fmt::format("Proteus, o = {}", o);
    }
    const auto heavy = ran(e, s, clipper(true), rate);
    if (e.failure.code != core::ec::none)
      return;
    named_runs unbeaten;
    std::string list;
    for (const auto& p : theirs) {
      const bool any = std::any_of(ours.begin(), ours.end(), [&](auto& d) {
        return violations(d) <= violations(p) + 0.005
            && lower_by(fid(d), fid(p)) >= 0.05;
      });
      if (!any)
        unbeaten.push_back(p);
    }
    for (const auto& d : ours)
      list += fmt::format("{}{:.2f}/{}", list.empty() ? "" : ", ", fid(d),
                          percent(violations(d)));
    const auto beaten = theirs.size() - unbeaten.size();
    unbeaten.insert(unbeaten.end(), ours.begin(), ours.end());
    e.add(paper, fmt::format("Fig. 4, C1 at {:.0f} qps: Pareto-best", rate),
          "DiffServe's points are best",
          fmt::format("{} of {} of Proteus's beaten; ours FID/violations {}",
                      beaten, theirs.size(), list),
          fmt::format("{} seeds, 2 % noise: each Proteus point (o = 1..2) has "
                      "one of DiffServe with violations at most .5 points more "
                      "and FID 5 % lower",
                      e.options.seeds),
          beaten == theirs.size(), unbeaten, by_light_share);
    e.tell(paper, fmt::format("Fig. 4, C1 at {:.0f} qps: Clipper-Heavy", rate),
           "45.10-74.11 % violations", percent(violations(heavy)),
           fmt::format("batch 1, {} seeds, 2 % noise", e.options.seeds));
  }
}

void figure_8(experiments& e, const played& x, double threshold_gate) {
  const auto trial = ran(e, x.on, rules("aimd"));
  const auto waitless = ran(e, x.on, rules("no-waits"));
  const auto doubled = ran(e, x.on, rules("no-queueing"));
  const auto fixed = ran(e, x.on, rules("static-threshold"));
  if (e.failure.code != core::ec::none)
    return;
  const auto& ours = x.ours;
  const auto on = where(e, x.on) + ", early drop at the deadline";
  const auto both = [&](const named_run& other) {
    return fmt::format("{} against {}", percent(violations(other)),
                       percent(violations(ours)));
  };
  const auto row = [&](const char* what) {
    return fmt::format("Fig. 8, {} ({})", what, x.on.what.name);
  };
  e.add(paper, row("batches by trial"), "up to 20 % more violations",
        fmt::format("{}, FID {:.2f} against {:.2f}", both(trial), fid(trial),
                    fid(ours)),
        on + ": more", violations(trial) > violations(ours), {trial, ours},
        by_light_share);
  e.add(paper, row("waits taken as 0"), "-", both(waitless), on + ": more",
        violations(waitless) > violations(ours), {waitless, ours},
        by_light_share);
  const double worse = fid(ours) > 0 ? fid(fixed) / fid(ours) - 1 : 0;
  const auto change = fmt::format("{} ({:.2f} against {:.2f})", percent(worse),
                                  fid(fixed), fid(ours));
  if (threshold_gate > 0)
    e.add(paper, row("fixed threshold"), "FID up to 19 % worse", change,
          fmt::format("{}: at least {:.0f} %", on, 100 * threshold_gate),
          worse >= threshold_gate, {fixed, ours}, by_light_share);
  else
    e.tell(paper, row("fixed threshold"), "FID up to 19 % worse", change, on);
  e.tell(paper, row("execution counted twice"), "FID up to 12 % worse",
         fmt::format("FID {:.2f}, violations {}", fid(doubled),
                     percent(violations(doubled))),
         on);
}

void figure_9(experiments& e, setting s) {
  named_runs all;
  std::string list;
  bool low = true;
  for (const int slo : {3, 4, 5, 6, 8, 10}) {
    s.profile = std::make_shared<planning::profile>(*s.profile);
    s.profile->cascades.front().deadline = std::chrono::seconds{slo};
    auto x = ran(e, s, rules("diffserve-paper"));
    x.name = fmt::format("{} s", slo);
    low = low && (slo < 5 || violations(x) <= 0.05);
    list += fmt::format("{}{}: {}/{:.2f}", list.empty() ? "" : ", ", x.name,
                        percent(violations(x)), fid(x));
    all.push_back(std::move(x));
  }
  if (e.failure.code != core::ec::none)
    return;
  bool falls = true;
  double least = fid(all.front());
  double most = least;
  for (size_t i = 1; i < all.size(); ++i) {
    falls = falls && violations(all[i]) <= violations(all[i - 1]) + 0.01;
    least = std::min(least, fid(all[i]));
    most = std::max(most, fid(all[i]));
  }
  e.add(paper, "Fig. 9, deadlines", "low over a broad range",
        fmt::format("violations/FID {}; FID within {}", list,
                    percent(most / least - 1)),
        where(e, s)
          + ": violations fall (one point of slack), at most 5 % from 5 s on, "
            "FID within 5 %",
        falls && low && most / least <= 1.05, all, by_light_share);
}

void ours_against_theirs(experiments& e, const setting& s) {
  named_run ours;
  for (const char* name :
       {"atelier", "diffserve", "diffserve-paper", "diffserve-static",
        "diffserve-proteus", "light-aimd", "heavy-aimd"}) {
    auto x = base(s);
    x.policy = by_name(name);
    named_run one{name, e.run_seeds(x, fmt::format("{} {}", s.what.name, name),
                                    [&](uint64_t) { return s.trace; })};
    if (e.failure.code != core::ec::none)
      return;
    if (ours.runs.empty()) {
      ours = std::move(one);
      continue;
    }
    e.compare_two(fmt::format("{}: atelier against {}", s.what.name, name),
                  {ours, one}, quality_figure::fid, where(e, s));
  }
}

} // namespace

void diffserve_experiments(experiments& e) {
  const auto first = read(e, c1);
  const auto second = read(e, c2);
  const auto third = read(e, c3);
  if (e.failure.code != core::ec::none)
    return;
  figure_4(e, first);
  const std::array all{play(e, first), play(e, second), play(e, third)};
  if (e.failure.code != core::ec::none)
    return;
  figure_5(e, all[0]);
  figure_6(e, all[1]);
  figure_6(e, all[2]);
  figure_8(e, all[0], 0.03);
  figure_8(e, all[1], 0);
  figure_8(e, all[2], 0.15);
  figure_9(e, first);
  e.open(paper, "Fig. 1a, 1b, 7: discriminators", "EfficientNet is best",
         "needs images and trained networks");
  e.open(paper, "Fig. 1c: configurations", "about 9,000",
         "a property of the planner alone: no requests run");
  e.open(paper, "Simulator against testbed", ".56 % FID, 1.1 % violations",
         "needs devices; own ones beside their simulation: bench/RESULTS.md");
  ours_against_theirs(e, first);
  ours_against_theirs(e, second);
  ours_against_theirs(e, third);
}

} // namespace atelier::runtime::detail
