// SPDX-License-Identifier: Apache-2.0

// Images that are refined by a smaller model of other steps than the full one,
// on a running engine.

#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <process/recall_rig.hpp>
#include <support/eventually.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

/// Full runs have 10 steps and those of the small model 4; images skip half.
struct refining_rig : test::recall_rig {
  /// Makes the small model's latents of another shape than the full one's.
  void give_small_other_latents() {
    auto measured = test::with_reuse();
    measured.variants[1].latent_channels = 16;
    folder.write("measured.json", planning::to_json(measured));
  }

  std::unique_ptr<engine> start_two(mode how, const std::string& policy) {
    const std::string device = "executor='test_card',variants=['card@10',"
                               "'card@4'],test_card_step_ms=20}";
    auto set = settings(policy);
    set[0] =
      "devices=[{name='cpu:0'," + device + ",{name='cpu:1'," + device + "]";
    set.insert(set.end(), {"planner.period_s=0.2", "monitor.window_s=0.2"});
    return test::start(how, set);
  }

  static std::vector<generation> many(size_t n) {
    return std::vector<generation>(n, wanted("a red ball on a table"));
  }

  static bool hosts_small(const engine& sut) {
    const auto all = sut.status().workers;
    return std::any_of(all.begin(), all.end(), [](const auto& w) {
      return w.variants == std::vector<std::string>{"card@4"};
    });
  }

  /// Sends hits until a device has changed to the small model; returns the
  /// answers to the last ones.
  static std::vector<answer> refined(engine& sut) {
    const auto first = test::answers_to(sut, many(1));
    BOOST_TEST(test::image_in(first.front()).route == "miss");
    remembered(sut);
    std::vector<answer> last;
    BOOST_TEST_REQUIRE(test::eventually([&] {
      last = test::answers_to(sut, many(40));
      return std::any_of(last.begin(), last.end(), [](const answer& x) {
        return test::image_in(x).variant == "card@4";
      });
    }));
    return last;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_refining_test, refining_rig)

BOOST_AUTO_TEST_CASE(the_small_model_refines_hits_and_the_full_one_draws) {
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      auto sut = start_two(how, "modm");
      BOOST_TEST(!hosts_small(*sut));
      size_t small = 0;
      for (const auto& made : refined(*sut)) {
        const auto& x = test::image_in(made);
        BOOST_TEST(x.route == "hit, k=5");
        BOOST_TEST(x.steps_run == (x.variant == "card@4" ? 2u : 5u));
        BOOST_TEST(x.reused.value().kind == "image");
        small += x.variant == "card@4" ? 1u : 0u;
      }
      // By now the device may host the full model again.
      BOOST_TEST(small > 0u);
      const auto other =
        test::answers_to(*sut, {wanted("seven green glass towers")});
      BOOST_TEST(test::image_in(other.front()).route == "miss");
      BOOST_TEST(test::image_in(other.front()).variant == "card@10");
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(a_hit_is_prepared_again_for_a_model_of_other_latents) {
  give_small_other_latents();
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      auto sut = start_two(how, "modm");
      size_t full = 0;
      for (const auto& made : refined(*sut)) {
        const auto& x = test::image_in(made);
        BOOST_TEST(x.route == "hit, k=5");
        BOOST_TEST(x.steps_run == (x.variant == "card@4" ? 2u : 5u));
        full += x.variant == "card@10" ? 1u : 0u;
      }
      // The device that draws whole images helps with hits.
      BOOST_TEST(full > 0u);
      BOOST_TEST(sut->status().failed == 0u);
      BOOST_TEST(test::comes_to_rest(*sut));
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_SUITE_END()
