// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/device_kinds.hpp>
#include <atelier/runtime/cli/load_mix.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/planning_files.hpp>
#include <atelier/runtime/cli/policy_help.hpp>
#include <atelier/runtime/cli/progress_line.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/simulate.hpp>
#include <atelier/runtime/cli/simulated_trace.hpp>
#include <atelier/runtime/cli/simulation_specs.hpp>
#include <atelier/runtime/cli/text_option.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/pipeline.hpp>
#include <atelier/simulation/report.hpp>
#include <atelier/simulation/simulate.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;

constexpr size_t most_script_bytes = size_t{16} << 20;
constexpr double most_ms = 366 * 86'400'000.0;
constexpr uint64_t most_memory_mib = uint64_t{1} << 30;
constexpr uint64_t most_rows = 1'024;

/// What is to be run: the scenario, but for its policy.
struct request {
  scenario what;
  policy_list policies;
  std::string title;
  /// What its user should know before it runs; empty: nothing.
  std::string note;
};

/// Returns " (2 quick, 4 slow)"; nothing where all are of one kind.
std::string show_kinds(const std::vector<planning::device_group>& devices) {
  std::string text;
  for (const auto& g : devices)
    text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", g.count, g.kind);
  return text.empty() ? text : text + ")";
}

result<core::timespan> parse_ms(std::string_view argument,
                                const std::optional<std::string>& text,
                                core::timespan otherwise) {
  if (!text)
    return otherwise;
  const auto ms = parse_number(argument, *text, 1, most_ms);
  if (!ms)
    return ms.why();
  return core::from_seconds(*ms / 1000);
}

/// Reads what requests ask for: drawn as `bench serve` draws it, so that equal
/// seeds and mixes make equal requests.

result<void> read_mix(const std::vector<std::string>& texts, scenario& x) {
  if (texts.empty())
    return {};
  config::settings settings;
  auto mix = std::make_shared<load_mix>();
  for (const auto& text : texts)
    if (auto ok = mix->add(text, settings.limits); !ok)
      return ok;
  known_variants known{*x.profile, {}, {}};
  known.schedules.resize(known.costs.variants.size());
  known.traits.resize(known.costs.variants.size());
  const auto made = [settings, known](generation with, core::request_id id,
                                      core::time_point now) {
    // What is drawn is not simulated.
    with.prompt = "simulated";
    return to_request(with, settings, known, id, 1, now);
  };
  result<void> first;
  mix->each([&](const std::string& what, const generation& with) {
    const auto ok = made(with, core::request_id{1}, core::time_point{});
    if (!ok && first)
      first = fail(ok.why().code, "{}: {}", what, ok.why().text);
  });
  if (!first)
    return first;
  x.wish = [mix, made, seed = x.seed](core::request& to) {
    core::philox random{seed, core::purpose::sampling, to.id};
    generation with;
    // The first word is the picture's own seed.
    with.seed = random.next_u32();
    mix->draw(random, with);
    auto asked = made(std::move(with), to.id, to.arrived);
    // Each value was tried before.
    if (!asked)
      return;
    to.fixed = asked->fixed;
    to.prio = asked->prio;
    to.px = to.source ? to.px : asked->px;
    if (asked->deadline != core::never)
      to.deadline = asked->deadline;
  };
  return {};
}

result<void> read_masks(const simulate_arguments& arguments, scenario& x) {
  if (!arguments.edits || arguments.edits->find(',') != std::string::npos)
    return fail(ec::invalid_argument,
                "--masks: goes with --edits SHARE, without a mean");
  const auto text = read_text("--masks", *arguments.masks, most_script_bytes);
  if (!text)
    return text.why();
  auto masks = parse_masks(*text, *arguments.masks);
  if (!masks)
    return fail(ec::invalid_argument, "--masks: {}", masks.why().text);
  x.edits.masks = std::move(*masks);
  return {};
}

