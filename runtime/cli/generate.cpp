// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/generate.hpp>
#include <atelier/runtime/cli/generate_run.hpp>
#include <atelier/runtime/cli/text_option.hpp>

#include <CLI/CLI.hpp>

namespace atelier::runtime::cli {

CLI::App* add_generate(CLI::App& app, generate_arguments& into) {
  auto* sub = app.add_subcommand("generate", "Make pictures from prompts");
  const auto add = [sub](const std::string& names,
                         std::optional<std::string>& value,
                         const std::string& kind, const std::string& text) {
    add_text_option(*sub, names, value, text)->type_name(kind);
  };
  const auto words = [](std::string_view name) {
    return list_choices(choices_of(name));
  };
  add("-o,--output", into.output, "FILE|DIR",
      "The picture's file, or a folder for NNNNN-SEED.png (default: here)");
  add("-n,--count", into.count, "N",
      "Pictures of each prompt, with seeds S, S+1, ... (default: 1)");
  add("--seed", into.seed, "S",
      "Seed of the first picture, 0..2^64-1 (default: a fresh one)");
  add("--steps", into.steps, "N", "Denoising steps (default: the policy's)");
  add("--guidance", into.guidance, "G", "Guidance scale");
  add("--sampler", into.sampler, "NAME", words("--sampler"));
  add("--size", into.size, "WxH",
      "Pixels, multiples of 8; auto: the model's own size");
  add("--negative", into.negative, "TEXT", "What the pictures shall not show");
  add("--model", into.model, "NAME", "Model (default: the policy's)");
  add("--variant", into.variant, "V", "Variant, such as base@50");
  add("--policy", into.policy, "P", "Policy that chooses routes");
  add("--rng", into.rng, "NAME",
      "Source of the noise: " + words("--rng") + " (default: torch)");
  sub->add_flag("--deterministic", into.deterministic,
                "The same bits whatever else runs");
  add("--deadline-ms", into.deadline_ms, "MS",
      "Give a picture up that is later than this");
  add("--priority", into.priority, "LEVEL",
      words("--priority") + " (default: normal)");
  add("--processes", into.processes, "MODE",
      words("--processes") + ": one process, or several");
  add("--prompts", into.prompts_file, "FILE",
      "One prompt a line, UTF-8; -: standard input");
  add("--format", into.format, "NAME",
      words("--format") + " (default: the file's extension, or png)");
  add("--quality", into.quality, "Q",
      "1..100, for jpeg and webp (default: 95)");
  sub->add_flag("--force", into.force, "Replace files that exist");
  return sub;
}

exit_status generate(const generate_arguments& arguments,
                     const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  auto plan = plan_generate(arguments, common, terminal.in, world.draw_seed);
  if (!plan) {
    terminal.complain(plan.why().text);
    return status_of(core::to_string(plan.why().code));
  }
  auto started = world.start(plan->engine);
  if (const auto* why = std::get_if<failure>(&started)) {
    terminal.complain(why->code + ": " + why->text);
    return status_of(why->code);
  }
  auto& makes = *std::get<std::unique_ptr<service>>(started);
  const auto status =
    generate_run{*plan, makes, world.interrupted, terminal}.run();
  const bool left_over = status == exit_status::interrupted;
  makes.stop(left_over ? std::chrono::nanoseconds{0} : plan->grace);
  return status;
}

} // namespace atelier::runtime::cli
