// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/generate.hpp>
#include <atelier/runtime/cli/generate_run.hpp>
#include <atelier/runtime/cli/job_service.hpp>
#include <atelier/runtime/cli/parameter_options.hpp>
#include <atelier/runtime/cli/policy_help.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/service_choice.hpp>
#include <atelier/runtime/cli/text_option.hpp>

#include <CLI/CLI.hpp>

namespace atelier::runtime::cli {

namespace {

/// Adds an option with one value.
void add_one(CLI::App& to, const std::string& names,
             std::optional<std::string>& value, const std::string& kind,
             const std::string& text) {
  add_text_option(to, names, value, text)->type_name(kind);
}

std::string words_of(std::string_view name) {
  return list_choices(choices_of(name));
}

void add_image_options(CLI::App& to, generate_arguments& into) {
  to.option_defaults()->group("Image");
  add_one(to, "--prompts", into.prompts_file, "FILE",
          "One prompt a line, UTF-8; -: standard input");
  add_one(to, "-n,--count", into.count, "N",
          "Images of each prompt, with seeds S, S+1, ... (default: 1)");
  add_one(
    to, "--seed", into.seed, "S",
    "Seed of each prompt's first image, 0..2^64-1 (default: one random seed, "
    "printed, for all prompts of the call)");
  add_one(
    to, "--size", into.size, "WxH",
    "Pixels, multiples of 8; one number: a square; auto: that of the image "
    "to start from, or the model's own");
  add_one(to, "--native-only", into.native_only, "on|off",
          "on: draw at the model's own size and scale to --size; off: draw at "
          "--size (default: on)");
  add_one(to, "--model", into.model, "NAME|DIR|FILE",
          "Model: a name, or its folder or file (default: the policy's)");
  add_one(to, "--negative", into.negative, "TEXT", "Negative prompt");
  add_parameters(to, core::option_group::image, into.parameters);
}

void add_output_options(CLI::App& to, generate_arguments& into) {
  to.option_defaults()->group("Output");
  add_one(to, "-o,--output", into.output, "FILE|DIR",
          "The image's file, or a folder for NNNNN-SEED.png (default: here)");
  add_one(to, "--format", into.format, "NAME",
          words_of("--format") + " (default: the file's extension, or png)");
  add_one(to, "--quality", into.quality, "Q",
          "1..100, for jpeg and webp (default: 95)");
  to.add_flag("--force", into.force, "Replace files that exist");
}

void add_place_options(CLI::App& to, generate_arguments& into) {
  to.option_defaults()->group("Where it runs");
  add_one(to, "--device", into.device, "D",
          "cpu, cuda or cuda:N (default: cpu)");
  add_one(to, "--dtype", into.dtype, "T",
          "With --model: float32, float16 or bfloat16 (default: float32)");
  add_one(to, "--processes", into.processes, "MODE",
          words_of("--processes") + ": one process, or several");
  add_one(
    to, "--server", into.server, "URL",
    "Let a running server make them; --model is then a name that it knows");
  add_one(to, "--key", into.key, "KEY",
          "With --server: a key, if it requires one (default: $ATELIER_KEY)");
  add_one(
    to, "--cacert", into.authorities, "FILE",
    "With --server: trust these certificates (PEM), such as the server's own "
    "self-signed one, instead of this machine's");
}

void add_expert_options(CLI::App& to, generate_arguments& into) {
  to.option_defaults()->group("Expert");
  add_one(to, "--variant", into.variant, "V", "Variant, such as base@50");
  add_one(to, "--policy", into.policy, "P",
          policy_help("How requests are answered"));
  add_parameters(to, core::option_group::expert, into.parameters);
  add_one(to, "--rng", into.rng, "NAME",
          "Source of the noise: " + words_of("--rng") + " (default: torch)");
  add_one(to, "--deadline-ms", into.deadline_ms, "MS",
          "Drop requests that are not finished within MS milliseconds");
  add_one(to, "--priority", into.priority, "LEVEL",
          words_of("--priority") + " (default: normal)");
  add_one(to, "--timeline", into.timeline, "FILE",
          "Write a timeline for https://ui.perfetto.dev");
}

/// Adds what both commands have.
void add_options(CLI::App& to, generate_arguments& into) {
  add_image_options(to, into);
  add_output_options(to, into);
  add_place_options(to, into);
  add_expert_options(to, into);
}

} // namespace

CLI::App* add_generate(CLI::App& app, generate_arguments& into) {
  auto* sub = app.add_subcommand("generate", "Make images from prompts");
  sub->option_defaults()->group("Image");
  add_one(*sub, "--init", into.image, "IMAGE",
          "Start from this image: PNG, JPEG or WebP");
  add_one(
    *sub, "--strength", into.parameters["strength"], "S",
    "With --init: how much to change it, above 0, at most 1 (default: 0.8)");
  add_options(*sub, into);
  return sub;
}

CLI::App* add_edit(CLI::App& app, generate_arguments& into) {
  auto* sub = app.add_subcommand(
    "edit",
    "Repaint the masked part of an image. The prompt describes the whole image "
    "and names the masked place; what it puts outside the mask is not drawn");
  sub->option_defaults()->group("Image");
  add_one(
    *sub, "--mask", into.mask, "MASK",
    "Image that is white where IMAGE is repainted, scaled to its size; or a "
    "part of IMAGE in pixels, as WxH+X+Y");
  add_one(
    *sub, "--strength", into.parameters["strength"], "S",
    "How much to change the masked part, above 0, at most 1 (default: 1)");
  add_options(*sub, into);
  return sub;
}

exit_status generate(const generate_arguments& arguments,
                     const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  auto plan = plan_generate(arguments, common, terminal.in, world.draw_seed);
  if (!plan)
    return refuse(terminal, plan.why());
  for (const auto& remark : plan->remarks)
    terminal.complain(remark);
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
