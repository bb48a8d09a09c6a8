// SPDX-License-Identifier: Apache-2.0

// What simulation can show of InstGenIE: SDXL and Flux on eight H800, whose
// times are fitted to the published ones (examples/profiles/README.md). Masks
// are those of the paper's own trace if its numbers are given. The file is
// longer than most because it keeps the rows of one paper together.

#include <atelier/bench/papers/experiments.hpp>
#include <atelier/bench/papers/policies/instgenie_comparisons.hpp>
#include <atelier/planning/policies/instgenie/block_plan.hpp>
#include <atelier/planning/policies/instgenie/instgenie.hpp>
#include <atelier/simulation/knowledge.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace atelier::runtime::detail {

namespace {

constexpr auto paper = "InstGenIE";

/// Section 6.2: one worker for each GPU.
constexpr uint32_t gpus = 8;
constexpr double run_seconds = 600;

struct model {
  const char* name;
  const char* profile;
  /// Requests a second of Figure 12.
  std::vector<double> rates;
};

const std::array<model, 2> models{
  model{"SDXL", "instgenie-sdxl-h800", {1, 2, 3, 4, 5, 6, 7}},
  model{"Flux", "instgenie-flux-h800", {1, 2, 3, 4}}};

/// Masks of the paper's own trace and of its public one. Their sizes are the
/// published numbers if these are available, otherwise a beta distribution of
/// the same mean.
struct trace_masks {
  edit_spec own{1, 0.11, usual_spread(0.11), 1};
  edit_spec open{1, 0.19, usual_spread(0.19), 1};
  std::string source = "a beta distribution of the published mean";
};

trace_masks read_masks(experiments& e) {
  trace_masks out;
  std::error_code ignored;
  if (e.options.published.empty()
      || !std::filesystem::exists(e.options.published + "/masks", ignored))
    return out;
  const auto add = [&](const char* name, edit_spec& to) {
    const auto file = e.options.published + "/masks/" + name;
    const auto text = text_of(file);
    const auto found = text ? parse_masks(*text, file)
                            : core::result<std::vector<double>>{text.why()};
    if (!found)
      e.failure = found.why();
    else
      to.masks.insert(to.masks.end(), found->begin(), found->end());
  };
  add("internal.txt", out.own);
  add("public_detail.txt", out.open);
  add("public_inpaint.txt", out.open);
  out.source = "the published numbers";
  return out;
}

scenario base(const trace_masks& masks,
              std::shared_ptr<const planning::profile> of,
              const std::string& policy, uint32_t workers) {
  scenario x;
  x.profile = std::move(of);
  // The paper's system and its baselines run blocks by Algorithm 1.
  if (policy != "instgenie" && policy != "atelier") {
    auto published = std::make_shared<planning::profile>(*x.profile);
    for (auto& m : published->masked)
      m.published_plan = true;
    x.profile = std::move(published);
  }
  x.policy = by_name(policy);
  x.workers = workers;
  x.edits = masks.own;
  x.window = x.period = std::chrono::seconds{60};
  x.interval_seconds = 60;
  return x;
}

/// Means over seeds, in seconds, and the runs that they belong to.
struct times {
  named_run of;
  double mean = 0;
  double p95 = 0;
  double queueing = 0;
  double steps_p95 = 0;
};

times take_times(experiments& e, const scenario& x, double rate, double seconds,
                 const std::string& name) {
  times out;
  out.of = {name, e.run_seeds(x, fmt::format("InstGenIE {}, {}/s", name, rate),
                              [&](uint64_t seed) {
                                return steady(rate, seconds * e.options.length,
                                              seed);
                              })};
  const auto mean = [&](double outcome::*field) {
    return mean_of(out.of.runs,
                   [&](const outcome& o) { return o.*field / 1000; });
  };
  out.mean = mean(&outcome::latency_mean_ms);
  out.p95 = mean(&outcome::latency_p95_ms);
  out.queueing = mean(&outcome::first_step_mean_ms);
  out.steps_p95 = mean(&outcome::steps_p95_ms);
  return out;
}

/// Returns the length of the runs as it appears in rows.
std::string seconds_of(const experiments& e, double seconds) {
  return fmt::format("{} seeds of {:.0f} s", e.options.seeds,
                     seconds * e.options.length);
}

/// Runs one worker at a batch size, with all requests waiting from the start.
named_run heaped(experiments& e, scenario x, uint32_t batch,
                 const std::string& name) {
  x.max_batch = batch;
  x.workers = 1;
  const auto full = fmt::format("{}, batch {}", name, batch);
  return {full, e.run_seeds(x, "InstGenIE " + full,
                            [](uint64_t) { return heap(400); })};
}

/// Returns the images a second.
double throughput(const named_run& of) {
  return mean_of(of.runs, [](auto& o) { return o.throughput_qps; });
}

/// Returns a profile of TeaCache, which draws whole images and leaves out
/// steps. Its time is not published; the paper says only that it is ahead of
/// InstGenIE at batch 1 (Figure 14). The profile has the most steps with which
/// it is ahead.
std::shared_ptr<planning::profile> teacache(const planning::profile& of,
                                            double edit_seconds) {
  auto out = std::make_shared<planning::profile>(of);
  auto& v = out->variants.front();
  const double step = core::to_seconds(planning::step_time(v, 1, v.native_px));
  const auto steps = static_cast<uint32_t>(edit_seconds / step);
  v.steps = std::clamp(steps, 1u, v.steps);
  v.name = fmt::format("{}@{}", v.model, v.steps);
  return out;
}

/// Returns what the runs did, and the 95th percentiles of latency and of time
/// in steps.
std::string by_p95(const named_runs& of) {
  std::string out;
  for (const auto& x : of)
    out += fmt::format(
      "{}{} has P95 {:.2f} s, {:.2f} s in steps", out.empty() ? "" : ", ",
      x.name, mean_of(x.runs, [](auto& o) { return o.latency_p95_ms / 1000; }),
      mean_of(x.runs, [](auto& o) { return o.steps_p95_ms / 1000; }));
  return out + "; " + what_they_did(of);
}

// -- Figures 3 and 4: masks, loading ------------------------------------------

void masks(experiments& e, const trace_masks& drawn) {
  for (const auto& [name, published, of] :
       {std::tuple{"own trace", 0.11, &drawn.own},
        std::tuple{"public trace", 0.19, &drawn.open}}) {
    auto x = base(drawn, shipped(models[0].profile), "instgenie", 1);
    x.edits = *of;
    double sum = 0;
    constexpr uint64_t n = 50'000;
    for (uint64_t id = 1; id <= n; ++id)
      sum += edit_of(x, core::request_id{id})->ratio;
    e.tell_input(paper, fmt::format("Fig. 3, mean masked share, {}", name),
                 fmt::format("{}", published), fmt::format("{:.3f}", sum / n),
                 "drawn by seed", drawn.source);
  }
}

void loading(experiments& e, const trace_masks& drawn) {
  // The times of one image, in 20 steps of 16 equal blocks: 1.94 s in full,
  // 1.06 s from records, 2.14 - 1.06 s of loading.
  constexpr size_t blocks = 16;
  constexpr double per_block = 1.0 / (20 * blocks);
  const std::vector<planning::instgenie::block_cost> step(
    blocks, {1.06 * per_block, 1.94 * per_block, 1.08 * per_block});
  using namespace planning::instgenie;
  const double naive = 20 * naive_seconds(step);
  const double ideal = 20 * ideal_seconds(step);
  const double greedy = 20 * plan_greedy(step).seconds;
  const double exact = 20 * plan_exact(step).seconds;
  const std::string of = "20 steps of 16 equal blocks with the published full, "
                         "cached and load times: ";
  e.tell_input(paper, "Fig. 4 left, naive loading over ideal", "2.14 / 1.06 s",
               fmt::format("{:.2f} / {:.2f} s", naive, ideal),
               of + "at least 1.7x",
               "full, cached and load times are the published ones");
  e.tell_input(paper, "Fig. 4 left, bubble-free loading over ideal",
               "1.15 / 1.06 s",
               fmt::format("{:.3f} (Algorithm 1), {:.3f} (exact) / {:.2f} s",
                           greedy, exact, ideal),
               of + "at most 1.15x",
               "of equal blocks both algorithms' times follow from the "
               "published ones");
  auto x = base(drawn, shipped(models[0].profile), "instgenie-paper", 1);
  x.edits = {1, 0.35, 0, 1};
  x.trace = steady(0.05, 4000 * e.options.length, 1);
  const double one = e.run(x, "InstGenIE one edit").latency_p50_ms / 1000;
  e.tell_input(paper, "Fig. 1, one edit by SDXL", "1.15 s",
               fmt::format("{:.3f} s", one),
               "simulated, nobody waits, mask .35: within 5 %",
               "the profile is fitted to Fig. 4");
}

void speed_by_mask(experiments& e, const trace_masks& drawn) {
  for (const model& m : models) {
    std::vector<std::pair<double, double>> points;
    double at_fifth = 0;
    const auto known = shipped(m.profile);
    const double full = core::to_seconds(
      planning::step_time(known->variants[0], 1, known->variants[0].native_px)
      * known->variants[0].steps);
    for (const double ratio : {0.1, 0.2, 0.3, 0.5, 0.7, 0.9}) {
      auto x = base(drawn, known, "instgenie-paper", 1);
      x.edits = {1, ratio, 0, 1};
      x.trace = steady(0.02, 4000 * e.options.length, 1);
      const double s = e.run(x, "InstGenIE by mask").latency_p50_ms / 1000;
      points.emplace_back(ratio, s);
      if (ratio == 0.2)
        at_fifth = full / s;
    }
    const double r = correlation(points);
    const bool flux = std::string_view{m.name} == "Flux";
    const auto row = fmt::format("Fig. 15, speed at mask .2, {}", m.name);
    const auto ours =
      fmt::format("{:.2f}x, R2 {:.3f} over masks .1-.9", at_fifth, r * r);
    if (flux)
      e.tell_input(paper, row, "1.9x, linear", ours, "nobody waits",
                   "the profile is fitted to it");
    else
      e.tell_input(paper, row, "2.2x, linear", ours, "nobody waits",
                   "the profile is fitted to Fig. 4, whose loading of 1.08 s "
                   "bounds small masks");
  }
}

// -- Figures 4 and 16: batching, workers --------------------------------------

void batching(experiments& e, const trace_masks& drawn) {
  const auto known = shipped(models[1].profile);
  // The last rate fills batches as the published .5/s does.
  const std::array<double, 3> rates{0.25, 0.5, 0.8};
  std::array<times, 3> ours;
  std::array<times, 3> fixed;
  for (size_t i = 0; i < rates.size(); ++i) {
    ours[i] = take_times(e, base(drawn, known, "instgenie-paper", 1), rates[i],
                         4000, fmt::format("ours at {}/s", rates[i]));
    fixed[i] = take_times(e, base(drawn, known, "static-batching", 1), rates[i],
                          4000, fmt::format("static at {}/s", rates[i]));
  }
  if (e.failure.code != core::ec::none)
    return;
  const auto seeds = "Flux, one worker, " + seconds_of(e, 4000);
  const auto both = [](double a, double b) {
    return fmt::format("static {:.2f}, ours {:.2f} s", a, b);
  };
  for (size_t i = 0; i < 2; ++i)
    e.add(paper, fmt::format("Fig. 4 middle, queueing at {}/s", rates[i]),
          i == 0 ? "static 2.2, ours 1.1 s" : "static 6.2, ours 3.0 s",
          both(fixed[i].queueing, ours[i].queueing),
          seeds + ": ratio at least 1.5",
          fixed[i].queueing >= 1.5 * ours[i].queueing,
          {ours[i].of, fixed[i].of}, what_they_did);
  const named_runs all{ours[1].of, fixed[1].of, ours[2].of, fixed[2].of};
  e.add(paper, "Fig. 16 left, P95 at .5/s", "static 27.5, ours 20.3 s",
        both(fixed[1].p95, ours[1].p95), seeds + ": static at least 1.15x",
        fixed[1].p95 >= 1.15 * ours[1].p95, all, by_p95);
  e.add(
    paper, "Fig. 16 left, inference P95 at .5/s", "static 13.8, ours 13.6 s",
    both(fixed[1].steps_p95, ours[1].steps_p95), seeds + ": within 10 %",
    std::abs(fixed[1].steps_p95 / ours[1].steps_p95 - 1) <= 0.1, all, by_p95);
  e.tell(paper, "Fig. 16 left, P95 where batches are full",
         "static 27.5, ours 20.3 s at .5/s",
         fmt::format("{} at .8/s", both(fixed[2].p95, ours[2].p95)), seeds);
}

void balance(experiments& e, const trace_masks& drawn) {
  const auto known = shipped(models[1].profile);
  for (const double rate : {0.25, 0.5}) {
    const auto at = [&](const char* policy) {
      return take_times(e, base(drawn, known, policy, gpus), gpus * rate,
                        2 * run_seconds, policy);
    };
    const auto requests = at("request-balance");
    const auto tokens = at("token-balance");
    const auto published = at("instgenie-paper");
    const auto finish = at("instgenie");
    const bool low = rate < 0.5;
    const auto within = [&](double x) {
      return std::abs(x / published.p95 - 1) <= 0.15;
    };
    e.add(paper,
          fmt::format("Fig. 16 right, P95 at {}/s for each worker", rate),
          low ? "ReqNum 9.3, TokNum 8.5, ours 8.9 s"
              : "ReqNum 16.5, TokNum 16.9, ours 12.5 s",
          fmt::format("ReqNum {:.2f}, TokNum {:.2f}, ours {:.2f} (Algorithm "
                      "2), {:.2f} s (by finish)",
                      requests.p95, tokens.p95, published.p95, finish.p95),
          fmt::format("Flux, {} workers, {}: {}", gpus,
                      seconds_of(e, 2 * run_seconds),
                      low ? "within 15 %" : "both at least 1.1x ours"),
          low ? within(requests.p95) && within(tokens.p95)
              : requests.p95 >= 1.1 * published.p95
                  && tokens.p95 >= 1.1 * published.p95,
          {published.of, requests.of, tokens.of}, by_p95);
  }
}

// -- Figures 12 and 14: against the baselines ---------------------------------

/// Returns how much batching gains, from runs at batch 1 and 4 of our masked
/// images, of full images, and of masked images whose loads take no time.
std::string by_gains(const named_runs& of) {
  const auto gain = [&](size_t i) {
    return throughput(of[i + 1]) / throughput(of[i]);
  };
  return fmt::format("from batch 1 to 4 masked images gain {:.2f}x, full ones "
                     "{:.2f}x; masked ones whose loads take no time {:.2f}x",
                     gain(0), gain(2), gain(4));
}

void engines(experiments& e, const trace_masks& drawn) {
  for (const model& m : models) {
    const auto known = shipped(m.profile);
    const auto masked = base(drawn, known, "instgenie-paper", 1);
    const auto full = base(drawn, known, "full-recompute", 1);
    const auto first = heaped(e, masked, 1, m.name);
    if (e.failure.code != core::ec::none)
      return;
    const double one = throughput(first);
    const auto skipping =
      base(drawn, teacache(*known, 1 / one), "full-recompute", 1);
    std::string ours;
    std::string theirs;
    std::string skipped;
    double most = 0;
    double gain_masked = 0;
    double gain_full = 0;
    double gain_four = 0;
    named_runs shown_gain;
    double one_full = 0;
    for (const uint32_t batch : {1u, 2u, 4u, 8u}) {
      const auto of_masked =
        batch == 1 ? first : heaped(e, masked, batch, m.name);
      const auto of_full = heaped(e, full, batch, "Diffusers");
      const double a = throughput(of_masked);
      const double b = throughput(of_full);
      const double c = throughput(heaped(e, skipping, batch, "TeaCache"));
      if (e.failure.code != core::ec::none)
        return;
      one_full = batch == 1 ? b : one_full;
      gain_masked = a / one;
      gain_full = b / one_full;
      if (batch == 1)
        shown_gain = {of_masked, of_full};
      if (batch == 4) {
        gain_four = gain_masked / gain_full;
        shown_gain = {shown_gain[0], of_masked, shown_gain[1], of_full};
      }
      if (batch > 1)
        most = std::max(most, a / std::min(b, c));
      for (const auto& [to, x] :
           {std::pair{&ours, a}, std::pair{&theirs, b}, std::pair{&skipped, c}})
        *to += fmt::format("{}{:.2f}", to->empty() ? "" : "/", x);
    }
    const auto list = fmt::format("ours {}, Diffusers {}, TeaCache {} images/s",
                                  ours, theirs, skipped);
    auto free_loads = shipped(m.profile);
    free_loads->masked.front().load_slope = 0;
    const auto unbound = base(drawn, free_loads, "instgenie-paper", 1);
    for (const uint32_t batch : {1u, 4u})
      shown_gain.push_back(heaped(e, unbound, batch, "loads take no time"));
    e.add(paper, fmt::format("Fig. 14, {}, batch 1/2/4/8", m.name),
          "up to 3x for 2 and more; gains more from batching", list,
          fmt::format("masks of the own trace, {} seeds; masked gains 1.1x "
                      "more: {:.2f}x against {:.2f}x; at most {:.2f}x of "
                      "others",
                      e.options.seeds, gain_masked, gain_full, most),
          gain_masked > 1.1 * gain_full, shown_gain, by_gains);
    e.add(paper, fmt::format("Section 4.3, batching gain at 4, {}", m.name),
          "1.29x full's", fmt::format("{:.2f}x", gain_four),
          fmt::format("{} seeds: above 1.1x", e.options.seeds), gain_four > 1.1,
          shown_gain, by_gains);
  }
}

/// Returns where TeaCache is ahead of ours, rate by rate, and what both do at
/// these rates. `of` has ours, then TeaCache, for each rate.
std::string where_behind(const named_runs& of) {
  std::string out;
  for (size_t i = 0; i + 1 < of.size(); i += 2) {
    const auto mean = [&](size_t k) {
      return mean_of(of[k].runs, [](auto& o) { return o.latency_mean_ms; });
    };
    if (mean(i) > mean(i + 1))
      out += fmt::format("{}{}", out.empty() ? "" : "; ",
                         what_they_did({of[i], of[i + 1]}));
  }
  return out;
}

void serving(experiments& e, const trace_masks& drawn) {
  for (const model& m : models) {
    const auto known = shipped(m.profile);
    const auto alone =
      heaped(e, base(drawn, known, "instgenie-paper", 1), 1, m.name);
    if (e.failure.code != core::ec::none)
      return;
    const auto skipping = teacache(*known, 1 / throughput(alone));
    const auto conditions =
      fmt::format("{} workers, {}; TeaCache as {} of {} steps", gpus,
                  seconds_of(e, run_seconds), skipping->variants.front().steps,
                  known->variants.front().steps);
    std::string list;
    bool lowest = true;
    double top = 0;
    named_runs pairs;
    times ours_at_three;
    times full_at_three;
    times tea_at_three;
    for (const double rate : m.rates) {
      const auto at = [&](auto profile, const char* policy, const char* name) {
        return take_times(e, base(drawn, profile, policy, gpus), rate,
                          run_seconds, fmt::format("{} at {}/s", name, rate));
      };
      const auto ours = at(known, "instgenie-paper", "ours");
      const auto full = at(known, "full-recompute", "Diffusers");
      const auto tea = at(skipping, "full-recompute", "TeaCache");
      if (e.failure.code != core::ec::none)
        return;
      list += fmt::format("{}{:.2f}/{:.2f}/{:.2f}", list.empty() ? "" : ", ",
                          ours.mean, tea.mean, full.mean);
      lowest = lowest && ours.mean <= tea.mean && ours.mean <= full.mean;
      pairs.push_back(ours.of);
      pairs.push_back(tea.of);
      top = full.mean / ours.mean;
      if (rate == 3) {
        ours_at_three = ours;
        full_at_three = full;
        tea_at_three = tea;
      }
    }
    e.add(paper,
          fmt::format("Fig. 12, mean latency, {}, {}-{}/s", m.name,
                      m.rates.front(), m.rates.back()),
          "lowest throughout; Diffusers up to 14.7x, TeaCache up to 6x",
          list + " s (ours/TeaCache/Diffusers)",
          conditions + ": ours lowest at every rate", lowest, pairs,
          where_behind);
    e.tell(paper, fmt::format("Fig. 12, Diffusers at the top rate, {}", m.name),
           "up to 14.7x ours", fmt::format("{:.1f}x", top),
           conditions
             + ": at least 3x; beyond its capacity it grows with the run, so "
               "that any overload passes");
    const auto queueing = [&](const times& x) {
      return x.queueing / full_at_three.queueing;
    };
    e.add(
      paper,
      fmt::format("Fig. 12 right, queueing over Diffusers' at 3/s, {}", m.name),
      std::string_view{m.name} == "Flux" ? "TeaCache .44, ours .07"
                                         : "TeaCache .25, ours .15",
      fmt::format("TeaCache {:.3f}, ours {:.3f}", queueing(tea_at_three),
                  queueing(ours_at_three)),
      conditions + ": ours at most .5", queueing(ours_at_three) <= 0.5,
      {ours_at_three.of, full_at_three.of}, what_they_did);
    e.tell(paper, fmt::format("Section 6.2, P95 at 3/s, {}", m.name),
           "-88 % of Diffusers', -60 % of TeaCache's",
           fmt::format("{:+.0f} %, {:+.0f} %",
                       100 * (ours_at_three.p95 / full_at_three.p95 - 1),
                       100 * (ours_at_three.p95 / tea_at_three.p95 - 1)),
           conditions);
  }
}

void against_all(experiments& e, const trace_masks& drawn) {
  for (const model& m : models) {
    const auto known = shipped(m.profile);
    const double rate = m.rates.back();
    const auto at = [&](const std::string& policy) {
      return take_times(e, base(drawn, known, policy, gpus), rate, run_seconds,
                        policy);
    };
    const auto ours = at("atelier");
    std::vector<std::string> others;
    for (const auto& rules : planning::all_instgenie_rules())
      others.push_back(rules.name);
    for (const auto& rules : papers::instgenie_comparisons())
      others.push_back(rules.name);
    for (const auto& name : others) {
      const auto other = at(name);
      if (e.failure.code != core::ec::none)
        return;
      const auto row = fmt::format("InstGenIE's {} at {}/s: atelier against {}",
                                   m.name, rate, name);
      const auto figures =
        fmt::format("mean {:.2f} against {:.2f} s, P95 {:.2f} against {:.2f} s",
                    ours.mean, other.mean, ours.p95, other.p95);
      const auto conditions = fmt::format("{} workers, {}: neither higher",
                                          gpus, seconds_of(e, run_seconds));
      if (name == "instgenie")
        e.tell_input(papers_workloads, row, "-", figures, conditions,
                     "atelier takes its rule for edits");
      else
        e.add(papers_workloads, row, "-", figures, conditions,
              ours.mean <= other.mean && ours.p95 <= other.p95,
              {ours.of, other.of}, by_p95);
    }
  }
}

} // namespace

void instgenie_experiments(experiments& e) {
  const auto drawn = read_masks(e);
  if (e.failure.code != core::ec::none)
    return;
  masks(e, drawn);
  loading(e, drawn);
  speed_by_mask(e, drawn);
  batching(e, drawn);
  balance(e, drawn);
  engines(e, drawn);
  serving(e, drawn);
  e.open(paper, "Fig. 12, SD2.1 and FISEdit", "up to 4x",
         "no time of SD2.1 on the A10, nor of FISEdit, is published as a "
         "number");
  e.open(paper, "Fig. 16 left, naive continuous batching",
         "P95 28.5 s, 6 interruptions of .36 s",
         "work of the CPU within the device process is not simulated");
  e.open(paper, "Fig. 1, 6, 7, 11, Table 2, section 6.6", "-",
         "needs models, or a live runtime");
  against_all(e, drawn);
}

} // namespace atelier::runtime::detail
