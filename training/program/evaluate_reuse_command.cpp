// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/shipped_family.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/progress_line.hpp>
#include <atelier/runtime/cli/prompts_file.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/training/program/evaluate_reuse_command.hpp>
#include <atelier/training/program/reuse_study/study_report.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;
using namespace reuse_study;

constexpr uint64_t most_requests = 1'000'000;
constexpr uint64_t most_threads = 1'024;
constexpr uint32_t default_requests = 1'500;
constexpr auto small_model = "small";
constexpr auto turbo_variant = "turbo@4";
constexpr auto report_file = "reuse.json";
constexpr auto default_text_systems = "nirvana,nirvana-words";

using given_options = std::vector<std::pair<const char*, bool>>;

result<void> check_none(const given_options& all, std::string_view why) {
  for (const auto& [name, is_given] : all)
    if (is_given)
      return fail(ec::invalid_argument, "{} {}", name, why);
  return {};
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  for (;;) {
    const auto comma = text.find(',');
    out.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos)
      return out;
    text.remove_prefix(comma + 1);
  }
}

result<uint32_t> read_count(std::string_view name,
                            const std::optional<std::string>& text,
                            uint64_t least, uint64_t otherwise) {
  if (!text)
    return static_cast<uint32_t>(otherwise);
  const auto x = parse_whole(name, *text, least, most_requests);
  if (!x)
    return x.why();
  return static_cast<uint32_t>(*x);
}

result<std::string> read_variant(std::string_view option,
                                 const std::string& text) {
  if (const auto read = planning::parse_variant(text); !read)
    return fail(ec::invalid_argument, "{}: {}", option, read.why().text);
  return text;
}

bool is_shipped(const std::string& variant) {
  const auto read = planning::parse_variant(variant);
  return read && config::find_shipped(read->model) != nullptr;
}

/// Returns the systems of a plan: those named, otherwise all that its variants
/// allow.
result<std::vector<const study_system*>> read_systems(
  const evaluate_reuse_arguments& x, const study_plan& plan) {
  std::vector<const study_system*> out;
  std::vector<std::string> named;
  if (x.systems)
    named = split(*x.systems);
  else if (x.texts)
    named = split(default_text_systems);
  for (const auto& name : named)
    if (find_system(name) == nullptr) {
      std::vector<std::string_view> known;
      for (const auto& each : study_systems())
        known.push_back(each.name);
      return fail(ec::invalid_argument, "--systems: {} is none of {}",
                  show_value(name), fmt::join(known, ", "));
    }
  for (const auto& each : study_systems()) {
    const auto is_named = std::ranges::find(named, each.name) != named.end();
    const bool can_run =
      (each.request != asked_for::turbo || !plan.turbo.empty())
      && (each.name != "small-model" || !plan.small.empty())
      && (each.found != found_entries::by_image || is_shipped(plan.variant))
      && (each.encoder != compared_by::words || each.policy != "nirvana");
    if (named.empty() ? can_run : is_named)
      out.push_back(&each);
  }
  return out;
}

/// Returns the plan of one variant.
result<study_plan> plan_for(const evaluate_arguments& arguments,
                            const std::string& variant, study_plan out) {
  const auto& x = arguments.reuse;
  auto read = read_variant("--variants", variant);
  if (!read)
    return read.why();
  out.variant = std::move(*read);
  out.folder = std::filesystem::path{*arguments.output} / variant;
  const auto steps = planning::parse_variant(variant)->steps;
  if (is_shipped(variant)) {
    out.small = fmt::format("{}@{}", small_model, steps);
    out.turbo = turbo_variant;
  }
  for (const auto& [option, text, into] :
       {std::tuple{"--small", &x.small, &out.small},
        std::tuple{"--turbo", &x.turbo, &out.turbo}})
    if (*text) {
      auto named = read_variant(option, **text);
      if (!named)
        return named.why();
      *into = std::move(*named);
    }
  auto systems = read_systems(x, out);
  if (!systems)
    return systems.why();
  out.systems = std::move(*systems);
  // A variant that no system runs is not loaded.
  const auto runs = [&](auto wants) {
    return std::ranges::any_of(out.systems, wants);
  };
  if (!runs([](auto* s) { return s->name == "small-model"; }))
    out.small.clear();
  if (!runs([](auto* s) { return s->request == asked_for::turbo; }))
    out.turbo.clear();
  return out;
}

