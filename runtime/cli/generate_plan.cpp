// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/load.hpp>
#include <atelier/runtime/cli/engine_options.hpp>
#include <atelier/runtime/cli/generate_plan.hpp>
#include <atelier/runtime/cli/image_file.hpp>
#include <atelier/runtime/cli/mask_rectangle.hpp>
#include <atelier/runtime/cli/parameter_options.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/prompts_file.hpp>
#include <atelier/runtime/door.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;

constexpr uint64_t most_seed = std::numeric_limits<uint64_t>::max();
constexpr uint64_t most_deadline_ms = 24ull * 60 * 60 * 1000;

result<std::vector<std::string>> read_all_prompts(
  const generate_arguments& arguments, std::istream& standard_input,
  const core::limits& within) {
  auto prompts = arguments.prompts;
  for (const auto& prompt : prompts)
    if (auto ok = check_text("PROMPT", prompt, within.prompt_bytes); !ok)
      return ok.why();
  if (arguments.prompts_file) {
    auto more =
      read_prompts_file(*arguments.prompts_file, standard_input, within);
    if (!more)
      return more.why();
    prompts.insert(prompts.end(), std::make_move_iterator(more->begin()),
                   std::make_move_iterator(more->end()));
  }
  if (prompts.empty())
    return fail(ec::invalid_argument,
                "PROMPT is missing: give one or more, or --prompts FILE");
  return prompts;
}

result<void> read_numbers(const generate_arguments& arguments,
                          const core::limits& within, generation& out) {
  if (auto ok = read_parameters(arguments.parameters, within, out); !ok)
    return ok;
  if (arguments.size) {
    auto x = parse_size("--size", *arguments.size, within);
    if (!x)
      return x.why();
    out.width = x->width;
    out.height = x->height;
  }
  if (arguments.quality) {
    auto x = parse_whole("--quality", *arguments.quality, 1, 100);
    if (!x)
      return x.why();
    out.quality = static_cast<uint32_t>(*x);
  }
  if (arguments.deadline_ms) {
    auto x =
      parse_whole("--deadline-ms", *arguments.deadline_ms, 1, most_deadline_ms);
    if (!x)
      return x.why();
    out.deadline = std::chrono::milliseconds{*x};
  }
  return {};
}

result<void> read_words(const generate_arguments& arguments,
                        const core::limits& within, generation& out) {
  const std::pair<std::string_view, const std::optional<std::string>&> words[] =
    {{"--priority", arguments.priority},
     {"--rng", arguments.rng},
     {"--native-only", arguments.native_only}};
  for (const auto& [name, word] : words)
    if (word)
      if (auto ok = check_choice(name, *word); !ok)
        return ok;
  const std::pair<std::string_view, const std::optional<std::string>&> names[] =
    {{"--model", arguments.model}, {"--variant", arguments.variant}};
  for (const auto& [name, text] : names)
    if (text) {
      if (text->empty())
        return fail(ec::invalid_argument, "{}: '' names nothing", name);
      if (auto ok = check_text(name, *text, 4096); !ok)
        return ok;
    }
  if (arguments.negative)
    if (auto ok =
          check_text("--negative", *arguments.negative, within.prompt_bytes);
        !ok)
      return ok;
  out.negative = arguments.negative.value_or("");
  out.variant = arguments.variant;
  out.priority = arguments.priority.value_or("normal");
  out.noise = arguments.rng == "philox" ? "philox" : "torch_cpu";
  if (arguments.native_only)
    out.native_only = arguments.native_only == "on";
  return {};
}

result<void> read_images(const generate_arguments& arguments,
                         const core::limits& within, generation& out) {
  if (arguments.edit && !arguments.image)
    return fail(ec::invalid_argument,
                "IMAGE is missing: name the image to edit");
  if (arguments.edit && !arguments.mask)
    return fail(ec::invalid_argument,
                "--mask is missing: it is white where IMAGE is repainted; to "
                "redraw a whole image, use generate --init IMAGE");
  if (!arguments.image) {
    if (const auto& strength = arguments.parameters["strength"])
      return fail(ec::invalid_argument,
                  "--strength: {} has no effect without --init IMAGE",
                  show_value(*strength));
    return {};
  }
  const auto* const argument = arguments.edit ? "IMAGE" : "--init";
  auto image = read_image_file(argument, *arguments.image, within);
  if (!image)
    return image.why();
  out.image = std::move(*image);
  if (!arguments.mask)
    return {};
  std::error_code error;
  const auto part = parse_rectangle(*arguments.mask);
  auto mask = part && !std::filesystem::exists(*arguments.mask, error)
              ? mask_of(*part, out.image)
              : read_image_file("--mask", *arguments.mask, within);
  if (!mask)
    return mask.why();
  out.mask = std::move(*mask);
  return {};
}

result<void> read_counts(const generate_arguments& arguments,
                         const std::function<uint64_t()>& draw_seed,
                         generate_plan& plan) {
  if (arguments.count) {
    auto x = parse_whole("-n", *arguments.count, 1, most_images);
    if (!x)
      return x.why();
    plan.count = *x;
  }
  if (plan.images() > most_images)
    return fail(ec::invalid_argument,
                "-n: {} images of each of {} prompts are {}, outside 1..{}",
                plan.count, plan.prompts.size(), plan.images(), most_images);
  const uint64_t most = most_seed - (plan.count - 1);
  if (!arguments.seed) {
    plan.seed = std::min(draw_seed(), most);
    plan.common.seed_drawn = true;
    return {};
  }
  auto x = parse_whole("--seed", *arguments.seed, 0, most);
  if (!x)
    return x.why();
  plan.seed = *x;
  return {};
}

