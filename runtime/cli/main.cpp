// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/engine_service.hpp>
#include <atelier/runtime/cli/program.hpp>

#include <exception>
#include <random>

using namespace atelier::runtime::cli;

namespace {

/// 32 bits: short to tell and to type, and all that PyTorch's generator takes
/// of a seed.
uint64_t draw_seed() {
  return std::random_device{}();
}

} // namespace

int main(int count, char** arguments) {
  const auto terminal = standard_console();
  try {
    signal_interruption interrupted;
    environment world{terminal, interrupted, start_engine_service,
                      std::string{atelier::version()}, draw_seed};
    return static_cast<int>(
      run_program({arguments + 1, arguments + count}, world));
  } catch (const std::exception& e) {
    terminal.complain(std::string{"internal: "} + e.what());
    return static_cast<int>(exit_status::failed);
  }
}
