// SPDX-License-Identifier: Apache-2.0

// How long do plans take? Each decision function runs on clusters of 8 to
// 10,000 workers with random loads; the program prints the median and the worst
// time. It checks each plan before it counts it. Functions that run for each
// request, not for each plan, are at the end, in microseconds. The file is long
// because each decision has its table beside the check of its plans.
//
//   planning_bench [ROUNDS]

#include "planning/policies/diffserve/cascade_programme.hpp"
#include <atelier/bench/papers/policies/paper_policies.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/planning/policies/argus/allocation.hpp>
#include <atelier/planning/policies/argus/shift.hpp>
#include <atelier/planning/policies/argus/worker_choice.hpp>
#include <atelier/planning/policies/atelier/atelier.hpp>
#include <atelier/planning/policies/atelier/solve.hpp>
#include <atelier/planning/policies/diffserve/allocation.hpp>
#include <atelier/planning/policies/diffserve/direct.hpp>
#include <atelier/planning/policies/instgenie/worker_choice.hpp>
#include <atelier/planning/policies/modm/control.hpp>
#include <atelier/planning/policies/nirvana/step_choice.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/planning/solver/match_workers.hpp>
#include <atelier/planning/step_batch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace atelier;
using namespace atelier::planning;

constexpr uint32_t cluster_sizes[] = {8, 64, 1024, 10'000};

void expect(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "planning_bench: %s does not hold\n", what);
  std::exit(1);
}

core::philox random_of(uint64_t i) {
  return core::philox{1, core::purpose::test, core::request_id{i}};
}

double processor_seconds() {
  timespec at{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec)
       + 1e-9 * static_cast<double>(at.tv_nsec);
}

