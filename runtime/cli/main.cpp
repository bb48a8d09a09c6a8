// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/engine_service.hpp>
#include <atelier/runtime/cli/program_main.hpp>
#include <atelier/runtime/openmp_waits.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace {

// A word of another command's may be such a name: it is only slower to start.
bool may_compute_here(std::string_view word) {
  constexpr std::array<std::string_view, 6> commands{
    "generate", "edit", "serve", "profile", "bench", "cache"};
  return std::ranges::find(commands, word) != commands.end();
}

} // namespace

int main(int count, char** arguments) {
  using namespace atelier::runtime;
  // Loading LibTorch twice takes a quarter of a second: not for all commands.
  if (std::any_of(arguments, arguments + count, may_compute_here))
    restart_with_short_waits(arguments);
  return cli::program_main(count, arguments, cli::start_engine_service, {});
}
