// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/each_target.hpp"
#include <atelier/gpu/kernels/host_features.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::gpu::host;
using atelier::test::targets_that_run;

BOOST_AUTO_TEST_SUITE(kernel_target_test)

BOOST_AUTO_TEST_CASE(the_fastest_that_runs_is_chosen) {
  BOOST_TEST(runs_kernels() == !targets_that_run().empty());
  if (runs_kernels())
    BOOST_TEST(detail::chosen_target().name == targets_that_run().back()->name);
}

BOOST_AUTO_TEST_CASE(a_forced_target_is_chosen_until_it_is_released) {
  BOOST_TEST(true);
  for (const auto* target : targets_that_run()) {
    {
      const atelier::test::forced_target forced{*target};
      BOOST_TEST(detail::chosen_target().name == target->name);
    }
    BOOST_TEST(detail::chosen_target().name == targets_that_run().back()->name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
