// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/json_text.hpp>
#include <atelier/runtime/cli/doctor.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace atelier::runtime::cli {

namespace {

void print(const finding& x, bool json, std::ostream& out) {
  if (json) {
    const nlohmann::ordered_json object{{"subject", x.subject},
                                        {"state", to_string(x.severity)},
                                        {"found", x.found},
                                        {"advice", x.advice}};
    out << core::json_text(object) << '\n';
    return;
  }
  out << fmt::format("{:8} {:14} {}\n", to_string(x.severity), x.subject,
                     x.found);
  if (!x.advice.empty())
    out << fmt::format("{:23} -> {}\n", "", x.advice);
}

} // namespace

CLI::App* add_doctor(CLI::App& app) {
  return app.add_subcommand("doctor",
                            "Check the installation and report missing parts");
}

exit_status doctor(const common_arguments& common, environment& world) {
  auto overrides = read_common(common);
  if (!overrides) {
    world.terminal.complain(overrides.why().text);
    return exit_status::bad_input;
  }
  const auto findings =
    diagnose(look_around(data_folder(common)),
             config::load(common.config.value_or(""), *overrides));
  for (const auto& x : findings)
    print(x, common.json, world.terminal.out);
  const bool sick =
    std::any_of(findings.begin(), findings.end(), [](const finding& x) {
      return x.severity == finding::grade::problem;
    });
  return sick ? exit_status::failed : exit_status::done;
}

} // namespace atelier::runtime::cli
