// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/each_instruction_set.hpp"
#include <atelier/gpu/kernels/detail/kernel_target.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

namespace atelier::test {

/// Returns the compiled targets that this processor runs.
inline std::vector<const gpu::host::detail::kernel_target*> targets_that_run() {
  const auto& sets = core::available_instruction_sets();
  std::vector<const gpu::host::detail::kernel_target*> out;
  for (const auto* target : gpu::host::detail::compiled_targets())
    if (std::ranges::find(sets, target->set) != sets.end())
      out.push_back(target);
  return out;
}

/// Runs `check` with the kernels of each target that this processor runs, or
/// says that no target does.
template <class Check>
void on_each_target(const Check& check) {
  const auto all = targets_that_run();
  if (all.empty())
    BOOST_TEST_MESSAGE("skipped: no kernel is compiled for this processor");
  BOOST_TEST(true);
  for (const auto* target : all) {
    const limited_instructions limited{target->set};
    BOOST_TEST_CONTEXT("the kernels for " << core::to_string(target->set)) {
      check();
    }
  }
}

} // namespace atelier::test