result<void> check_output(const generate_plan& plan) {
  if (auto ok = check_writable(plan.path_of(0), plan.existing); !ok)
    return ok;
  std::error_code error;
  if (plan.output.type == output_target::kind::file
      || !std::filesystem::exists(plan.output.path, error))
    return {};
  for (uint64_t i = 1; i < plan.images(); ++i)
    if (auto ok = check_free(plan.path_of(i), plan.existing); !ok)
      return ok;
  return {};
}

/// Checks the first image as the engine will, so that impossible settings are
/// reported before a model is loaded.
result<void> check_at_door(const generate_plan& plan,
                           const config::settings& settings) {
  const auto known = know_variants(settings);
  if (!known)
    return known.why();
  auto wanted = plan.common;
  wanted.prompt = plan.prompt_of(0);
  const auto made = to_request(wanted, settings, *known, core::request_id{1},
                               plan.seed, std::chrono::steady_clock::now());
  if (!made)
    return made.why();
  return {};
}

/// Returns remarks about options without effect and about empty prompts.
std::vector<std::string> remarks_on(const generate_plan& plan,
                                    const generate_arguments& arguments) {
  std::vector<std::string> out;
  if (arguments.quality && plan.common.format == "png")
    out.push_back(fmt::format("--quality: {} has no effect on PNG, which is "
                              "lossless; it is for jpeg and webp",
                              *arguments.quality));
  const auto blank = std::count_if(
    plan.prompts.begin(), plan.prompts.end(), [](const auto& prompt) {
      return prompt.find_first_not_of(" \t\r\n") == std::string::npos;
    });
  if (blank > 0)
    out.push_back(
      fmt::format("PROMPT: {} empty: the image's content is not described",
                  blank == 1 ? "one is" : fmt::format("{} are", blank)));
  return out;
}

/// Returns the number of requests in flight: enough to fill every seat, and as
/// many again that wait nearby, but so few that finished images never pile up.
uint64_t window_of(const config::settings& settings) {
  uint64_t seats = 0;
  for (const auto& device : settings.devices)
    seats += device.seats;
  const uint64_t most = std::min<uint64_t>(settings.limits.requests, 256);
  return std::clamp<uint64_t>(2 * seats, 1, std::max<uint64_t>(most, 1));
}

/// Maximum number of requests in flight at a server; more would only wait
/// there.
constexpr uint64_t most_of_server = 32;

/// Reads what makes the images: an engine, or a server. Only the limits of this
/// configuration are known about a server.
result<config::settings> read_maker(const generate_arguments& arguments,
                                    const common_arguments& common,
                                    generate_plan& plan) {
  if (!arguments.server) {
    if (arguments.key)
      return fail(ec::invalid_argument,
                  "--key: it has no effect without --server");
    if (arguments.authorities)
      return fail(ec::invalid_argument,
                  "--cacert: it has no effect without --server");
    auto chosen = read_engine_options({arguments.model,
                                       arguments.device,
                                       arguments.dtype,
                                       arguments.policy,
                                       arguments.processes,
                                       arguments.timeline,
                                       {}},
                                      common);
    if (!chosen)
      return chosen.why();
    plan.engine = std::move(chosen->engine);
    plan.common.model = std::move(chosen->model);
    return std::move(chosen->settings);
  }
  for (const auto* own :
       {&arguments.device, &arguments.dtype, &arguments.policy,
        &arguments.processes, &arguments.timeline})
    if (*own)
      return fail(ec::invalid_argument,
                  "--server: --device, --dtype, --policy, --processes and "
                  "--timeline are the server's own");
  const auto overrides = read_common(common);
  if (!overrides)
    return overrides.why();
  auto loaded = config::load(common.config.value_or(""), *overrides);
  if (!loaded)
    return config::to_error(loaded.faults);
  plan.common.model = arguments.model;
  plan.server.emplace();
  plan.server->url = *arguments.server;
  plan.server->key = server_key(arguments.key);
  plan.server->authorities = arguments.authorities.value_or("");
  return std::move(loaded.values);
}

} // namespace

result<generate_plan> plan_generate(
  const generate_arguments& arguments, const common_arguments& common,
  std::istream& standard_input, const std::function<uint64_t()>& draw_seed) {
  generate_plan plan;
  const auto settings = read_maker(arguments, common, plan);
  if (!settings)
    return settings.why();
  const auto& within = settings->limits;
  if (auto ok = read_words(arguments, within, plan.common); !ok)
    return ok.why();
  if (auto ok = read_numbers(arguments, within, plan.common); !ok)
    return ok.why();
  if (auto ok = read_images(arguments, within, plan.common); !ok)
    return ok.why();
  auto prompts = read_all_prompts(arguments, standard_input, within);
  if (!prompts)
    return prompts.why();
  plan.prompts = std::move(*prompts);
  if (auto ok = read_counts(arguments, draw_seed, plan); !ok)
    return ok.why();
  auto output = read_output(arguments.output, arguments.format, plan.images());
  if (!output)
    return output.why();
  plan.output = std::move(*output);
  plan.common.format = plan.output.format;
  plan.existing = arguments.force ? on_existing::replace : on_existing::refuse;
  plan.window = plan.server ? std::min(most_of_server, plan.images())
                            : window_of(*settings);
  if (plan.server)
    plan.server->connections = static_cast<uint32_t>(plan.window);
  plan.grace = settings->processes.grace;
  plan.json = common.json;
  if (!plan.server)
    if (auto ok = check_at_door(plan, *settings); !ok)
      return ok.why();
  if (auto ok = check_output(plan); !ok)
    return ok.why();
  plan.remarks = remarks_on(plan, arguments);
  return plan;
}

} // namespace atelier::runtime::cli