result<std::vector<study_plan>> plans_for(const evaluate_arguments& arguments,
                                          const common_arguments& common,
                                          std::istream& standard_input) {
  const auto& x = arguments.reuse;
  if (!arguments.output)
    return fail(ec::invalid_argument,
                "--output is missing: the folder of the logs and results");
  study_plan all;
  auto set = read_common(common);
  if (!set)
    return set.why();
  all.set = std::move(*set);
  all.config_file = common.config.value_or("");
  if (arguments.threads) {
    const auto n =
      parse_whole("--threads", *arguments.threads, 1, most_threads);
    if (!n)
      return n.why();
    all.set.push_back(fmt::format("devices[0].threads={}", *n));
  }
  if (arguments.seed) {
    const auto seed = parse_whole("--seed", *arguments.seed, 0, UINT64_MAX);
    if (!seed)
      return seed.why();
    all.seed = *seed;
  }
  if (x.size) {
    const auto px = parse_size("--size", *x.size, core::limits{});
    if (!px)
      return px.why();
    all.px = *px;
  }
  if (x.texts) {
    auto texts = read_prompts_file(*x.texts, standard_input, core::limits{});
    if (!texts)
      return texts.why();
    all.texts = std::move(*texts);
  }
  const auto warm =
    read_count("--warm", x.warm, 0, x.texts ? 0 : default_requests);
  if (!warm)
    return warm.why();
  all.warm = *warm;
  const auto rest =
    all.texts.size() > all.warm ? all.texts.size() - all.warm : 1;
  const auto measured =
    read_count("--measured", x.measured, 1, x.texts ? rest : default_requests);
  if (!measured)
    return measured.why();
  all.measured = *measured;
  std::vector<study_plan> out;
  for (const auto& name :
       split(arguments.variants.value_or(default_reused_variants))) {
    auto one = plan_for(arguments, name, all);
    if (!one)
      return one.why();
    out.push_back(std::move(*one));
  }
  return out;
}

} // namespace

result<void> check_reuse_options(const evaluate_arguments& x) {
  const auto& own = x.reuse;
  if (!own.cache)
    return check_none({{"--warm", own.warm.has_value()},
                       {"--measured", own.measured.has_value()},
                       {"--systems", own.systems.has_value()},
                       {"--texts", own.texts.has_value()},
                       {"--small", own.small.has_value()},
                       {"--turbo", own.turbo.has_value()},
                       {"--size", own.size.has_value()}},
                      "needs --cache");
  return check_none(
    {{"--models", x.models.has_value()},
     {"--captions", x.captions.has_value()},
     {"--guidance", x.guidances.has_value()},
     {"--sampler", x.samplers.has_value()},
     {"--starts", x.starts.has_value()},
     {"--batch", x.batch.has_value()},
     {"--device", x.device.has_value()},
     {"--force", x.force}},
    "has no effect with --cache, whose engines are configured by --config and "
    "--set");
}

exit_status evaluate_reuse(const evaluate_arguments& arguments,
                           const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  const auto plans = plans_for(arguments, common, terminal.in);
  if (!plans)
    return refuse(terminal, plans.why());
  std::vector<study_report> reports;
  const auto measure = [&](const study_plan& plan) -> result<void> {
    progress_line line{terminal};
    const auto found =
      run_study(plan, [&](const std::string& system, size_t done, size_t of) {
        line.show(fmt::format("{}: {}/{} {}", plan.variant, done, of, system));
        return world.interrupted.count() == 0;
      });
    if (!found)
      return found.why();
    auto report = report_of(plan, *found);
    if (!report)
      return report.why();
    reports.push_back(std::move(*report));
    return {};
  };
  for (const auto& plan : *plans) {
    if (auto ok = measure(plan); !ok)
      return refuse(terminal, ok.why());
    if (!common.json)
      terminal.out << (reports.size() > 1 ? "\n" : "")
                   << to_text(reports.back());
  }
  const auto text = to_json(reports);
  if (auto ok =
        write_file(std::filesystem::path{*arguments.output} / report_file,
                   {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                   on_existing::replace);
      !ok)
    return refuse(terminal, ok.why());
  if (common.json)
    terminal.out << nlohmann::ordered_json::parse(text).dump() << '\n';
  return exit_status::done;
}

} // namespace atelier::runtime::cli
