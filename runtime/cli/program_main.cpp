// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/version.hpp>
#include <atelier/runtime/cli/program.hpp>
#include <atelier/runtime/cli/program_main.hpp>

#include <exception>
#include <random>

namespace atelier::runtime::cli {

namespace {

/// 32 bits: short to tell and to type, and all that PyTorch's generator takes
/// of a seed.
uint64_t draw_seed() {
  return std::random_device{}();
}

} // namespace

int program_main(int count, char** arguments, const service_starter& start,
                 const separate_commands& own, planning::policy_list policies) {
  const auto terminal = standard_console();
  try {
    const std::vector<std::string> words{arguments + 1, arguments + count};
    auto separate = handed_over(words);
    if (own.train)
      separate.train = own.train;
    if (own.evaluate)
      separate.evaluate = own.evaluate;
    if (own.reproduce)
      separate.reproduce = own.reproduce;
    signal_interruption interrupted;
    environment world{terminal,
                      interrupted,
                      start,
                      std::string{atelier::version()},
                      draw_seed,
                      std::move(separate),
                      core::is_quick_build(),
                      std::move(policies)};
    return static_cast<int>(run_program(words, world));
  } catch (const std::exception& e) {
    terminal.complain(std::string{"internal: "} + e.what());
    return static_cast<int>(exit_status::failed);
  }
}

} // namespace atelier::runtime::cli
