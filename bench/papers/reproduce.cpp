// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/experiments.hpp>
#include <atelier/bench/papers/policies/paper_policies.hpp>
#include <atelier/bench/papers/published_profiles.hpp>
#include <atelier/planning/demand/workload.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/simulation/simulate.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <fstream>
#include <future>
#include <numeric>
#include <sstream>
#include <thread>

namespace atelier::runtime {

namespace detail {

core::result<outcome> experiments::attempt(const scenario& of,
                                           const std::string& name) {
  const auto goes_on = [&] {
    const std::lock_guard lock{telling_};
    return !told_ || told_(name);
  };
  if (!goes_on())
    return core::fail(core::ec::cancelled, "stopped");
  return simulate(of, [&](uint64_t) { return goes_on(); });
}

outcome experiments::run(const scenario& of, const std::string& name) {
  if (failure.code != core::ec::none)
    return {};
  auto out = attempt(of, name);
  if (!out) {
    failure = out.why();
    return {};
  }
  return std::move(*out);
}

std::vector<outcome> experiments::run_seeds(
  scenario of, const std::string& name,
  const std::function<std::vector<planning::traced_arrival>(uint64_t)>& trace) {
  std::vector<outcome> out(options.seeds);
  if (failure.code != core::ec::none)
    return out;
  std::vector<core::error> failures(options.seeds);
  std::atomic<uint32_t> next = 0;
  const auto work = [&] {
    for (uint32_t i = next++; i < options.seeds; i = next++) {
      auto x = of;
      x.seed = i + 1;
      x.trace = trace(x.seed);
      auto one = attempt(x, fmt::format("{}, seed {}", name, x.seed));
      if (one)
        out[i] = std::move(*one);
      else
        failures[i] = one.why();
    }
  };
  std::vector<std::future<void>> others;
  for (uint32_t n =
         std::min(options.seeds, std::thread::hardware_concurrency());
       n > 1; --n)
    others.push_back(std::async(std::launch::async, work));
  work();
  for (auto& other : others)
    other.get();
  for (auto& f : failures)
    if (f.code != core::ec::none && failure.code == core::ec::none)
      failure = std::move(f);
  return out;
}

void experiments::add(std::string paper, std::string what,
                      std::string published, std::string ours,
                      std::string condition, bool passes, const named_runs& of,
                      reason_of why) {
  rows.push_back({std::move(paper), std::move(what), std::move(published),
                  std::move(ours), std::move(condition),
                  passes ? verdict::pass : verdict::fail,
                  passes || why == nullptr ? std::string{} : why(of)});
}

namespace {

std::string by_fid(const named_runs& x) {
  return compare(x, quality_figure::fid).reason;
}

std::string by_quality(const named_runs& x) {
  return compare(x, quality_figure::quality).reason;
}

} // namespace

void experiments::compare_two(std::string what, const named_runs& both,
                              quality_figure figure, std::string condition) {
  const bool is_fid = figure == quality_figure::fid;
  const auto quality = [&](const named_run& x) {
    return mean_of(x.runs,
                   [&](auto& o) { return is_fid ? o.fid : o.quality_mean; });
  };
  const auto share = [&](const named_run& x) {
    return fmt::format("{:.2f} %", 100 * violations_of(x.runs));
  };
  add(papers_workloads, std::move(what), "-",
      fmt::format("violations {} against {}, {} {:.{}f} against {:.{}f}",
                  share(both[0]), share(both[1]), is_fid ? "FID" : "quality",
                  quality(both[0]), is_fid ? 2 : 4, quality(both[1]),
                  is_fid ? 2 : 4),
      std::move(condition) + ": neither worse, one better",
      compare(both, figure).passes, both, is_fid ? by_fid : by_quality);
}

void experiments::tell(std::string paper, std::string what,
                       std::string published, std::string ours,
                       std::string condition) {
  rows.push_back({std::move(paper),
                  std::move(what),
                  std::move(published),
                  std::move(ours),
                  std::move(condition),
                  verdict::told,
                  {}});
}

void experiments::tell_input(std::string paper, std::string what,
                             std::string published, std::string ours,
                             std::string condition, std::string input) {
  tell(std::move(paper), std::move(what), std::move(published), std::move(ours),
       std::move(condition));
  rows.back().reason = "returns its input: " + std::move(input);
}

void experiments::open(std::string paper, std::string what,
                       std::string published, std::string reason) {
  rows.push_back({std::move(paper), std::move(what), std::move(published), "-",
                  "-", verdict::open, std::move(reason)});
}

std::shared_ptr<planning::profile> shipped(const std::string& name) {
  auto read = planning::parse_profile(published_profile(name), name);
  ATELIER_EXPECTS(read, "shipped profiles are sound");
  return std::make_shared<planning::profile>(std::move(*read));
}

core::result<std::string> text_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in)
    return core::fail(core::ec::bad_payload, "cannot read {}", path);
  std::ostringstream all;
  all << in.rdbuf();
  return std::move(all).str();
}

std::shared_ptr<const planning::policy> by_name(const std::string& name) {
  auto found = planning::make_policy(name, papers::paper_policies());
  ATELIER_EXPECTS(found, "an experiment names a policy that there is");
  return std::move(*found);
}

