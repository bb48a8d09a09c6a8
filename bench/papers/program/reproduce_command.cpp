// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/program/reproduce_command.hpp>
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/runtime/cli/progress_line.hpp>
#include <atelier/runtime/cli/refusal.hpp>

#include <algorithm>
#include <filesystem>

namespace atelier::runtime::cli {

exit_status end_of_reproduction(std::span<const reproduced> rows, bool strict) {
  const auto fails = [](const reproduced& row) {
    return row.passes == verdict::fail;
  };
  return strict && std::any_of(rows.begin(), rows.end(), fails)
         ? exit_status::failed
         : exit_status::done;
}

exit_status reproduce(const simulate_arguments& arguments,
                      const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  reproduction_options options;
  options.which = *arguments.reproduce;
  options.published = common.data.value_or("");
  const auto found = [&] {
    progress_line line{terminal};
    return runtime::reproduce(options, [&](const std::string& what) {
      line.show(what);
      return world.interrupted.count() == 0;
    });
  }();
  if (!found)
    return refuse(terminal, found.why());
  if (common.json)
    terminal.out << rows_to_json(*found);
  else
    terminal.out << rows_to_markdown(*found);
  if (arguments.output) {
    const auto text = rows_to_markdown(*found);
    const auto ok =
      write_file(std::filesystem::path{*arguments.output} / "reproduction.md",
                 {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                 arguments.force ? on_existing::replace : on_existing::refuse);
    if (!ok)
      return refuse(terminal, ok.why());
  }
  const auto end = end_of_reproduction(*found, arguments.strict);
  if (end != exit_status::done)
    terminal.complain("--strict: rows fail");
  return end;
}

} // namespace atelier::runtime::cli
