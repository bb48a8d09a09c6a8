// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/profile_reuse.hpp>
#include <atelier/runtime/cli/prompts_file.hpp>
#include <atelier/runtime/cli/text_option.hpp>
#include <atelier/runtime/make_image_encoder.hpp>
#include <atelier/runtime/make_text_encoder.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;

constexpr uint64_t most_captions = 100'000;
constexpr uint64_t most_stored = 10'000;

/// A quarter of all prompts are stored unless --stored says otherwise.
constexpr uint32_t resumed_for_each_stored = 4;

result<void> check_needs_cache(const profile_reuse_arguments& x) {
  const std::pair<const char*, bool> given[] = {
    {"--captions", x.captions.has_value()},
    {"--stored", x.stored.has_value()},
    {"--prompts", x.prompts.has_value()},
    {"--alpha", x.alpha.has_value()},
    {"--seed", x.seed.has_value()}};
  for (const auto& [name, is_given] : given)
    if (is_given)
      return fail(ec::invalid_argument, "{} needs --cache", name);
  return {};
}

/// Sets the numbers of prompts: as written, otherwise as the file allows.
result<void> read_numbers(const profile_reuse_arguments& x,
                          reuse_measurement& out) {
  if (x.captions) {
    const auto n = parse_whole("--captions", *x.captions, 1, most_captions);
    if (!n)
      return n.why();
    out.resumed = static_cast<uint32_t>(*n);
  }
  const auto prompts = static_cast<uint32_t>(out.prompts.size());
  out.stored = !x.captions && prompts > 0
               ? prompts / (1 + resumed_for_each_stored)
               : out.resumed / resumed_for_each_stored;
  out.stored = std::max(1U, out.stored);
  if (x.stored) {
    const auto n = parse_whole("--stored", *x.stored, 1, most_stored);
    if (!n)
      return n.why();
    out.stored = static_cast<uint32_t>(*n);
  }
  if (!x.captions && prompts > 0)
    out.resumed = prompts > out.stored ? prompts - out.stored : 1;
  return {};
}

} // namespace

void add_profile_reuse(CLI::App& sub, profile_reuse_arguments& into) {
  sub.option_defaults()->group("Starts from earlier work");
  sub.add_flag(
    "--cache", into.cache,
    "Also measure how similar prompts must be for a run to start from "
    "another run's state (cache.encoder compares the prompts)");
  const auto add = [&sub](const std::string& names,
                          std::optional<std::string>& value,
                          const std::string& kind, const std::string& text) {
    add_text_option(sub, names, value, text)->type_name(kind);
  };
  add("--captions", into.captions, "N",
      fmt::format("Prompts that start from states (default: {}, or the rest of "
                  "--prompts)",
                  default_reuse_captions));
  add("--stored", into.stored, "N",
      "Prompts before them that leave their states (default: a quarter of "
      "--captions)");
  add("--prompts", into.prompts, "FILE",
      "One prompt a line, UTF-8; -: standard input (default: drawn captions, "
      "which only Atelier's own models know)");
  add("--alpha", into.alpha, "A",
      "Fraction of the quality gain of a full run that reuse must preserve, 0 "
      "to 1 (default: 0.9)");
  add("--seed", into.seed, "N",
      "Seed of the noise and of drawn captions (default: 1)");
}

result<std::optional<reuse_measurement>> plan_profile_reuse(
  const profile_reuse_arguments& arguments, const config::settings& settings,
  std::istream& standard_input) {
  if (!arguments.cache) {
    if (auto ok = check_needs_cache(arguments); !ok)
      return ok.why();
    return std::optional<reuse_measurement>{};
  }
  reuse_measurement out;
  out.settings = settings;
  if (arguments.alpha) {
    const auto alpha = parse_share("--alpha", *arguments.alpha);
    if (!alpha)
      return alpha.why();
    out.alpha = static_cast<double>(*alpha);
  }
  if (arguments.seed) {
    const auto seed = parse_whole("--seed", *arguments.seed, 0, UINT64_MAX);
    if (!seed)
      return seed.why();
    out.seed = *seed;
  }
  if (arguments.prompts) {
    auto prompts =
      read_prompts_file(*arguments.prompts, standard_input, settings.limits);
    if (!prompts)
      return prompts.why();
    out.prompts = std::move(*prompts);
  }
  if (auto ok = read_numbers(arguments, out); !ok)
    return ok.why();
  const uint64_t needed = uint64_t{out.stored} + out.resumed;
  if (arguments.prompts && out.prompts.size() < needed)
    return fail(ec::invalid_argument,
                "--prompts: {}: {} prompts are too few: {} leave states and {} "
                "start from them",
                *arguments.prompts, out.prompts.size(), out.stored,
                out.resumed);
  // A wrong encoder is reported before the costs are measured.
  auto encoder = make_text_encoder(settings);
  if (!encoder)
    return encoder.why();
  out.encoder = std::move(*encoder);
  auto images = make_image_encoder(settings, *out.encoder);
  if (!images)
    return images.why();
  out.images = std::move(*images);
  return std::optional{std::move(out)};
}

void print_reuse(const planning::reuse_profile& x, std::ostream& to) {
  const auto& by = *x.measured;
  to << fmt::format("{} prompts, each from the states of the nearest of {}; "
                    "compared by {} ({}), judged by {}:\n",
                    by.resumed, by.stored, by.encoder, by.encoder_revision,
                    by.scorer);
  for (const auto& one : by.skips) {
    const auto found =
      std::find_if(x.latents.begin(), x.latents.end(),
                   [&](const auto& t) { return t.skip == one.skip; });
    to << fmt::format("  {:>2} of {} steps skipped: keeps {:.3f} of the "
                      "quality over all; ",
                      one.skip, x.steps, one.kept)
       << (found == x.latents.end()
             ? fmt::format("{:.2f} at no similarity\n", by.alpha)
             : fmt::format("{:.2f} above similarity {:.3f}\n", by.alpha,
                           found->similarity));
  }
  if (by.answers)
    to << fmt::format("  {} images of other prompts as answers: keep {:.3f} of "
                      "the quality over all; ",
                      by.answers->images, by.answers->kept)
       << (x.answers_from ? fmt::format("{:.2f} above similarity {:.3f}\n",
                                        by.alpha, *x.answers_from)
                          : fmt::format("{:.2f} at no similarity\n", by.alpha));
}

} // namespace atelier::runtime::cli
