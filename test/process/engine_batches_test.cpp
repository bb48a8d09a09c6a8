// SPDX-License-Identifier: Apache-2.0

// Which rows share the steps of a running engine's device.

#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

generation of_variant(const std::string& variant, uint64_t seed) {
  generation x;
  x.prompt = "a row of " + variant;
  x.variant = variant;
  x.width = x.height = 64;
  x.seed = seed;
  return x;
}

uint64_t steps_of_two(const engine& x) {
  const auto batches = x.status().batches;
  return batches.size() > 2 ? batches[2] : 0;
}

std::unique_ptr<engine> start(mode how, const std::string& variants) {
  return test::start(how,
                     {"devices=[{name='cpu:0',executor='test_card',variants="
                        + variants + ",test_card_step_ms=5}]",
                      "policy.name=\"vanilla\""});
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_batches_test)

BOOST_AUTO_TEST_CASE(variants_that_differ_in_steps_share_steps) {
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      const auto sut = start(how, "['card@20','card@10']");
      const std::vector wanted{of_variant("card@20", 1),
                               of_variant("card@10", 2)};
      std::vector<answer> alone;
      for (const auto& x : wanted)
        alone.push_back(test::answers_to(*sut, {x}).front());
      BOOST_TEST(steps_of_two(*sut) == 0u);
      // The second row may arrive after the first one's last step.
      const bool shared = test::eventually(
        [&] {
          const auto together = test::answers_to(*sut, wanted);
          for (size_t i = 0; i < wanted.size(); ++i)
            test::check_same_image(test::image_in(together[i]),
                                   test::image_in(alone[i]));
          return steps_of_two(*sut) > 0;
        },
        30s);
      BOOST_TEST(shared);
    }
}

BOOST_AUTO_TEST_CASE(rows_of_two_models_share_no_step) {
  const auto sut = start(mode::single, "['card@20','other@20']");
  for (uint64_t i = 0; i < 5; ++i)
    test::answers_to(*sut,
                     {of_variant("card@20", i), of_variant("other@20", i)});
  BOOST_TEST(steps_of_two(*sut) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
