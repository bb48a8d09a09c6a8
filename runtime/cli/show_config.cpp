// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/load.hpp>
#include <atelier/runtime/cli/show_config.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace atelier::runtime::cli {

CLI::App* add_config(CLI::App& app, config_arguments& into) {
  auto* sub = app.add_subcommand("config", "Print the effective configuration");
  sub->add_flag("--example", into.example,
                "Print the example instead: every option explained");
  return sub;
}

exit_status show_config(const config_arguments& arguments,
                        const common_arguments& common, environment& world) {
  std::string toml;
  if (arguments.example) {
    toml = config::example_toml();
  } else {
    auto overrides = read_common(common);
    if (!overrides) {
      world.terminal.complain(overrides.why().text);
      return exit_status::bad_input;
    }
    const auto loaded = config::load(common.config.value_or(""), *overrides);
    if (!loaded) {
      world.terminal.complain(config::to_error(loaded.faults).text);
      return exit_status::bad_input;
    }
    toml = config::to_toml(loaded.values);
  }
  auto& out = world.terminal.out;
  if (common.json)
    out << nlohmann::ordered_json{{"toml", toml}}.dump() << '\n';
  else
    out << toml;
  return exit_status::done;
}

} // namespace atelier::runtime::cli
