// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/each_target.hpp"
#include <atelier/gpu/kernels/host_features.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::gpu::host;
using atelier::core::instruction_set;
using atelier::test::limited_instructions;
using atelier::test::targets_that_run;

BOOST_AUTO_TEST_SUITE(kernel_target_test)

BOOST_AUTO_TEST_CASE(the_fastest_that_runs_is_chosen) {
  BOOST_TEST(runs_kernels() == !targets_that_run().empty());
  if (runs_kernels())
    BOOST_TEST(&detail::chosen_target() == targets_that_run().back());
}

BOOST_AUTO_TEST_CASE(the_set_in_use_chooses_the_target) {
  BOOST_TEST(true);
  for (const auto* target : targets_that_run()) {
    const limited_instructions limited{target->set};
    BOOST_TEST(runs_kernels());
    BOOST_TEST(&detail::chosen_target() == target);
  }
}

BOOST_AUTO_TEST_CASE(no_kernel_runs_with_portable_instructions) {
  const limited_instructions limited{instruction_set::portable};
  BOOST_TEST(!runs_kernels());
}

BOOST_AUTO_TEST_SUITE_END()