result<request> read(const simulate_arguments& arguments) {
  if (!arguments.policies)
    return fail(ec::invalid_argument, "--policy is missing: P[,P...]");
  if (!arguments.profiles)
    return fail(ec::invalid_argument, "--profiles is missing: FILE");
  if (arguments.trace.has_value() == arguments.load.has_value())
    return fail(ec::invalid_argument,
                "one of --trace FILE and --load KIND:LOW-HIGH:SECONDS is "
                "needed");
  request out;
  auto& x = out.what;
  auto known = read_profile("--profiles", *arguments.profiles);
  if (!known)
    return known.why();
  const auto devices = read_devices(arguments.workers, arguments.kinds, *known);
  if (!devices)
    return devices.why();
  x.workers = count_of(*devices);
  if (!arguments.kinds.empty())
    x.devices = *devices;
  x.profile = std::make_shared<const planning::profile>(std::move(*known));
  auto policies =
    read_policies("--policy", *arguments.policies, arguments.plans, *x.profile);
  if (!policies)
    return policies.why();
  out.policies = std::move(*policies);
  const auto seed =
    parse_whole("--seed", arguments.seed.value_or("1"), 0, UINT64_MAX);
  if (!seed)
    return seed.why();
  x.seed = *seed;
  if (arguments.memory) {
    const auto mib =
      parse_whole("--memory", *arguments.memory, 1, most_memory_mib);
    if (!mib)
      return mib.why();
    x.memory_bytes = *mib << 20;
  }
  if (arguments.trace) {
    auto note = read_requests("--trace", *arguments.trace,
                              arguments.edits.has_value(), x);
    if (!note)
      return note.why();
    out.note = std::move(*note);
  } else {
    auto load = make_load("--load", *arguments.load, x.seed);
    if (!load)
      return load.why();
    x.trace = std::move(*load);
  }
  const auto noise =
    parse_number("--noise", arguments.noise.value_or("0.02"), 0, 1);
  if (!noise)
    return noise.why();
  x.noise = *noise;
  const auto slo = parse_ms("--slo-ms", arguments.slo_ms,
                            usual_deadline(*x.profile, x.devices));
  const auto period = parse_ms("--period-ms", arguments.period_ms, x.period);
  const auto window = parse_ms("--window-ms", arguments.window_ms, x.window);
  for (const auto* span : {&slo, &period, &window})
    if (!*span)
      return span->why();
  x.deadline = *slo;
  x.period = *period;
  x.window = *window;
  if (arguments.similarity) {
    const auto s = parse_similarity("--similarity", *arguments.similarity);
    if (!s)
      return s.why();
    x.similarity = *s;
  }
  if (arguments.classifier_accuracy) {
    const auto a = parse_number("--classifier-accuracy",
                                *arguments.classifier_accuracy, 0, 1);
    if (!a)
      return a.why();
    x.classifier_accuracy = *a;
  }
  if (arguments.hit_predictor) {
    const auto p =
      parse_hit_predictor("--hit-predictor", *arguments.hit_predictor);
    if (!p)
      return p.why();
    x.predictor = *p;
  }
  if (arguments.cache) {
    const auto c = parse_cache("--cache", *arguments.cache);
    if (!c)
      return c.why();
    x.cache = *c;
  }
  if (arguments.edits) {
    const auto e = parse_edits("--edits", *arguments.edits);
    if (!e)
      return e.why();
    x.edits = *e;
  }
  if (arguments.masks) {
    if (auto ok = read_masks(arguments, x); !ok)
      return ok.why();
  }
  if (auto ok = read_mix(arguments.mix, x); !ok)
    return ok.why();
  if (arguments.max_batch) {
    const auto rows =
      parse_whole("--max-batch", *arguments.max_batch, 1, most_rows);
    if (!rows)
      return rows.why();
    x.max_batch = static_cast<uint32_t>(*rows);
  }
  if (arguments.batching) {
    if (auto ok = check_choice("--batching", *arguments.batching); !ok)
      return ok.why();
    x.join = joining_of(*arguments.batching);
  }
  if (arguments.faults) {
    const auto text =
      read_text("--faults", *arguments.faults, most_script_bytes);
    if (!text)
      return text.why();
    auto script = parse_faults(*text, *arguments.faults);
    if (!script)
      return script.why();
    x.faults = std::move(*script);
  }
  const double lasts = x.trace.back().seconds;
  x.interval_seconds = lasts > 7200 ? 60 : 5;
  out.title = fmt::format("{} requests in {:.0f} s, {} workers{}, seed {}",
                          x.trace.size(), lasts, x.workers,
                          show_kinds(x.devices), x.seed);
  return out;
}

