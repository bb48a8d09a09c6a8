// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/separate_commands.hpp>
#include <atelier/runtime/program_folder.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>

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
  std::vector<char*> pointers{path.data()};
  for (auto& x : words)
    pointers.push_back(x.data());
  pointers.push_back(nullptr);
  terminal.out.flush();
  terminal.err.flush();
  execv(path.c_str(), pointers.data());
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
