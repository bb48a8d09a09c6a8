// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/engine_service.hpp>
#include <atelier/runtime/cli/program_main.hpp>

int main(int count, char** arguments) {
  using namespace atelier::runtime::cli;
  return program_main(count, arguments, start_engine_service, {});
}
