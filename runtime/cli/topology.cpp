// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/load.hpp>
#include <atelier/planning/automatic.hpp>
#include <atelier/planning/policies/fixed/fixed.hpp>
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/text_option.hpp>
#include <atelier/runtime/cli/topology.hpp>
#include <atelier/runtime/cli/topology_drawing.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace atelier::runtime::cli {

namespace {

using nlohmann::ordered_json;

ordered_json drawing_json(const topology& x) {
  auto parts = ordered_json::array();
  for (const auto& p : x.parts)
    parts.push_back({{"name", p.name}, {"lines", p.lines}});
  return {{"title", x.title}, {"parts", parts}, {"shared", x.shared}};
}

/// Refuses a name that 'serve' refuses before it reads a model.
core::result<void> check_policy(std::string_view name) {
  if (name == planning::fixed_name)
    return {};
  const auto made = planning::make_policy(planning::policy_named(name, {}));
  if (!made)
    return core::fail(core::ec::bad_config, "policy.name: {}", made.why().text);
  return {};
}

} // namespace

CLI::App* add_topology(CLI::App& app, topology_arguments& into) {
  auto* sub = app.add_subcommand(
    "topology", "Check what a configuration starts, and draw it");
  add_text_option(*sub, "-o,--output", into.output,
                  "Draw into this file instead: .svg, or .txt")
    ->type_name("FILE");
  sub->add_flag("--force", into.force, "Replace a file that exists");
  return sub;
}

exit_status show_topology(const topology_arguments& arguments,
                          const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  if (common.config)
    return refuse(terminal,
                  core::fail(core::ec::invalid_argument,
                             "--config: FILE of 'topology' takes its place"));
  const std::filesystem::path to{arguments.output.value_or("")};
  const auto kind = to.extension().string();
  if (arguments.output && kind != ".svg" && kind != ".txt")
    return refuse(terminal, core::fail(core::ec::invalid_argument,
                                       "--output: {} ends in neither .svg nor "
                                       ".txt",
                                       show_value(*arguments.output)));
  auto set = read_common(common);
  if (!set)
    return refuse(terminal, set.why());
  auto loaded = config::load(arguments.file, *set);
  // As 'serve' takes it.
  if (const auto& given = loaded.given;
      std::find(given.begin(), given.end(), "processes.mode") == given.end()) {
    set->push_back("processes.mode=\"split\"");
    loaded = config::load(arguments.file, *set);
  }
  if (!loaded)
    return refuse(terminal, config::to_error(loaded.faults));
  if (auto ok = check_policy(loaded.values.policy.name); !ok)
    return refuse(terminal, ok.why());
  const auto drawn = topology_of(loaded.values);
  if (arguments.output) {
    const auto text = kind == ".svg" ? to_svg(drawn) : to_text(drawn);
    const auto mode =
      arguments.force ? on_existing::replace : on_existing::refuse;
    if (auto ok = write_file(
          to, {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
          mode);
        !ok)
      return refuse(terminal, ok.why());
  }
  if (common.json)
    terminal.out << drawing_json(drawn).dump() << '\n';
  else if (!arguments.output)
    terminal.out << to_text(drawn);
  return exit_status::done;
}

} // namespace atelier::runtime::cli
