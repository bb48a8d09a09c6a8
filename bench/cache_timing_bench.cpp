// SPDX-License-Identifier: Apache-2.0

// Does the time of a request show what another tenant's requests left in the
// cache? A victim draws a prompt or, for equal load, another one; then an
// attacker asks for the first prompt. A threshold that half of the times chose
// guesses for the other half which prompt the victim drew. If the attacker is
// another tenant, its accuracy should be 0.5; if both are one tenant, the
// attack works. The same is printed for the time of the search alone, which
// answers contain.
//
//   cache_timing_bench [PAIRS]

#include "profile_file.hpp"
#include <atelier/atelier.hpp>
#include <atelier/core/philox.hpp>

#include <support/threshold_classifier.hpp>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace atelier;
using test::measurement;

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "cache_timing_bench: %s\n", why.c_str());
  std::exit(1);
}

/// Returns a profile by which a similar prompt's image is reused.
planning::profile reusing_profile() {
  planning::profile p;
  auto v = *planning::parse_variant("card@10");
  v.native_px = {64, 64};
  v.step = {{1, 64 * 64, std::chrono::milliseconds{1}, 9}};
  v.quality = 0.5;
  p.variants.push_back(v);
  v.name = "card@4";
  v.steps = 4;
  p.variants.push_back(v);
  p.reuse.emplace();
  p.reuse->full = core::variant_id{0};
  p.reuse->small = {core::variant_id{1}};
  p.reuse->steps = 10;
  p.reuse->images = {{5, 0.9}};
  p.reuse->images_by = planning::compared::prompts;
  return p;
}

std::unique_ptr<engine> started(const std::filesystem::path& profile) {
  engine_options x;
  x.set = {"processes.mode=single",
           "arena.state_slots=16",
           "arena.image_slots=12",
           "arena.image_slot_kib=1024",
           "arena.state_slot_kib=128",
           "arena.capture_slots=8",
           "log.level=off",
           "devices=[{name='cpu:0',executor='test_card',variants=['card@10',"
           "'card@4']}]",
           "policy.name='modm'",
           "planner.profile='" + profile.string() + "'",
           "cache.memory_mib=64"};
  auto made = engine::start(x);
  if (const auto* why = std::get_if<failure>(&made))
    stop(why->text);
  return std::get<0>(std::move(made));
}

auto drawn(engine& by, const std::string& tenant, const std::string& prompt,
           const char* use) {
  generation x;
  x.prompt = prompt;
  x.width = x.height = 64;
  x.seed = 11;
  x.cache = use;
  x.tenant = tenant;
  auto made = by.submit(x).value().result.get();
  if (!made)
    stop(made.why().text);
  return std::get<0>(std::move(made));
}

struct series {
  std::vector<measurement> total;
  std::vector<measurement> search;
};

series measured(const std::filesystem::path& profile, const char* victim,
                uint64_t pairs) {
  const std::string attacker = "attacker";
  const bool shares = victim == attacker;
  const auto by = started(profile);
  core::philox random{1, core::purpose::test};
  series out;
  for (uint64_t i = 0; i < pairs; ++i) {
    const bool hit_first = random.below(2) == 0;
    for (const bool hit : {hit_first, !hit_first}) {
      const auto name = std::to_string(2 * i + (hit ? 1 : 0));
      const auto secret = "secret" + name + " painting of house" + name;
      const auto other = "public" + name + " drawing near lake" + name;
      const auto before = by->status().cache.value().entries;
      drawn(*by, victim, hit ? secret : other, "write");
      while (by->status().cache.value().entries == before)
        usleep(100);
      const auto made = drawn(*by, attacker, secret, "read");
      if (made.reused.has_value() != (hit && shares))
        stop("'" + made.route + "' is not the expected route");
      out.total.push_back(
        {std::chrono::duration<double>(made.took.total).count(), hit});
      out.search.push_back(
        {std::chrono::duration<double>(made.took.retrieve).count(), hit});
    }
  }
  return out;
}

void print(const char* what, const char* of,
           const std::vector<measurement>& from) {
  const auto x = test::judged(from);
  std::printf("%-16s %-12s accuracy %.3f, 0.5 +- %.3f: %s\n", what, of,
              x.accuracy, x.interval,
              x.tells() ? "shows something" : "shows nothing");
}

} // namespace

int main(int argc, char** argv) {
  const uint64_t pairs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000;
  if (pairs == 0)
    stop("PAIRS is a number from 1");
  const bench::profile_file profile{reusing_profile()};
  for (const auto* const victim : {"victim", "attacker"}) {
    const auto* const what =
      victim == std::string{"attacker"} ? "within a tenant" : "across tenants";
    const auto times = measured(profile.path, victim, pairs);
    print(what, "whole time", times.total);
    print(what, "search", times.search);
  }
  return 0;
}