std::vector<planning::traced_arrival> arrivals_of(
  const planning::load_spec& load) {
  const auto times = planning::arrivals(load);
  ATELIER_EXPECTS(times, "a sound load");
  std::vector<planning::traced_arrival> out;
  uint64_t content = 0;
  for (const double t : *times)
    out.push_back({t, ++content});
  return out;
}

std::vector<planning::traced_arrival> steady(double rate, double seconds,
                                             uint64_t seed) {
  planning::load_spec load;
  load.low = load.high = rate;
  load.seconds = seconds;
  load.seed = seed;
  return arrivals_of(load);
}

std::vector<planning::traced_arrival> heap(size_t n) {
  std::vector<planning::traced_arrival> out;
  for (size_t i = 0; i < n; ++i)
    out.push_back({1e-3 * static_cast<double>(i), i});
  return out;
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

double mean(const std::vector<double>& x) {
  return x.empty() ? 0
                   : std::accumulate(x.begin(), x.end(), 0.0)
                       / static_cast<double>(x.size());
}

double correlation(const std::vector<std::pair<double, double>>& x) {
  const auto n = static_cast<double>(x.size());
  double a = 0;
  double b = 0;
  for (const auto& [u, v] : x) {
    a += u / n;
    b += v / n;
  }
  double uu = 0;
  double vv = 0;
  double uv = 0;
  for (const auto& [u, v] : x) {
    uu += (u - a) * (u - a);
    vv += (v - b) * (v - b);
    uv += (u - a) * (v - b);
  }
  return uu > 0 && vv > 0 ? uv / std::sqrt(uu * vv) : 0;
}

double mean_of(const std::vector<outcome>& all,
               const std::function<double(const outcome&)>& value) {
  std::vector<double> x;
  x.reserve(all.size());
  for (const auto& one : all)
    x.push_back(value(one));
  return mean(x);
}

double violations_of(const std::vector<outcome>& all) {
  return mean_of(all, [](auto& o) { return o.violation_ratio(); });
}

double peak_violations(const outcome& of) {
  double most = 0;
  for (size_t i = 4; i < of.series.size(); ++i) {
    uint64_t all = 0;
    uint64_t bad = 0;
    for (size_t k = i - 4; k <= i; ++k) {
      all += of.series[k].arrived;
      bad += of.series[k].late + of.series[k].dropped;
    }
    if (all > 0)
      most =
        std::max(most, static_cast<double>(bad) / static_cast<double>(all));
  }
  return most;
}

} // namespace detail

namespace {

struct paper {
  const char* name;
  void (*run)(detail::experiments&);
};

constexpr std::array papers{paper{"diffserve", detail::diffserve_experiments},
                            paper{"argus", detail::argus_experiments},
                            paper{"modm", detail::modm_experiments},
                            paper{"nirvana", detail::nirvana_experiments},
                            paper{"instgenie", detail::instgenie_experiments}};

} // namespace

std::string_view to_string(verdict x) {
  switch (x) {
    case verdict::pass:
      return "pass";
    case verdict::fail:
      return "FAIL";
    case verdict::told:
      return "told";
    case verdict::open:
      return "open";
  }
  return "";
}

core::result<std::vector<reproduced>> reproduce(
  const reproduction_options& options,
  const std::function<bool(const std::string&)>& progress) {
  detail::experiments all{options, progress};
  bool any = false;
  for (const auto& p : papers)
    if (options.which == "all" || options.which == p.name) {
      any = true;
      p.run(all);
    }
  if (!any)
    return core::fail(core::ec::invalid_argument,
                      "--reproduce: '{}' is not one of all, diffserve, argus, "
                      "modm, nirvana, instgenie",
                      options.which);
  if (all.failure.code != core::ec::none)
    return all.failure;
  return std::move(all.rows);
}

std::string rows_to_markdown(std::span<const reproduced> rows) {
  // The rows of one paper need not be adjacent.
  std::vector<std::string> papers;
  for (const auto& r : rows)
    if (std::find(papers.begin(), papers.end(), r.paper) == papers.end())
      papers.push_back(r.paper);
  std::string out;
  for (const auto& paper : papers) {
    out += fmt::format("{}## {}\n\n| result | published | ours | condition | "
                       "verdict | reason |\n|---|---|---|---|---|---|\n",
                       out.empty() ? "" : "\n", paper);
    for (const auto& r : rows)
      if (r.paper == paper)
        out +=
          fmt::format("| {} | {} | {} | {} | {} | {} |\n", r.what, r.published,
                      r.ours, r.condition, to_string(r.passes), r.reason);
  }
  return out;
}

std::string rows_to_json(std::span<const reproduced> rows) {
  std::string out;
  for (const auto& r : rows) {
    const nlohmann::ordered_json j{
      {"paper", r.paper},         {"result", r.what},
      {"published", r.published}, {"ours", r.ours},
      {"condition", r.condition}, {"verdict", to_string(r.passes)},
      {"reason", r.reason}};
    out += j.dump() + "\n";
  }
  return out;
}

} // namespace atelier::runtime
