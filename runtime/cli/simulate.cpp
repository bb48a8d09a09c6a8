// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/load_mix.hpp>
#include <atelier/runtime/cli/planning_files.hpp>
#include <atelier/runtime/cli/policy_help.hpp>
#include <atelier/runtime/cli/progress_line.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/simulate.hpp>
#include <atelier/runtime/cli/simulate_plan.hpp>
#include <atelier/runtime/cli/text_option.hpp>
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

/// Shows the progress of a run.
class ticker {
public:
  ticker(environment& world, std::string what, uint64_t of)
    : world_(world), what_(std::move(what)), of_(of), line_(world.terminal) {}

  bool operator()(uint64_t done) {
    const double passed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_)
        .count();
    if (passed > 1 && done == 0) {
      line_.show(fmt::format("{}: 0 of {} requests", what_, of_));
    } else if (passed > 1) {
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
  const text_options add{*sub};
  add.group("Load");
  add("--trace", into.trace, "FILE",
      "Arrivals: milliseconds,NUMBER on each line (equal numbers have equal "
      "prompts), or columns that the first line names: "
        + planning::trace_columns());
  add("--load", into.load, "KIND:LOW-HIGH:SECONDS",
      "Synthetic arrivals instead: steady, diurnal, bursty, ramp or "
      "production, in requests a second; diurnal and production are waves "
      "of a day");
  add_repeated_option(*sub, "--mix", into.mix,
                      "What requests differ in, such as steps=20:3,50:1, drawn "
                      "as in 'bench serve' with the same seed; repeatable. "
                      "Fields: "
                        + load_mix::fields())
    ->type_name("FIELD=VALUE,...");
  add("--edits", into.edits, "SHARE[,MEAN[,SPREAD]]",
      "Share of requests that are edits, and mean and spread of the masked "
      "share (default: 0,0.11,0.1033)");
  add("--masks", into.masks, "FILE",
      "Measured masked shares of edits, one per line, instead of a mean");
  add("--seed", into.seed, "S", "Seed of all random choices (default: 1)");
  add.group("Policies and devices");
  add("--policy", into.policies, "P,P,...",
      policy_help("Policies, side by side"));
  add("--profiles", into.profiles, "FILE", "Cost and quality of the variants");
  add("--workers", into.workers, "N", "Devices (default: 16)");
  add_repeated_option(*sub, "--kind", into.kinds,
                      "N devices of a kind whose costs are in FILE, a profile "
                      "(default: the one of --profiles); repeatable, instead "
                      "of --workers")
    ->type_name("NAME=N[:FILE]");
  add("--memory", into.memory, "MIB",
      "Memory of each device, for the variants' memory_bytes in the profile "
      "(default: unlimited)");
  add_repeated_option(*sub, "--plan", into.plans,
                      "For the policy 'fixed': a plan that 'atelier plan -o' "
                      "wrote; repeatable")
    ->type_name("FILE");
  add("--reproduce", into.reproduce, "WHAT",
      "Run the experiments of a paper instead: all, argus, diffserve, modm, "
      "nirvana or instgenie; --data DIR holds published data");
  sub->add_flag("--strict", into.strict,
                "With --reproduce: exit status 1 if a result is not "
                "reproduced");
  add.group("Output");
  add("-o,--output", into.output, "DIR",
      "Write summary.json, series.csv and report.html there");
  sub->add_flag("--force", into.force, "Replace files that exist");
  add.group("Expert");
  add("--max-batch", into.max_batch, "N",
      "Maximum rows of a step (default: the profile's largest batch)");
  add("--batching", into.batching, "HOW",
      list_choices(choices_of("--batching"))
        + ": when requests join a batch (default: the policy's choice)");
  add("--faults", into.faults, "FILE", "Script of the faults to simulate");
  add("--slo-ms", into.slo_ms, "MS",
      "Time limit from arrival to answer (default: the profile's)");
  add("--noise", into.noise, "SHARE",
      "Spread of execution times (default: 0.02)");
  add("--period-ms", into.period_ms, "MS",
      "Time between plans (default: 5000)");
  add("--window-ms", into.window_ms, "MS",
      "Window of the monitor's counts (default: 1000)");
  add("--similarity", into.similarity, "MEAN,SPREAD",
      "Similarity of earlier work (default: the profile's reuse.near)");
  add("--classifier-accuracy", into.classifier_accuracy, "SHARE",
      "Share of prompts whose class is predicted correctly (default: the "
      "profile's ladders[].accuracy)");
  add("--hit-predictor", into.hit_predictor, "RECALL,FALSE_ALARMS",
      "How often a hit is predicted for prompts that would hit, and for those "
      "that would not (default: the profile's reuse.predictor)");
  add("--cache", into.cache, "FIELD=VALUE,...",
      "A cache that fills and evicts, over synthetic prompts: entries=N, "
      "replace=fifo, lru, lfu, lcbfu or marginal, topics, again, recent, scale "
      "(default: similarities are random)");
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
                       "--strict: it has no effect without --reproduce"));
  if (arguments.reproduce)
    return world.separate.reproduce(arguments, common, world);
  if (world.policies.empty()
      && names_comparisons(arguments.policies.value_or(""), arguments.plans))
    return world.separate.compare(world);
  auto wanted = plan_simulation(arguments, world.policies);
  if (!wanted)
    return refuse(terminal, wanted.why());
  for (const auto& note : wanted->notes)
    terminal.complain(note);
  const std::filesystem::path folder{arguments.output.value_or("")};
  constexpr std::array files{"summary.json", "series.csv", "report.html"};
  if (arguments.output)
    for (const char* name : files)
      if (auto ok = check_writable(folder / name, mode); !ok)
        return refuse(terminal, ok.why());
  std::vector<outcome> all;
  std::string lines;
  for (const auto& policy : wanted->policies) {
    wanted->scenario.policy = policy;
    ticker shows{world, std::string{policy->name()},
                 wanted->scenario.trace.size()};
    auto ran = runtime::simulate(wanted->scenario,
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
