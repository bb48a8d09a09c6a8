// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/separate_commands.hpp>
#include <atelier/runtime/openmp_waits.hpp>
#include <atelier/runtime/program_folder.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

extern char** environ;

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;

// Returns only where the other program does not start.
exit_status go_on_as(const char* name,
                     const std::vector<std::string>& arguments,
                     const environment& world) {
  const auto& terminal = world.terminal;
  const auto program = find_program(name);
  if (!program)
    return refuse(terminal,
                  fail(program.why().code,
                       "the program of this command, {}, is {}; in a clone "
                       "'./atelier' builds it",
                       name, program.why().text));
  // The other program would not know of a signal that this one received.
  if (world.interrupted.count() > 0)
    return exit_status::interrupted;
  auto path = *program;
  auto words = arguments;
  words.insert(words.begin(), path);
  terminal.out.flush();
  terminal.err.flush();
  auto variables = with_short_waits(environ);
  execve(path.c_str(), addresses_of(words).data(),
         addresses_of(variables).data());
  return refuse(terminal, fail(ec::unavailable, "cannot start {}: {}", path,
                               std::strerror(errno)));
}

} // namespace

separate_commands handed_over(const std::vector<std::string>& arguments) {
  const auto to = [&arguments](const char* name) {
    return [name, arguments](const auto&, const common_arguments&,
                             environment& world) {
      return go_on_as(name, arguments, world);
    };
  };
  return {to("atelier-training"), to("atelier-training"), to("atelier-papers"),
          [arguments](environment& world) {
            return go_on_as("atelier-papers", arguments, world);
          }};
}

} // namespace atelier::runtime::cli
