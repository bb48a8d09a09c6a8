// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/request.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <set>

using namespace atelier::core;

namespace {

// Calls `check` with the values 0, 1, ... of T that have a name.
template <class T, class F>
size_t for_each_named(F check) {
  size_t n = 0;
  for (; to_string(static_cast<T>(n)) != "unknown"; ++n)
    check(static_cast<T>(n));
  return n;
}

uint32_t diffusers_share(sampler with, uint32_t steps, float strength) {
  return steps_of_share(with, steps, strength, strength_rule::diffusers);
}

} // namespace

BOOST_AUTO_TEST_SUITE(request_test)

BOOST_AUTO_TEST_CASE(names_are_read_back) {
  BOOST_TEST(for_each_named<sampler>([](sampler x) {
               BOOST_TEST((parse_sampler(to_string(x)) == x));
             })
             == sampler_count);
  BOOST_TEST(for_each_named<noise_source>([](noise_source) {}) == 2u);
  BOOST_TEST(for_each_named<image_format>([](image_format x) {
               BOOST_TEST((parse_image_format(to_string(x)) == x));
             })
             == 3u);
  BOOST_TEST(for_each_named<priority>([](priority x) {
               BOOST_TEST((parse_priority(to_string(x)) == x));
             })
             == 3u);
  BOOST_TEST(for_each_named<request_kind>([](request_kind) {}) == 4u);
}

BOOST_AUTO_TEST_CASE(other_names_are_refused) {
  for (std::string_view name : {"", "DDIM", "ddim ", "unknown", "pn", "pngg"}) {
    BOOST_TEST(!parse_sampler(name));
    BOOST_TEST(!parse_image_format(name));
    BOOST_TEST(!parse_priority(name));
  }
}

BOOST_AUTO_TEST_CASE(the_share_of_the_steps_is_that_of_the_written_number) {
  // The count equals Python's int(steps * 0.29).
  for (uint32_t steps = 1; steps <= 150; ++steps)
    for (int hundredths = 1; hundredths <= 100; ++hundredths) {
      const double meant = hundredths / 100.0;
      const auto strength = static_cast<float>(meant);
      BOOST_TEST_CONTEXT(steps << " x " << meant) {
        BOOST_REQUIRE_EQUAL(diffusers_share(sampler::euler, steps, strength),
                            static_cast<uint32_t>(steps * meant));
        BOOST_REQUIRE_EQUAL(
          diffusers_share(sampler::flow_match_euler, steps, strength),
          steps - static_cast<uint32_t>(steps - steps * meant));
        BOOST_REQUIRE_EQUAL(diffusers_share(sampler::lcm, steps, strength),
                            steps);
      }
    }
  BOOST_TEST(diffusers_share(sampler::ddim, 10, 0.7f) == 7u);
  BOOST_TEST(diffusers_share(sampler::ddim, 100, 0.29f) == 28u);
  BOOST_TEST(diffusers_share(sampler::ddim, 4, 0.1f) == 0u);
  BOOST_TEST(diffusers_share(sampler::ddim, 150, 1) == 150u);
}

BOOST_AUTO_TEST_CASE(the_web_ui_runs_one_step_more_along_sigmas) {
  const auto share = [](sampler with, uint32_t steps, float strength) {
    return steps_of_share(with, steps, strength, strength_rule::webui);
  };
  for (uint32_t steps = 1; steps <= 150; ++steps)
    for (int hundredths = 0; hundredths <= 100; ++hundredths) {
      const double meant = hundredths / 100.0;
      const auto strength = static_cast<float>(meant);
      // The web UI's int(min(strength, 0.999) * steps) + 1.
      const auto run =
        static_cast<uint32_t>(std::min(meant, 0.999) * steps) + 1;
      BOOST_TEST_CONTEXT(steps << " x " << meant)
      for (const auto with : {sampler::euler, sampler::euler_ancestral,
                              sampler::dpmpp_2m, sampler::flow_match_euler})
        BOOST_REQUIRE_EQUAL(share(with, steps, strength), run);
    }
  BOOST_TEST(share(sampler::euler, 20, 0.75f) == 16u);
  BOOST_TEST(share(sampler::euler, 20, 0.001f) == 1u);
  // The web UI's DDIM and diffusers' count the same steps.
  BOOST_TEST(share(sampler::ddim, 20, 0.75f) == 15u);
  BOOST_TEST(share(sampler::lcm, 8, 0.5f) == 8u);
}

BOOST_AUTO_TEST_CASE(a_run_has_a_step_at_least) {
  recipe how;
  how.steps = 4;
  BOOST_TEST(steps_to_run(how) == 4u);
  how.strength = 0.5f;
  BOOST_TEST(steps_to_run(how) == 2u);
  how.strength = 0.1f;
  BOOST_TEST(steps_to_run(how) == 1u);
  how.strength = 1e-30f;
  BOOST_TEST(steps_to_run(how) == 1u);
}

BOOST_AUTO_TEST_CASE(lcm_runs_all_its_steps_or_the_last_of_them) {
  recipe how;
  how.sampler = sampler::lcm;
  how.steps = 8;
  how.strength = 0.7f;
  BOOST_TEST(steps_to_run(how) == 8u);
  how.lcm_steps = share_steps::cut;
  BOOST_TEST(steps_to_run(how) == 5u);
  how.strength = 1;
  BOOST_TEST(steps_to_run(how) == 8u);
  how.sampler = sampler::ddim;
  how.strength = 0.5f;
  how.lcm_steps = share_steps::spread;
  BOOST_TEST(steps_to_run(how) == 4u);
}

BOOST_AUTO_TEST_SUITE_END()
