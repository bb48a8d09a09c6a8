// SPDX-License-Identifier: Apache-2.0

// How long plans take: each decision function on clusters of 8 to 10,000
// workers, with random loads, middle and worst of many. Each plan is checked
// before it counts. What runs for a request, not for a plan, is told in
// microseconds at the end.
//
//   planning_bench [ROUNDS]

#include <atelier/core/philox.hpp>
#include <atelier/planning/argus/allocation.hpp>
#include <atelier/planning/argus/shift.hpp>
#include <atelier/planning/argus/worker_choice.hpp>
#include <atelier/planning/diffserve/allocation.hpp>
#include <atelier/planning/diffserve/direct.hpp>
#include <atelier/planning/instgenie/worker_choice.hpp>
#include <atelier/planning/modm/control.hpp>
#include <atelier/planning/nirvana/step_choice.hpp>
#include <atelier/planning/solver/match_workers.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
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

/// Runs `once` for each round and returns its seconds, sorted.
std::vector<double> timed(size_t rounds,
                          const std::function<void(core::philox&)>& once) {
  std::vector<double> out;
  for (size_t i = 0; i < rounds; ++i) {
    auto random = random_of(i);
    const auto from = std::chrono::steady_clock::now();
    once(random);
    out.push_back(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - from)
        .count());
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
                allocate_by_programme(turbo_and_full(random, workers))),
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
    for (size_t n = random.below(8); n > 0; --n)
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
  print_requests(rounds);
  return 0;
}
