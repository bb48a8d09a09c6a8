// SPDX-License-Identifier: Apache-2.0

// How long do a million simulated requests take, and how much memory?
//
// A steady load with a cascade of two variants on sixteen devices runs through
// the real actors in virtual time. The program does not link LibTorch, which
// needs some 100 MB by itself. Before it prints a result, the program checks
// that every request has ended exactly once.

#include <atelier/bench/papers/policies/paper_policies.hpp>
#include <atelier/planning/demand/workload.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/simulation/simulate.hpp>

#include <fmt/format.h>

#include <sys/resource.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace {

using namespace atelier;

constexpr double requests_a_second = 20;
constexpr uint32_t devices = 16;
constexpr uint64_t contents = 1000;

int fail(std::string_view why) {
  fmt::print(stderr, "million_bench: {}\n", why);
  return EXIT_FAILURE;
}

std::vector<planning::traced_arrival> steady(uint64_t count) {
  planning::load_spec load;
  load.kind = planning::load_kind::steady;
  load.low = load.high = requests_a_second;
  load.seconds = static_cast<double>(count) / requests_a_second;
  load.seed = 1;
  const auto times = planning::arrivals(load);
  std::vector<planning::traced_arrival> out;
  if (!times)
    return out;
  out.reserve(times->size());
  core::philox random{1, core::purpose::sampling};
  for (const double t : *times)
    out.push_back({t, random.below(contents)});
  return planning::one_image_each(std::move(out));
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4)
    return fail("usage: million_bench PROFILE [POLICY [REQUESTS]]");
  std::ifstream file{argv[1]};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  auto known = planning::parse_profile(text, argv[1]);
  if (!known)
    return fail(known.why().text);
  const auto policy = planning::make_policy(argc > 2 ? argv[2] : "diffserve",
                                            papers::paper_policies());
  if (!policy)
    return fail(policy.why().text);
  uint64_t count = 1'000'000;
  if (argc > 3) {
    const std::string_view said{argv[3]};
    const auto [end, bad] =
      std::from_chars(said.data(), said.data() + said.size(), count);
    if (bad != std::errc{} || end != said.data() + said.size() || count == 0)
      return fail("REQUESTS is no whole number above 0");
  }
  runtime::scenario of;
  of.profile = std::make_shared<const planning::profile>(std::move(*known));
  of.policy = *policy;
  of.trace = steady(count);
  of.workers = devices;
  of.deadline = runtime::usual_deadline(*of.profile);
  of.interval_seconds = 60;
  const auto ran = runtime::simulate(of);
  if (!ran)
    return fail(ran.why().text);
  if (ran->requests != of.trace.size()
      || ran->completed + ran->dropped != ran->requests)
    return fail(fmt::format("{} of {} requests have an end",
                            ran->completed + ran->dropped, of.trace.size()));
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  fmt::print("{} requests, {} on {} devices: {:.1f} s, {:.0f} events a second, "
             "{:.0f} MB; {:.2f} % late or lost\n",
             ran->requests, ran->policy, devices, ran->wall_seconds,
             static_cast<double>(ran->events) / ran->wall_seconds,
             static_cast<double>(used.ru_maxrss) / 1024,
             100 * static_cast<double>(ran->violations())
               / static_cast<double>(ran->requests));
  return EXIT_SUCCESS;
}
