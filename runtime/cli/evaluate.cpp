// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/evaluate.hpp>
#include <atelier/runtime/cli/text_option.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace atelier::runtime::cli {

CLI::App* add_evaluate(CLI::App& app, evaluate_arguments& into) {
  auto* sub = app.add_subcommand(
    "evaluate", "Measure what models of the shipped family draw");
  const text_options add{*sub};
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
  sub->option_defaults()->group("Reuse of earlier work");
  auto& reuse = into.reuse;
  sub->add_flag("--cache", reuse.cache,
                "Measure what the policies that reuse earlier work gain, "
                "through an engine for each; continues where it was stopped");
  add("--warm", reuse.warm, "N",
      "Requests that only fill the cache (default: 1500; with --texts: 0)");
  add("--measured", reuse.measured, "N",
      "Requests that are measured after them (default: 1500; with --texts: the "
      "rest)");
  add("--systems", reuse.systems, "NAME,...",
      "Systems to measure (default: all that the variants allow; with --texts: "
      "nirvana,nirvana-words)");
  add("--texts", reuse.texts, "FILE",
      "One prompt a line, in the order of the requests; -: standard input "
      "(default: drawn captions, which only Atelier's own models know)");
  add("--small", reuse.small, "MODEL@STEPS",
      "Variant of the system small-model (default: the shipped small model)");
  add("--turbo", reuse.turbo, "MODEL@STEPS",
      "Variant of the system turbo (default: turbo@4)");
  add("--size", reuse.size, "WxH",
      "Pixels of all images (default: the variant's own size)");
  return sub;
}

} // namespace atelier::runtime::cli