/// Runs `once` for each round and returns the rounds' seconds, sorted. Rounds
/// of at least 0.1 ms are measured in processor time, so that other programs on
/// the machine do not count.
std::vector<double> timed(size_t rounds,
                          const std::function<void(core::philox&)>& once) {
  std::vector<double> out;
  for (size_t i = 0; i < rounds; ++i) {
    auto random = random_of(i);
    const double worked = processor_seconds();
    const auto from = std::chrono::steady_clock::now();
    once(random);
    const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - from)
        .count();
    out.push_back(wall < 1e-4 ? wall : processor_seconds() - worked);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void print_cell(const std::vector<double>& sorted, double unit) {
  std::printf(" %9.3f %9.3f", sorted[sorted.size() / 2] * unit,
              sorted.back() * unit);
}

argus::ladder six_levels() {
  argus::ladder out(6);
  const double quality[] = {1, .97, .93, .88, .80, .70};
  for (size_t v = 0; v < out.size(); ++v) {
    out[v].variant = core::variant_id{static_cast<uint32_t>(v)};
    out[v].seconds = 4.2 * (1 - 0.1 * static_cast<double>(v));
    out[v].quality = quality[v];
    out[v].load_seconds = 9;
  }
  return out;
}

double some_load(core::philox& random, const argus::ladder& levels,
                 uint32_t workers) {
  return levels.back().rate() * workers * (0.02 + 0.97 * random.uniform());
}

diffserve::cascade_problem turbo_and_full(core::philox& random,
                                          uint32_t workers) {
  diffserve::cascade_problem p;
  p.light.batches = {{1, .1},  {2, .15},  {4, .22},
                     {8, .41}, {16, .77}, {32, 1.56}};
  p.heavy.batches = {{1, 1.78}, {2, 2.16}, {4, 3.68}, {8, 6.79}};
  std::vector<std::pair<double, double>> points;
  for (size_t k = 1; k < diffserve::thresholds; ++k)
    points.emplace_back(
      diffserve::threshold_at(k),
      std::min(1.0, std::sqrt(1.8 * diffserve::threshold_at(k))));
  p.deferred = diffserve::deferral_of(points);
  p.workers = workers;
  p.demand = workers * (0.2 + 2 * random.uniform());
  p.slo = 5;
  return p;
}

/// Returns a problem with fifty classes, twenty variants in batches of 1 to 8
/// at three budgets of waiting, and cascades of every pair at eight thresholds.
unified::problem all_routes(core::philox& random, uint32_t workers) {
  constexpr uint32_t variants = 20;
  constexpr uint32_t classes = 50;
  unified::problem p;
  p.kinds = {{"cuda", workers}};
  std::vector<double> seconds;
  std::vector<double> quality;
  for (uint32_t v = 0; v < variants; ++v) {
    p.hostings.push_back({0, workers / variants, 9});
    seconds.push_back(0.1 * std::pow(42.0, (v + 1.0) / variants));
    quality.push_back(0.6 + 0.4 * v / (variants - 1.0)
                      + 0.03 * random.uniform());
    for (const uint32_t batch : {1u, 2u, 4u, 8u})
      for (const double wait : {0.25, 0.5, 1.0})
        p.pools.push_back({v, batch, wait, 0.98});
  }
  // Seconds of one device for each row of a batch.
  const auto share = [&](uint32_t pool) {
    const double batch = p.pools[pool].seats;
    return seconds[p.pools[pool].of] * (0.6 + 0.4 / batch);
  };
  const auto latency = [&](uint32_t pool) {
    return share(pool) * p.pools[pool].seats * (1 + p.pools[pool].wait);
  };
  const double demand = workers * (0.3 + 1.2 * random.uniform());
  double sum = 0;
  std::vector<double> weights;
  for (uint32_t c = 0; c < classes; ++c)
    sum += weights.emplace_back(0.05 + random.uniform());
  const auto per_variant = static_cast<uint32_t>(p.pools.size() / variants);
  for (uint32_t c = 0; c < classes; ++c) {
    p.classes.push_back({"class", demand * weights[c] / sum, 0.6, 1});
    const double deadline = 6 + 10 * random.uniform();
    const double taste = random.uniform();
    const auto add = [&](double q, std::initializer_list<uint32_t> pools,
                         std::initializer_list<double> reach) {
      unified::column x;
      x.of = c;
      x.quality = q;
      x.key = static_cast<uint32_t>(p.columns.size());
      double longest = 0;
      auto part = reach.begin();
      for (const uint32_t pool : pools) {
        longest += latency(pool);
        x.work[x.legs++] = {pool, share(pool) * *part++};
      }
      if (longest <= deadline)
        p.columns.push_back(x);
    };
    for (uint32_t k = 0; k < p.pools.size(); ++k) {
      const double q = quality[p.pools[k].of];
      add(1 - (1 - q) * taste, {k}, {1});
    }
    for (uint32_t light = 0; light < 3; ++light)
      for (uint32_t heavy = variants - 3; heavy < variants; ++heavy)
        for (uint32_t t = 1; t <= 8; ++t) {
          const double deferred = t / 9.0;
          const double q =
            1 - (1 - quality[light]) * taste * (1 - deferred) * (1 - deferred);
          for (uint32_t b = 0; b < 4; ++b)
            add(q,
                {light * per_variant + b * 3 + 1, heavy * per_variant + b * 3},
                {1, deferred});
        }
  }
  p.load_price = 0.01;
  return p;
}

profile nine_seconds_to_load(size_t variants) {
  profile p;
  for (size_t v = 0; v < variants; ++v) {
    variant_profile x;
    x.name = "v@1";
    x.load = std::chrono::seconds{9};
    p.variants.push_back(x);
  }
  return p;
}

std::vector<worker_view> some_workers(core::philox& random, uint32_t workers) {
  std::vector<worker_view> out(workers);
  for (uint32_t i = 0; i < workers; ++i) {
    out[i].worker = core::worker_id{i};
    out[i].device_kind = "cuda";
    out[i].hosting = {core::variant_id{static_cast<uint32_t>(random.below(6))}};
    out[i].steps_left = random.below(400);
  }
  return out;
}

struct plan_case {
  const char* name;
  size_t rounds;
  std::function<void(core::philox&, uint32_t)> once;
};

std::vector<plan_case> plans(size_t rounds) {
  const auto levels = six_levels();
  return {
    {"argus, Eq. 1 by counts", rounds,
     [=](core::philox& random, uint32_t workers) {
       argus::load_to_place asked;
       asked.rate = some_load(random, levels, workers);
       asked.workers = workers;
       expect(static_cast<bool>(allocate_counts(levels, asked)),
              "a plan by counts");
     }},
    {"argus, the same with prices", rounds,
     [=](core::philox& random, uint32_t workers) {
       argus::load_to_place asked;
       asked.rate = some_load(random, levels, workers);
       asked.workers = workers;
       asked.load_price = 0.01;
       asked.hosting.assign(6, workers / 6);
       expect(static_cast<bool>(allocate_counts(levels, asked)),
              "a plan with prices");
     }},
    {"argus, pooled and exact shift", rounds,
     [=](core::philox& random, uint32_t workers) {
       argus::load_to_place asked;
       asked.rate = some_load(random, levels, workers);
       asked.workers = workers;
       const auto a = allocate_pooled(levels, asked);
       expect(static_cast<bool>(a), "a pooled plan");
       std::vector<double> h(6);
       for (double& x : h)
         x = 0.01 + random.uniform();
       table d{6, 6};
       for (size_t i = 0; i < 6; ++i)
         for (size_t j = i + 1; j < 6; ++j)
           d.at(i, j) = static_cast<double>(j - i);
       expect(argus::align_exactly(h, a->share, d).rows == 6, "a shift map");
     }},
    {"diffserve, closed form", rounds,
     [](core::philox& random, uint32_t workers) {
       expect(static_cast<bool>(allocate(turbo_and_full(random, workers))),
              "a cascade's plan");
     }},
    {"diffserve, by lp_solve", rounds / 10 + 1,
     [](core::philox& random, uint32_t workers) {
       expect(static_cast<bool>(
                test::allocate_by_programme(turbo_and_full(random, workers))),
              "a cascade's programme");
     }},
    {"diffserve, direct, 10 classes", rounds / 10 + 1,
     [](core::philox& random, uint32_t workers) {
       const auto p = turbo_and_full(random, workers);
       std::vector<diffserve::difficulty> classes(10);
       for (auto& c : classes) {
         c.share = 0.1;
         c.deferred = p.deferred;
       }
       expect(static_cast<bool>(allocate_direct(p, classes)), "direct routing");
     }},
    {"modm, split and controller", rounds,
     [](core::philox& random, uint32_t workers) {
       const std::vector<modm::small_model> smalls{{0.06, 0.7}, {0.15, 0.7}};
       const auto p =
         plan_split(workers, 0.011, smalls,
                    {workers * 0.03 * random.uniform(), 0.7, 0.7}, {}, {});
       expect(p.large <= workers, "a split");
     }},
    {"unified, 50 classes, 20 variants", rounds / 10 + 1,
     [](core::philox& random, uint32_t workers) {
       const auto p = all_routes(random, workers);
       const auto d = unified::solve(p);
       expect(static_cast<bool>(d), "a unified plan");
       expect(!unified::better(d->values, d->bound), "its bound");
       if (std::getenv("ATELIER_BENCH_DETAILS") != nullptr)
         std::fprintf(stderr,
                      "%zu columns, %u generated, %u solves, refused %.4g of "
                      "%.4g, gain %.6g of %.6g\n",
                      p.columns.size(), d->generated, d->solves,
                      d->values.refused, d->bound.refused, d->values.gain,
                      d->bound.gain);
     }},
    {"unified, the load alone", rounds / 10 + 1,
     [](core::philox& random, uint32_t workers) {
       const auto p = all_routes(random, workers);
       std::vector<uint32_t> count(p.pools.size(), 0);
       // Each variant has one batch and one budget.
       for (size_t k = 0; k < count.size(); k += 12)
         count[k + random.below(12)] = workers / 20;
       expect(static_cast<bool>(unified::spread(p, count, quick_options())),
              "a spread load");
     }},
    {"matching of workers", rounds / 10 + 1,
     [known = nine_seconds_to_load(6)](core::philox& random, uint32_t workers) {
       const auto there = some_workers(random, workers);
       std::vector<hosting_target> wanted;
       for (uint32_t v = 0; v < 6; ++v)
         wanted.push_back({{core::variant_id{v}}, workers / 6, {}});
       expect(match_workers(there, wanted, known).moves <= workers, "a match");
     }},
  };
}

void print_plans(size_t rounds) {
  std::printf("%-31s", "ms: middle and worst");
  for (const uint32_t n : cluster_sizes)
    std::printf(" %10u workers", n);
  std::printf("\n");
  for (const plan_case& c : plans(rounds)) {
    std::printf("%-31s", c.name);
    for (const uint32_t n : cluster_sizes)
      print_cell(
        timed(c.rounds, [&](core::philox& random) { c.once(random, n); }), 1e3);
    std::printf("\n");
  }
}

profile published(const std::string& file) {
  std::ifstream in{std::string{ATELIER_BENCH_DIR} + "/../examples/profiles/"
                   + file};
  std::ostringstream text;
  text << in.rdbuf();
  auto p = parse_profile(text.str(), file);
  expect(static_cast<bool>(p), "a published profile");
  return std::move(*p);
}

/// A policy with the profile that it needs.
struct policy_case {
  const char* name;
  profile known;
};

std::vector<policy_case> policies() {
  const auto argus = published("argus-a100.json");
  auto edits = argus;
  edits.masked = {
    {core::variant_id{0}, 16, 1024, 640, 2, false, 1e-12, 1e-4, 2e-11, 1e-4}};
  return {{"atelier, argus' profile", argus},
          {"atelier, diffserve's", published("diffserve-sd-turbo.json")},
          {"atelier, modm's", published("modm-mi210.json")},
          {"argus", argus},
          {"argus-paper", argus},
          {"proteus", argus},
          {"diffserve", published("diffserve-sd-turbo.json")},
          {"diffserve-paper", published("diffserve-sd-turbo.json")},
          {"nirvana", published("nirvana-a10g.json")},
          {"modm", published("modm-mi210.json")},
          {"instgenie", edits},
          {"instgenie-paper", edits}};
}

cluster_view some_cluster(core::philox& random, const profile& known,
                          uint32_t workers) {
  cluster_view out;
  out.workers = some_workers(random, workers);
  for (worker_view& w : out.workers) {
    w.hosting = {core::variant_id{
      static_cast<uint32_t>(random.below(known.variants.size()))}};
    w.max_batch = 8;
    w.seats_taken = static_cast<uint32_t>(1 + random.below(8));
    w.seats_free = 8 - w.seats_taken;
    for (uint32_t i = 0; i < w.seats_taken; ++i)
      w.rows.push_back({random.uniform(), 1 + random.below(50), true});
  }
  return out;
}

demand some_demand(core::philox& random, uint32_t workers) {
  demand out;
  for (size_t i = 0; i < 10; ++i) {
    demand_window w;
    w.begin = out.now;
    w.length = std::chrono::seconds{10};
    out.now += w.length;
    w.arrived = random.below(workers * 6);
    w.searched = w.arrived;
    w.hits = w.arrived * 7 / 10;
    w.skips = {{10, w.hits / 2}, {25, w.hits - w.hits / 2}};
    w.predicted.assign(2, {100, 80, 60, 40, 20, 10});
    w.confidences.assign(201, 3);
    out.windows.push_back(std::move(w));
  }
  return out;
}

facts everything_known() {
  facts f;
  f.tolerated = std::vector<uint32_t>{3, 2};
  f.hit_likely = true;
  f.near.emplace();
  for (size_t i = 0; i < 8; ++i) {
    match m;
    m.similarity = 0.92;
    m.stored = {5, 10, 15, 20, 25};
    f.near->push_back(std::move(m));
  }
  f.mask = mask_facts{0.2, 1, true};
  return f;
}

void print_policies(size_t rounds) {
  std::printf("\n%-31s", "ms: whole plans of policies");
  for (const uint32_t n : cluster_sizes)
    std::printf(" %10u workers", n);
  std::printf("   us: one request of 1024\n");
  for (const policy_case& c : policies()) {
    std::printf("%-31s", c.name);
    const std::string name{c.name};
    const auto sut =
      *make_policy(name.substr(0, name.find(',')), papers::paper_policies());
    plan at_1024;
    cluster_view there_1024;
    for (const uint32_t n : cluster_sizes) {
      auto fixed = random_of(n);
      const auto there = some_cluster(fixed, c.known, n);
      plan now;
      print_cell(timed(rounds,
                       [&](core::philox& random) {
                         now = sut->replan(some_demand(random, n), c.known,
                                           there, now);
                         expect(now.workers.size() == n, "a plan");
                       }),
                 1e3);
      if (n == 1024) {
        at_1024 = now;
        there_1024 = there;
      }
    }
    core::request wanted;
    if (!c.known.masked.empty()) {
      wanted.kind = core::request_kind::edit;
      wanted.source = std::make_shared<core::source_images>();
      wanted.px = {768, 768};
    }
    const auto known = everything_known();
    print_cell(timed(rounds * 10,
                     [&](core::philox& random) {
                       const decision_context by{wanted,  known,      c.known,
                                                 at_1024, there_1024, random};
                       const auto chosen = sut->choose(by);
                       const auto* at = std::get_if<go>(&chosen);
                       expect(at != nullptr, "a route");
                       const auto& along = at_1024.routes[at->route.value];
                       sut->place(along.legs.front(), by);
                     }),
               1e6);
    std::printf("\n");
  }
}

/// Measures a worker's batch with 64 requests of three sizes. In each round an
/// ended row leaves, another joins, and the rows of the next step are chosen.
void print_batches(size_t rounds) {
  std::printf("\nus: middle and worst, a step's rows of 64 requests\n");
  const core::extent sizes[] = {{512, 512}, {768, 512}, {768, 768}};
  for (const uint32_t most : {1u, 8u, 64u}) {
    step_batch batch{most};
    uint64_t last = 0;
    const auto come = [&](core::philox& random) {
      batch_row row;
      row.ticket = {core::request_id{++last}, 1};
      row.shape = {core::variant_id{0}, sizes[random.below(3)]};
      row.steps_left = static_cast<uint32_t>(1 + random.below(50));
      row.prio = static_cast<core::priority>(random.below(3));
      expect(batch.add(row), "a row");
    };
    auto random = random_of(most);
    while (batch.size() < 64)
      come(random);
    std::printf("%-31s", ("at most " + std::to_string(most) + " rows").c_str());
    print_cell(timed(rounds,
                     [&](core::philox& r) {
                       const auto now = batch.next();
                       expect(!now.rows.empty(), "rows");
                       static_cast<void>(
                         batch.ran(now.rows, 1, std::chrono::milliseconds{40}));
                       while (batch.size() < 64)
                         come(r);
                     }),
               1e6);
    std::printf("\n");
  }
}

void print_requests(size_t rounds) {
  std::printf("\nus: middle and worst, 1024 workers\n");
  constexpr uint32_t workers = 1024;
  auto random = random_of(0);
  std::vector<argus::candidate> all(workers);
  for (auto& c : all)
    c = {static_cast<uint32_t>(random.below(6)), random.below(9), 4.2, 0};
  std::printf("%-31s", "argus, worker choice");
  print_cell(timed(rounds,
                   [&](core::philox& r) {
                     expect(choose_worker(all,
                                          static_cast<uint32_t>(r.below(6)),
                                          argus::wait_rule::with_own)
                              .has_value(),
                            "a worker");
                   }),
             1e6);
  std::printf("\n%-31s", "nirvana, eight neighbours");
  std::vector<match> near(8);
  for (auto& m : near) {
    m.similarity = 0.92;
    m.stored = {5, 10, 15, 20, 25};
  }
  const auto table_of_skips = nirvana::published_table();
  print_cell(
    timed(rounds,
          [&](core::philox&) {
            expect(nirvana::resume_furthest(near, table_of_skips).has_value(),
                   "a state");
          }),
    1e6);
  std::vector<instgenie::edit_worker> editors(workers);
  for (auto& w : editors) {
    w.max_batch = 8;
    for (size_t n = 1 + random.below(8); n > 0; --n)
      w.running.push_back({{random.uniform(), false},
                           static_cast<uint32_t>(1 + random.below(50)),
                           0});
  }
  const instgenie::estimator by{{1e-12, 1e-4, 1}, {2e-11, 1e-4, 1}};
  const auto steps = instgenie::equal_steps(16, {1024, 640, 2}, by,
                                            instgenie::recorded::outputs);
  const instgenie::edit_row edit{{0.11, false}, 50, 0};
  std::printf("\n%-31s", "instgenie, by step");
  print_cell(timed(rounds / 10 + 1,
                   [&](core::philox&) {
                     expect(choose_by_step(editors, edit, steps).has_value(),
                            "a worker");
                   }),
             1e6);
  std::printf("\n%-31s", "instgenie, by finish");
  print_cell(timed(rounds / 10 + 1,
                   [&](core::philox&) {
                     expect(choose_by_finish(editors, edit, steps).has_value(),
                            "a worker");
                   }),
             1e6);
  std::printf(
    "\n\nus: middle and worst, one step's plan of 70 unlike blocks\n");
  std::vector<instgenie::block_cost> blocks(70);
  for (auto& b : blocks)
    b = {1e-3 * random.uniform(), 1e-3 * (1 + random.uniform()),
         2e-3 * random.uniform()};
  std::printf("%-31s", "instgenie, published");
  print_cell(timed(rounds,
                   [&](core::philox&) {
                     expect(plan_greedy(blocks).seconds > 0, "a block plan");
                   }),
             1e6);
  std::printf("\n%-31s", "instgenie, exact");
  print_cell(timed(rounds,
                   [&](core::philox&) {
                     expect(plan_exact(blocks).seconds > 0, "a block plan");
                   }),
             1e6);
  std::printf("\n");
}

} // namespace

int main(int argc, char** argv) {
  const size_t rounds =
    argc > 1 ? std::max<size_t>(std::strtoul(argv[1], nullptr, 10), 1) : 300;
  print_plans(rounds);
  print_policies(rounds);
  print_requests(rounds);
  print_batches(rounds);
  return 0;
}
