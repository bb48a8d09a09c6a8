// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/generate.hpp>
#include <atelier/runtime/cli/generate_run.hpp>
#include <atelier/runtime/cli/job_service.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/service_choice.hpp>
#include <atelier/runtime/cli/text_option.hpp>

#include <CLI/CLI.hpp>

namespace atelier::runtime::cli {

namespace {

/// Adds an option with one value.
void add(CLI::App& to, const std::string& names,
         std::optional<std::string>& value, const std::string& kind,
         const std::string& text) {
  add_text_option(to, names, value, text)->type_name(kind);
}

/// Adds what both commands have.
void add_picture_options(CLI::App& to, generate_arguments& into) {
  const auto words = [](std::string_view name) {
    return list_choices(choices_of(name));
  };
  add(to, "-o,--output", into.output, "FILE|DIR",
      "The picture's file, or a folder for NNNNN-SEED.png (default: here)");
  add(to, "-n,--count", into.count, "N",
      "Pictures of each prompt, with seeds S, S+1, ... (default: 1)");
  add(to, "--seed", into.seed, "S",
      "Seed of the first picture, 0..2^64-1 (default: a fresh one)");
  add(to, "--steps", into.steps, "N",
      "Denoising steps (default: the policy's)");
  add(to, "--guidance", into.guidance, "G", "Guidance scale");
  add(to, "--guidance-rescale", into.guidance_rescale, "R",
      "0..1: keeps strong guidance from washing pictures out (default: 0)");
  add(to, "--sampler", into.sampler, "NAME", words("--sampler"));
  add(to, "--eta", into.eta, "E",
      "Fresh noise in each step of ddim, 0..1 (default: 0)");
  to.add_flag("--karras", into.karras,
              "Karras' spacing of sigmas, where the sampler has sigmas");
  add(to, "--size", into.size, "WxH",
      "Pixels, multiples of 8; auto: that of the picture to start from, or the "
      "model's own");
  add(to, "--negative", into.negative, "TEXT",
      "What the pictures shall not show");
  add(to, "--model", into.model, "NAME|DIR|FILE",
      "Model: a name, or its folder or file (default: the policy's)");
  add(to, "--device", into.device, "D", "cpu:N or cuda:N (default: cpu:0)");
  add(to, "--dtype", into.dtype, "T",
      "With --model: float32, float16 or bfloat16 (default: float32)");
  add(to, "--variant", into.variant, "V", "Variant, such as base@50");
  add(to, "--policy", into.policy, "P", "Policy that chooses routes");
  add(to, "--rng", into.rng, "NAME",
      "Source of the noise: " + words("--rng") + " (default: torch)");
  to.add_flag("--deterministic", into.deterministic,
              "The same bits whatever else runs");
  add(to, "--deadline-ms", into.deadline_ms, "MS",
      "Give a picture up that is later than this");
  add(to, "--priority", into.priority, "LEVEL",
      words("--priority") + " (default: normal)");
  add(to, "--processes", into.processes, "MODE",
      words("--processes") + ": one process, or several");
  add(to, "--prompts", into.prompts_file, "FILE",
      "One prompt a line, UTF-8; -: standard input");
  add(to, "--format", into.format, "NAME",
      words("--format") + " (default: the file's extension, or png)");
  add(to, "--quality", into.quality, "Q",
      "1..100, for jpeg and webp (default: 95)");
  add(to, "--timeline", into.timeline, "FILE",
      "Write what happens when, for https://ui.perfetto.dev");
  add(to, "--server", into.server, "URL",
      "Have a running server make them; --model is then a name that it knows");
  add(to, "--key", into.key, "KEY",
      "With --server: a key, where it asks for one (default: $ATELIER_KEY)");
  to.add_flag("--force", into.force, "Replace files that exist");
}

} // namespace

CLI::App* add_generate(CLI::App& app, generate_arguments& into) {
  auto* sub = app.add_subcommand("generate", "Make pictures from prompts");
  add(*sub, "--init", into.image, "IMAGE",
      "Start from this picture: PNG, JPEG or WebP");
  add(*sub, "--strength", into.strength, "S",
      "With --init: share of the steps that run, above 0, at most 1; the more, "
      "the less is left of it (default: 0.8)");
  add_picture_options(*sub, into);
  return sub;
}

CLI::App* add_edit(CLI::App& app, generate_arguments& into) {
  auto* sub = app.add_subcommand(
    "edit", "Repaint the masked part of a picture, and nothing else");
  add(*sub, "--mask", into.mask, "MASK",
      "Picture that is white where IMAGE is repainted; scaled to its size");
  add(*sub, "--strength", into.strength, "S",
      "Share of the steps that run, above 0, at most 1; below 1 something of "
      "what was there is left (default: 1)");
  add_picture_options(*sub, into);
  return sub;
}

exit_status generate(const generate_arguments& arguments,
                     const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  auto plan = plan_generate(arguments, common, terminal.in, world.draw_seed);
  if (!plan)
    return refuse(terminal, plan.why());
  auto chosen = choose_service(plan->server, reach_jobs, plan->engine, world);
  if (const auto* status = std::get_if<exit_status>(&chosen))
    return *status;
  auto& makes = *std::get<std::unique_ptr<service>>(chosen);
  const auto status =
    generate_run{*plan, makes, world.interrupted, terminal}.run();
  const bool left_over = status == exit_status::interrupted;
  makes.stop(left_over ? std::chrono::nanoseconds{0} : plan->grace);
  return status;
}

} // namespace atelier::runtime::cli