/// Shows how far a run is.
class ticker {
public:
  ticker(environment& world, std::string what, uint64_t of)
    : world_(world), what_(std::move(what)), of_(of), line_(world.terminal) {}

  bool operator()(uint64_t done) {
    const double passed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_)
        .count();
    if (passed > 1) {
      const double rate = static_cast<double>(done) / passed;
      line_.show(fmt::format(
        "{}: {} of {} requests, {:.0f}/s, {:.0f} s left", what_, done, of_,
        rate, static_cast<double>(of_ - std::min(of_, done)) / rate));
    }
    return world_.interrupted.count() == 0;
  }

private:
  environment& world_;
  std::string what_;
  uint64_t of_;
  progress_line line_;
  std::chrono::steady_clock::time_point begin_ =
    std::chrono::steady_clock::now();
};

result<void> write_text(const std::filesystem::path& to,
                        const std::string& text, on_existing mode) {
  return write_file(
    to, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, mode);
}

} // namespace

CLI::App* add_simulate(CLI::App& app, simulate_arguments& into) {
  auto* sub =
    app.add_subcommand("simulate", "Run policies over a trace in virtual time");
  const auto add = [sub](const std::string& names,
                         std::optional<std::string>& value,
                         const std::string& kind, const std::string& text) {
    add_text_option(*sub, names, value, text)->type_name(kind);
  };
  const auto group = [sub](const char* name) {
    sub->option_defaults()->group(name);
  };
  group("Load");
  add(
    "--trace", into.trace, "FILE",
    "Arrivals: milliseconds and, after a comma, what is asked for; or columns "
    "that its first line names: "
      + planning::trace_columns());
  add("--load", into.load, "KIND:LOW-HIGH:SECONDS",
      "Synthetic arrivals instead: steady, diurnal, bursty, ramp or "
      "production, in requests a second; diurnal and production are waves "
      "of a day");
  add_repeated_option(*sub, "--mix", into.mix,
                      "What requests differ in, drawn as 'bench serve' draws "
                      "it from the same seed, as steps=20:3,50:1; repeatable. "
                      "Fields: "
                        + load_mix::fields())
    ->type_name("FIELD=VALUE,...");
  add("--edits", into.edits, "SHARE[,MEAN[,SPREAD]]",
      "Share of requests that are edits, and of their masks (default: "
      "0,0.11,0.1033)");
  add("--masks", into.masks, "FILE",
      "Measured masked shares of edits, one a line, instead of a mean");
  add("--seed", into.seed, "S", "Decides all that is drawn (default: 1)");
  group("Policies and devices");
  add("--policy", into.policies, "P,P,...",
      policy_help("Policies, side by side"));
  add("--profiles", into.profiles, "FILE",
      "What variants cost and how good they are");
  add("--workers", into.workers, "N", "Devices (default: 16)");
  add_repeated_option(*sub, "--kind", into.kinds,
                      "N devices of a kind whose costs FILE has, a profile "
                      "(default: those of --profiles); repeatable, instead of "
                      "--workers")
    ->type_name("NAME=N[:FILE]");
  add("--memory", into.memory, "MIB",
      "Of each device, for the variants' memory_bytes of the profile (default: "
      "no bound)");
  add_repeated_option(*sub, "--plan", into.plans,
                      "For the policy 'fixed': a plan that 'atelier plan -o' "
                      "wrote; repeatable")
    ->type_name("FILE");
  add("--reproduce", into.reproduce, "WHAT",
      "Run the experiments of a paper instead: all, argus, diffserve, modm, "
      "nirvana or instgenie; --data DIR holds published data");
  sub->add_flag("--strict", into.strict,
                "With --reproduce: exit status 1 where a result does not come "
                "out");
  group("Output");
  add("-o,--output", into.output, "DIR",
      "Write summary.json, series.csv and report.html there");
  sub->add_flag("--force", into.force, "Replace files that exist");
  group("Expert");
  add("--max-batch", into.max_batch, "N",
      "Rows of a step at most (default: the profile's largest batch)");
  add("--batching", into.batching, "HOW",
      list_choices(choices_of("--batching"))
        + ": when requests join a batch (default: as the policy says)");
  add("--faults", into.faults, "FILE", "What goes wrong, by script");
  add("--slo-ms", into.slo_ms, "MS",
      "From arrival to the answer (default: the profile's)");
  add("--noise", into.noise, "SHARE",
      "Spread of execution times (default: 0.02)");
  add("--period-ms", into.period_ms, "MS", "Between plans (default: 5000)");
  add("--window-ms", into.window_ms, "MS",
      "Of the monitor's counts (default: 1000)");
  add("--similarity", into.similarity, "MEAN,SPREAD",
      "How near earlier work is (default: the profile's reuse.near)");
  add("--classifier-accuracy", into.classifier_accuracy, "SHARE",
      "Of prompts whose class is predicted rightly (default: the profile's "
      "ladders[].accuracy)");
  add("--hit-predictor", into.hit_predictor, "RECALL,FALSE_ALARMS",
      "How often a hit is predicted where one would be, and where none would "
      "(default: the profile's reuse.predictor)");
  add("--cache", into.cache, "FIELD=VALUE,...",
      "A cache that fills and evicts, over synthetic prompts: entries=N, "
      "replace=fifo, lru, lfu, lcbfu or marginal, topics, again, recent, scale "
      "(default: what is near is drawn)");
  return sub;
}

