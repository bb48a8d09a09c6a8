// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/instruction_set.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::test {

/// Limits the process to an instruction set in a scope.
class limited_instructions {
public:
  explicit limited_instructions(core::instruction_set most) {
    const auto limited = core::limit_instruction_set(most);
    BOOST_REQUIRE(limited.operator bool());
  }

  ~limited_instructions() {
    static_cast<void>(
      core::limit_instruction_set(core::available_instruction_sets().back()));
  }

  limited_instructions(const limited_instructions&) = delete;
  limited_instructions& operator=(const limited_instructions&) = delete;
};

/// Runs `check` with each instruction set of this processor in use.
template <class Check>
void on_each_instruction_set(const Check& check) {
  for (const auto set : core::available_instruction_sets()) {
    const limited_instructions limited{set};
    BOOST_TEST_CONTEXT("with " << core::to_string(set)) {
      check();
    }
  }
}

} // namespace atelier::test
