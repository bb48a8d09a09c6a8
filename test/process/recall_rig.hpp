// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace atelier::test {

/// The steps of a run, and the number after which it keeps a state.
inline constexpr uint32_t recall_steps = 10;
inline constexpr uint32_t recall_kept = 5;

/// Returns a profile that lets a policy reuse work from this similarity of
/// texts on.
inline planning::profile with_reuse(double similarity = 0.9) {
  planning::profile p;
  for (const auto* const name : {"card@10", "card@4"}) {
    auto v = *planning::parse_variant(name);
    v.native_px = {64, 64};
    v.step = {{1, 64 * 64, std::chrono::milliseconds{1}, 9}};
    v.quality = 0.5;
    p.variants.push_back(v);
  }
  p.reuse.emplace();
  p.reuse->full = core::variant_id{0};
  p.reuse->small = {core::variant_id{1}};
  p.reuse->steps = recall_steps;
  p.reuse->latents = {{recall_kept, similarity}};
  p.reuse->images = {{recall_kept, similarity}};
  p.reuse->images_by = planning::compared::prompts;
  p.reuse->answers_from = similarity;
  return p;
}

/// Starts engines with a cache, by a profile that lets requests start from it.
struct recall_rig {
  explicit recall_rig(double similarity = 0.9) {
    folder.write("measured.json", planning::to_json(with_reuse(similarity)));
  }

  std::vector<std::string> settings(const std::string& policy = "nirvana") {
    return {"devices=[{name='cpu:0',executor='test_card',variants=['card@10',"
            "'card@4'],test_card_step_ms=20}]",
            "policy.name='" + policy + "'",
            "planner.profile='" + (folder.path / "measured.json").string()
              + "'",
            "arena.capture_slots=8", "cache.memory_mib=16",
            // A busy machine is no slow disk.
            "cache.disk_wait_ms=60000", "cache.disk_write_wait_ms=60000",
            "scheduler.facts_ms=60000"};
  }

  std::unique_ptr<engine> start(mode how,
                                const std::string& policy = "nirvana") {
    return test::start(how, settings(policy));
  }

  // Returns the reason why such an engine does not start.
  std::string refusal(std::vector<std::string> more,
                      const std::string& policy = "nirvana",
                      const std::string& code = "bad_config") {
    auto set = settings(policy);
    set.insert(set.end(), more.begin(), more.end());
    const auto made = engine::start(options_of(mode::single, set));
    const auto* const why = std::get_if<failure>(&made);
    BOOST_TEST_REQUIRE(why != nullptr);
    BOOST_TEST(why->code == code);
    return why->text;
  }

  static generation wanted(std::string prompt) {
    generation x;
    x.prompt = std::move(prompt);
    x.width = x.height = 64;
    x.seed = 11;
    // A chosen seed would keep the cache from being read.
    x.cache = "on";
    return x;
  }

  // Waits until this many answers are remembered, which happens after they are
  // sent.
  static void remembered(const engine& sut, uint64_t entries = 1) {
    BOOST_TEST_REQUIRE(eventually(
      [&] { return sut.status().cache.value().entries >= entries; }));
  }

  // Repeats the request until an answer's route begins with this, because
  // `nirvana` draws a share of the requests in full.
  static generated_image repeated(engine& sut, const generation& x,
                                  const std::string& route = "latent") {
    for (int i = 0; i < 40; ++i) {
      const auto again = answers_to(sut, {x});
      const auto& made = image_in(again.front());
      if (made.route.starts_with(route))
        return made;
    }
    BOOST_FAIL("no answer started from earlier work");
    return {};
  }

  scratch_folder folder;
};

} // namespace atelier::test