exit_status simulate(const simulate_arguments& arguments,
                     const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  const auto mode =
    arguments.force ? on_existing::replace : on_existing::refuse;
  if (arguments.strict && !arguments.reproduce)
    return refuse(terminal,
                  fail(ec::invalid_argument,
                       "--strict: without --reproduce it means nothing"));
  if (arguments.reproduce)
    return world.separate.reproduce(arguments, common, world);
  auto wanted = read(arguments);
  if (!wanted)
    return refuse(terminal, wanted.why());
  if (!wanted->note.empty())
    terminal.complain(wanted->note);
  const std::filesystem::path folder{arguments.output.value_or("")};
  constexpr std::array files{"summary.json", "series.csv", "report.html"};
  if (arguments.output)
    for (const char* name : files)
      if (auto ok = check_writable(folder / name, mode); !ok)
        return refuse(terminal, ok.why());
  std::vector<outcome> all;
  std::string lines;
  for (const auto& policy : wanted->policies) {
    wanted->what.policy = policy;
    ticker shows{world, std::string{policy->name()}, wanted->what.trace.size()};
    auto ran = runtime::simulate(wanted->what,
                                 [&](uint64_t done) { return shows(done); });
    if (!ran)
      return refuse(terminal, ran.why());
    lines += to_json(*ran) + "\n";
    if (common.json)
      terminal.out << to_json(*ran) << '\n' << std::flush;
    all.push_back(std::move(*ran));
  }
  if (!common.json)
    terminal.out << wanted->title << '\n' << to_table(all);
  if (arguments.output) {
    const std::array<std::string, 3> texts{lines, to_csv(all),
                                           to_html(all, wanted->title)};
    for (size_t i = 0; i < files.size(); ++i)
      if (auto ok = write_text(folder / files[i], texts[i], mode); !ok)
        return refuse(terminal, ok.why());
  }
  return exit_status::done;
}

} // namespace atelier::runtime::cli
