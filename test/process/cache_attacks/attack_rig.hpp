// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/codec.hpp>
#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <process/engine_fixture.hpp>
#include <process/recall_rig.hpp>

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::test {

/// What the cache lets a client see: all of an image's answer that may depend
/// on earlier work. The number of the entry is another test's subject.
struct seen {
  std::string route;
  uint32_t steps_run = 0;
  std::string variant;
  /// Empty if the image started from nothing.
  std::string reused;
  double similarity = 0;
  uint32_t saved = 0;
  std::vector<std::string> notes;
  std::vector<uint8_t> pixels;

  bool is_hit() const {
    return !reused.empty();
  }

  friend bool operator==(const seen&, const seen&) = default;

  friend std::ostream& operator<<(std::ostream& out, const seen& x) {
    return out << x.route << ", " << x.steps_run << " steps, '" << x.reused
               << "' " << x.similarity;
  }
};

/// Whether the cache is in memory or on a disk.
enum class tier : uint8_t { memory, disk };

inline std::ostream& operator<<(std::ostream& out, tier x) {
  return out << (x == tier::memory ? "in memory" : "on disk");
}

inline constexpr tier tiers[] = {tier::memory, tier::disk};

/// Steps that a request skips whose prompt is alike, and whose prompt is the
/// same.
inline constexpr uint32_t alike_skip = 3;
inline constexpr uint32_t same_skip = 5;

/// An engine with a cache, and the names of two tenants.
struct attack_rig {
  attack_rig() {
    thresholds(0.5, 0.9);
  }

  /// Sets from which similarity prompts are alike, and the same.
  void thresholds(double alike, double same) {
    auto profile = with_reuse();
    profile.reuse->images = {{alike_skip, alike}, {same_skip, same}};
    folder.write("measured.json", planning::to_json(profile));
  }

  std::vector<std::string> settings(tier kept,
                                    const std::vector<std::string>& more,
                                    const std::string& policy = "modm") {
    std::vector<std::string> set{
      "devices=[{name='cpu:0',executor='test_card',variants=['card@10',"
      "'card@4']}]",
      "policy.name='" + policy + "'",
      "planner.profile='" + (folder.path / "measured.json").string() + "'",
      "arena.capture_slots=8", "cache.memory_mib=16",
      // A plan that changes meanwhile would be seen too.
      "planner.period_s=3600", "monitor.window_s=3600",
      "scheduler.facts_ms=60000", "scheduler.facts_share=1"};
    if (kept == tier::disk) {
      set.push_back("cache.folder='"
                    + (folder.path / std::to_string(++folders)).string() + "'");
      set.emplace_back("cache.disk_mib=16");
      // A busy machine is no slow disk.
      set.emplace_back("cache.disk_wait_ms=60000");
    }
    set.insert(set.end(), more.begin(), more.end());
    return set;
  }

  std::unique_ptr<engine> start(tier kept, const std::vector<std::string>& more,
                                const std::string& policy = "modm") {
    return test::start(mode::single, settings(kept, more, policy));
  }

  /// Asks for an image. What it leaves is kept when this returns.
  static generated_image image_of(engine& by, std::string_view tenant,
                                  std::string_view prompt, std::string_view use,
                                  uint64_t seed = 11) {
    auto x = recall_rig::wanted(std::string{prompt});
    x.tenant = tenant;
    x.cache = use;
    x.seed = seed;
    const auto made = answers_to(by, {x});
    BOOST_TEST_REQUIRE(comes_to_rest(by));
    return image_in(made.front());
  }

  static seen ask(engine& by, std::string_view tenant, std::string_view prompt,
                  std::string_view use = "read", uint64_t seed = 11) {
    const auto x = image_of(by, tenant, prompt, use, seed);
    seen out;
    out.route = x.route;
    out.steps_run = x.steps_run;
    out.variant = x.variant;
    if (x.reused) {
      out.reused = x.reused->kind;
      out.similarity = x.reused->similarity;
      out.saved = x.reused->steps;
    }
    for (const auto& note : x.notes)
      out.notes.push_back(note.code);
    const auto decoded = image::decode(x.bytes);
    BOOST_TEST_REQUIRE(bool{decoded});
    out.pixels = decoded->bytes;
    return out;
  }

  static void draw(engine& by, std::string_view tenant, std::string_view prompt,
                   uint64_t seed = 11) {
    BOOST_TEST_REQUIRE(!ask(by, tenant, prompt, "write", seed).is_hit());
  }

  scratch_folder folder;
  int folders = 0;
};

} // namespace atelier::test
