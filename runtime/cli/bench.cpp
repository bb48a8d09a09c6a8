// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/runtime/cli/bench.hpp>
#include <atelier/runtime/cli/bench_plan.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/load_mix.hpp>
#include <atelier/runtime/cli/load_report.hpp>
#include <atelier/runtime/cli/policy_help.hpp>
#include <atelier/runtime/cli/progress_line.hpp>
#include <atelier/runtime/cli/quick_build.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/service_choice.hpp>
#include <atelier/runtime/cli/text_option.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>

namespace atelier::runtime::cli {

namespace {

/// Returns the steps since `before`, by rows.
std::vector<uint64_t> since(const std::vector<uint64_t>& before,
                            std::vector<uint64_t> now) {
  for (size_t i = 0; i < std::min(before.size(), now.size()); ++i)
    now[i] -= std::min(now[i], before[i]);
  return now;
}

/// Sends the requests one after the other, so that models are loaded and
/// threads are awake.
void warm_up(const bench_plan& plan, service& to, environment& world) {
  for (const auto& x : plan.warm_up)
    run_load({{core::timespan{0}, x}}, to, plan.patience, world.interrupted,
             real_clock(), [](size_t) {});
}

std::string title_of(const bench_plan& plan) {
  std::string out =
    fmt::format("{} requests in {:.1f} s", plan.load.size(),
                core::to_seconds(plan.load.back().due - plan.load.front().due));
  for (const auto& [name, value] : plan.about)
    out += fmt::format("; {} {}", name, value);
  return out;
}

} // namespace

CLI::App* add_bench(CLI::App& app, bench_arguments& into) {
  auto* sub =
    app.add_subcommand("bench", "Measure how a load is served: bench serve");
  const text_options add{*sub};
  add.group("Load");
  add("--rate", into.rate, "R", "Requests a second, with Poisson arrivals");
  add("--trace", into.trace, "FILE",
      "Arrivals instead: milliseconds,NUMBER on each line; equal numbers have "
      "equal prompts");
  add("--load", into.load, "KIND:LOW-HIGH:SECONDS",
      "Synthetic arrivals instead, as in 'simulate'");
  add("--requests", into.requests, "N", "Maximum number of requests");
  add("--duration", into.duration, "S",
      "Seconds of arrivals (default: 60 if only --rate is set, otherwise all)");
  add_repeated_option(*sub, "--mix", into.mix,
                      "What requests differ in, such as steps=20:3,50:1 "
                      "(weights after colons); repeatable. Fields: "
                        + load_mix::fields())
    ->type_name("FIELD=VALUE,...");
  add("--prompts", into.prompts_file, "FILE",
      "One prompt per line, UTF-8; -: standard input (default: random "
      "captions)");
  add("--seed", into.seed, "S", "Seed of all random choices (default: 1)");
  add("--warm-up", into.warm_up, "N",
      "Requests to send first, one by one, that are not counted (default: 0)");
  add.group("Output");
  add("--slo-ms", into.slo_ms, "MS",
      "Time limit in milliseconds of a request without a deadline");
  add("--records", into.records, "FILE",
      "Write the outcome of each request, one per line (CSV)");
  sub->add_flag("--force", into.force, "Replace that file if it exists");
  add.group("Where it runs");
  add("--server", into.server, "URL",
      "A running server (default: an engine of its own)");
  add("--key", into.key, "KEY",
      "With --server: a key, if it requires one (default: $ATELIER_KEY)");
  add(
    "--cacert", into.authorities, "FILE",
    "With --server: trust these certificates (PEM) instead of this machine's");
  add("--connections", into.connections, "N",
      "With --server: maximum number of open requests (default: 256)");
  add("--model", into.model, "NAME|DIR|FILE",
      "The model that the first device hosts");
  add("--device", into.device, "NAME", "cpu, cuda or cuda:N");
  add("--dtype", into.dtype, "TYPE", list_choices(choices_of("--dtype")));
  add("--processes", into.processes, "MODE",
      list_choices(choices_of("--processes"))
        + ": one process, or several (default: split)");
  add.group("Expert");
  add("--policy", into.policy, "P", policy_help("How requests are answered"));
  add("--batching", into.batching, "HOW",
      list_choices(choices_of("--batching"))
        + ": when requests join a batch (default: the policy's choice)");
  add("--patience", into.patience, "S",
      "Seconds to wait for answers after the last request (default: 600)");
  add("--timeline", into.timeline, "FILE",
      "Write a timeline for https://ui.perfetto.dev");
  return sub;
}

exit_status bench(const bench_arguments& arguments,
                  const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  const auto plan = plan_bench(arguments, common, terminal.in);
  if (!plan)
    return refuse(terminal, plan.why());
  // A server may be another build.
  if (!plan->server)
    note_quick_build(world);
  auto chosen = choose_service(plan->server, reach_server, plan->engine, world);
  if (const auto* status = std::get_if<exit_status>(&chosen))
    return *status;
  auto& to = *std::get<std::unique_ptr<service>>(chosen);
  warm_up(*plan, to, world);
  const auto before = to.batches();
  std::vector<load_record> records;
  {
    progress_line shows{terminal};
    records = run_load(plan->load, to, plan->patience, world.interrupted,
                       real_clock(), [&](size_t sent) {
                         shows.show(fmt::format("{} of {} requests sent", sent,
                                                plan->load.size()));
                       });
  }
  const auto summary = sum_up(records, plan->slo, since(before, to.batches()));
  auto status = exit_status::done;
  if (plan->records) {
    const auto text = to_csv(records, plan->slo);
    if (auto ok = write_file(
          *plan->records,
          {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
          plan->records_mode);
        !ok)
      status = refuse(terminal, ok.why());
  }
  const bool cut = world.interrupted.count() > 0;
  to.stop(cut ? core::timespan{0} : plan->grace);
  if (common.json)
    terminal.out << to_json(summary, plan->about) << '\n';
  else
    terminal.out << title_of(*plan) << '\n' << to_table(summary);
  return cut ? exit_status::interrupted : status;
}

} // namespace atelier::runtime::cli
