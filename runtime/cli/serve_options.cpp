// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/policy_help.hpp>
#include <atelier/runtime/cli/serve.hpp>
#include <atelier/runtime/cli/text_option.hpp>

#include <CLI/CLI.hpp>

namespace atelier::runtime::cli {

CLI::App* add_serve(CLI::App& app, serve_arguments& into) {
  auto* sub = app.add_subcommand("serve", "Serve images over HTTP");
  const auto add = [&](const std::string& name,
                       std::optional<std::string>& value,
                       const std::string& kind, const std::string& text) {
    add_text_option(*sub, name, value, text)->type_name(kind);
  };
  const auto group = [sub](const char* name) {
    sub->option_defaults()->group(name);
  };
  group("Address");
  add("--listen", into.listen, "[HOST:]PORT",
      "Where (default: 127.0.0.1:7860); without HOST: this machine only; port "
      "0 takes a free one");
  sub->add_flag("--insecure", into.insecure,
                "Serve every client that reaches the address, without keys");
  group("Where it runs");
  add("--processes", into.processes, "MODE",
      list_choices(choices_of("--processes"))
        + ": one process, or several (default: split)");
  add("--model", into.model, "NAME|DIR|FILE",
      "The model that the first device hosts");
  add("--device", into.device, "NAME", "cpu, cuda or cuda:N");
  add("--dtype", into.dtype, "TYPE", list_choices(choices_of("--dtype")));
  group("Expert");
  add("--policy", into.policy, "NAME",
      policy_help("How requests are answered"));
  add("--timeline", into.timeline, "FILE",
      "Write a timeline for https://ui.perfetto.dev");
  return sub;
}

} // namespace atelier::runtime::cli
