// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/evaluate.hpp>
#include <atelier/runtime/cli/text_option.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace atelier::runtime::cli {

CLI::App* add_evaluate(CLI::App& app, evaluate_arguments& into) {
  auto* sub = app.add_subcommand(
    "evaluate", "Measure what models of the shipped family draw");
  const auto add = [sub](const std::string& names,
                         std::optional<std::string>& value,
                         const std::string& kind, const std::string& text) {
    add_text_option(*sub, names, value, text)->type_name(kind);
  };
  add("--models", into.models, "DIR",
      "Folder of the models and the scorer (default: the shipped models)");
  add("--variants", into.variants, "MODEL@STEPS,...",
      fmt::format("Variants to measure (default: the available ones of {})",
                  default_evaluated_variants));
  add("--captions,--prompts", into.captions, "N",
      "Captions of each difficulty: one, two and three objects (default: 100)");
  add("--guidance", into.guidances, "G,...",
      "How strongly the prompt counts (default: 2; turbo: always 1)");
  add("--sampler", into.samplers, "NAME,...", "Samplers (default: ddim)");
  add("--starts", into.starts, "N",
      "Captions that start from others' latents and images; 0: none (default: "
      "24)");
  add("--batch", into.batch, "N", "Images drawn together (default: 8)");
  add("--seed", into.seed, "N", "Seed of captions and noise (default: 1)");
  add("--device", into.device, "D", "cpu, cuda or cuda:N (default: cpu)");
  add("--threads", into.threads, "N", "Threads of one operator on the CPU");
  add("-o,--output", into.output, "DIR",
      "Write evaluation.json, profile.json, report.html and contact sheets");
  sub->add_flag("--force", into.force, "Replace files that exist");
  return sub;
}

} // namespace atelier::runtime::cli
