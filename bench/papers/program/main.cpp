// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/policies/paper_policies.hpp>
#include <atelier/bench/papers/program/reproduce_command.hpp>
#include <atelier/runtime/cli/program_main.hpp>

using namespace atelier::runtime::cli;

namespace {

started_service start_nothing(const atelier::engine_options&) {
  return atelier::failure{"unavailable",
                          "atelier-papers repeats the papers' experiments, and "
                          "compares their policies; the program 'atelier' does "
                          "everything else"};
}

} // namespace

/// The program that `atelier simulate --reproduce` executes, and `simulate` and
/// `plan` with a policy that only the papers compare with.
int main(int count, char** arguments) {
  return program_main(count, arguments, start_nothing, {{}, {}, reproduce, {}},
                      atelier::papers::paper_policies());
}
