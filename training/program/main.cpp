// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/program_main.hpp>
#include <atelier/training/program/evaluate_command.hpp>
#include <atelier/training/program/train_command.hpp>

using namespace atelier::runtime::cli;

namespace {

started_service start_nothing(const atelier::engine_options&) {
  return atelier::failure{"unavailable",
                          "atelier-training trains and evaluates; the program "
                          "'atelier' does everything else"};
}

} // namespace

/// Runs `atelier train` and `atelier evaluate`, which continue as this program.
int main(int count, char** arguments) {
  return program_main(count, arguments, start_nothing,
                      {train, evaluate, {}, {}});
}
