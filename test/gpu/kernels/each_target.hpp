// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/kernels/detail/kernel_target.hpp>

#include <boost/test/unit_test.hpp>

#include <vector>

namespace atelier::test {

/// Returns the compiled targets that this processor runs.
inline std::vector<const gpu::host::detail::kernel_target*> targets_that_run() {
  std::vector<const gpu::host::detail::kernel_target*> out;
  for (const auto* target : gpu::host::detail::compiled_targets())
    if (target->runs())
      out.push_back(target);
  return out;
}

/// Makes the public kernels those of one target in a scope.
class forced_target {
public:
  explicit forced_target(const gpu::host::detail::kernel_target& target) {
    gpu::host::detail::force_target(&target);
  }

  ~forced_target() {
    gpu::host::detail::force_target(nullptr);
  }

  forced_target(const forced_target&) = delete;
  forced_target& operator=(const forced_target&) = delete;
};

/// Runs `check` with the kernels of each target that this processor runs, or
/// says that no target does.
template <class Check>
void on_each_target(const Check& check) {
  const auto all = targets_that_run();
  if (all.empty())
    BOOST_TEST_MESSAGE("skipped: no kernel is compiled for this processor");
  BOOST_TEST(true);
  for (const auto* target : all) {
    const forced_target forced{*target};
    BOOST_TEST_CONTEXT("the kernels for " << target->name) {
      check();
    }
  }
}

} // namespace atelier::test
