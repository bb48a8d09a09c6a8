// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/planning/automatic.hpp>
#include <atelier/planning/demand/workload.hpp>
#include <atelier/runtime/cli/bench_plan.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/load_mix.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/planning_files.hpp>
#include <atelier/runtime/cli/prompts_file.hpp>
#include <atelier/runtime/door.hpp>

#include <fmt/ranges.h>

#include <algorithm>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;
using arrivals = std::vector<planning::traced_arrival>;

constexpr uint64_t most_requests = 1'000'000;
constexpr double most_rate = 100'000;
constexpr double most_seconds = 1e6;
constexpr double most_ms = 86'400'000;
constexpr uint64_t most_connections = 4096;
constexpr uint64_t most_warm_up = 10'000;

/// Draws a prompt from the words of the shipped family.
std::string caption(core::philox& random) {
  constexpr std::string_view sizes[] = {"", "small ", "large "};
  constexpr std::string_view colours[] = {"red",    "blue",  "green",
                                          "yellow", "white", "orange"};
  constexpr std::string_view shapes[] = {"circle", "square", "triangle", "star",
                                         "ring"};
  constexpr std::string_view grounds[] = {"navy", "black", "grey"};
  const auto draw = [&](auto& words) {
    return words[random.below(std::size(words))];
  };
  // The words are drawn in separate statements because the evaluation order of
  // arguments is unspecified.
  const auto size = draw(sizes);
  const auto colour = draw(colours);
  const auto shape = draw(shapes);
  const auto ground = draw(grounds);
  return fmt::format("a {}{} {} on a {} background", size, colour, shape,
                     ground);
}

result<double> number_or(std::string_view name,
                         const std::optional<std::string>& text, double least,
                         double most, double otherwise) {
  if (!text)
    return otherwise;
  return parse_number(name, *text, least, most);
}

result<uint64_t> whole_or(std::string_view name,
                          const std::optional<std::string>& text,
                          uint64_t least, uint64_t most, uint64_t otherwise) {
  if (!text)
    return otherwise;
  return parse_whole(name, *text, least, most);
}

/// Draws Poisson arrivals at a constant rate.
arrivals draw_arrivals(double rate, double seconds, uint64_t most,
                       uint64_t seed) {
  arrivals out;
  core::philox random{seed, core::purpose::simulation};
  for (double at = random.exponential(1 / rate);
       at < seconds && out.size() < most; at += random.exponential(1 / rate))
    out.push_back({at, random.next_u64()});
  return out;
}

/// Reads the arrivals of a trace. It sets only the times of the requests and
/// which of them have the same prompt; they differ otherwise only by --mix.
result<arrivals> read_times(std::string_view argument,
                            const std::string& path) {
  auto read = read_trace(argument, path);
  if (!read)
    return read.why();
  for (const auto& name : read->columns)
    if (name != "ms" && name != "content" && name != "prompt")
      return fail(ec::invalid_argument,
                  "{}: {}: the column '{}' is only for 'simulate'; here a "
                  "trace may have ms, content and prompt",
                  argument, path, name);
  return std::move(read->arrivals);
}

result<arrivals> read_arrivals(const bench_arguments& x, uint64_t seed) {
  const int given = (x.trace ? 1 : 0) + (x.rate ? 1 : 0) + (x.load ? 1 : 0);
  if (given != 1)
    return fail(ec::invalid_argument,
                "one of --trace FILE, --rate R and --load "
                "KIND:LOW-HIGH:SECONDS is needed");
  const auto most =
    whole_or("--requests", x.requests, 1, most_requests, most_requests);
  if (!most)
    return most.why();
  // A load with a number of requests lasts until they are sent; one with only a
  // rate lasts a minute.
  const double usual = x.rate && !x.requests ? 60 : most_seconds;
  const auto seconds =
    number_or("--duration", x.duration, 0.001, most_seconds, usual);
  if (!seconds)
    return seconds.why();
  arrivals all;
  if (x.rate) {
    const auto rate = parse_number("--rate", *x.rate, 1e-3, most_rate);
    if (!rate)
      return rate.why();
    all = draw_arrivals(*rate, *seconds, *most, seed);
  } else {
    auto read = x.trace ? read_times("--trace", *x.trace)
                        : make_load("--load", *x.load, seed);
    if (!read)
      return read.why();
    all = std::move(*read);
    std::erase_if(all, [&](const auto& a) { return a.seconds > *seconds; });
    if (!x.requests && all.size() > *most)
      return fail(ec::invalid_argument,
                  "{} requests are more than {}; --requests takes the first "
                  "ones",
                  all.size(), most_requests);
    all.resize(std::min<size_t>(all.size(), *most));
  }
  if (all.empty())
    return fail(ec::invalid_argument, "no request is due in {} s", *seconds);
  return all;
}

/// Makes the checks with which the engine that will be started admits a
/// request, and returns the name of its policy.
result<std::string> check_at_door(const load_mix& mix,
                                  const config::settings& settings,
                                  const std::optional<std::string>& model) {
  const auto known = know_variants(settings);
  if (!known)
    return known.why();
  result<void> first;
  mix.each([&](const std::string& what, generation with) {
    if (!with.model)
      with.model = model;
    const auto made = to_request(with, settings, *known, core::request_id{1}, 1,
                                 core::time_point{});
    if (!made && first)
      first = fail(made.why().code, "{}: {}", what, made.why().text);
  });
  if (!first)
    return first.why();
  return std::string{
    planning::policy_named(settings.policy.name, known->costs)};
}

/// Returns the prompts from which requests are drawn; empty if no file was
/// named.
result<std::vector<std::string>> prompts_of(const bench_arguments& x,
                                            std::istream& standard_input,
                                            const core::limits& within) {
  if (!x.prompts_file)
    return std::vector<std::string>{};
  return read_prompts_file(*x.prompts_file, standard_input, within);
}

/// Completes the plan for a server that runs elsewhere.
result<void> aim_at_server(bench_plan& out, const bench_arguments& x) {
  for (const auto* own : {&x.model, &x.device, &x.dtype, &x.policy,
                          &x.processes, &x.batching, &x.timeline})
    if (*own)
      return fail(ec::invalid_argument,
                  "--server: --model, --device, --dtype, --policy, "
                  "--processes, --batching and --timeline are the server's "
                  "own; --mix model=NAME asks for a model");
  const auto connections =
    whole_or("--connections", x.connections, 1, most_connections, 256);
  if (!connections)
    return connections.why();
  out.server = server_options{*x.server, server_key(x.key),
                              static_cast<uint32_t>(*connections), out.patience,
                              x.authorities.value_or("")};
  out.about["server"] = *x.server;
  return {};
}

/// Completes the plan for an engine that will be started for it.
result<void> aim_at_engine(bench_plan& out, const bench_arguments& x,
                           const load_mix& mix, chosen_engine& chosen) {
  for (const auto& [name, given] :
       {std::pair{"--key", x.key.has_value()},
        {"--cacert", x.authorities.has_value()},
        {"--connections", x.connections.has_value()}})
    if (given)
      return fail(ec::invalid_argument, "{}: it has no effect without --server",
                  name);
  const auto& settings = chosen.settings;
  const auto policy = check_at_door(mix, settings, chosen.model);
  if (!policy)
    return policy.why();
  out.engine = std::move(chosen.engine);
  out.engine.caller_runs_actors = false;
  out.grace = settings.processes.grace;
  const bool split = settings.processes.mode == config::process_mode::split;
  out.about["processes"] = split ? "split" : "single";
  out.about["batching"] = settings.scheduler.batching;
  out.about["policy"] = *policy;
  std::vector<std::string> devices;
  for (const auto& device : settings.devices)
    devices.push_back(device.name);
  out.about["devices"] = fmt::format("{}", fmt::join(devices, ","));
  return {};
}

/// Reads how long requests may take.
result<void> read_terms(bench_plan& out, const bench_arguments& x) {
  if (x.slo_ms) {
    const auto slo = parse_number("--slo-ms", *x.slo_ms, 1, most_ms);
    if (!slo)
      return slo.why();
    out.slo = core::from_seconds(*slo / 1000);
  }
  const auto patience =
    number_or("--patience", x.patience, 0.001, most_seconds, 600);
  if (!patience)
    return patience.why();
  out.patience = core::from_seconds(*patience);
  return {};
}

/// Draws the requests of one bench; equal numbers give equal requests.
struct request_source {
  uint64_t seed = 0;
  std::optional<std::string> model;
  std::vector<std::string> prompts;
  load_mix mix;

  /// @param content requests with the same content have the same prompt
  generation draw(uint64_t number, uint64_t content) const {
    core::philox random{seed, core::purpose::sampling,
                        core::request_id{number}};
    generation wanted;
    wanted.model = model;
    wanted.seed = random.next_u32();
    wanted.seed_drawn = true;
    core::philox words{seed, core::purpose::simulation,
                       core::request_id{content}};
    wanted.prompt =
      prompts.empty() ? caption(words) : prompts[content % prompts.size()];
    mix.draw(random, wanted);
    return wanted;
  }
};

/// Draws the measured requests, then those of the warm-up.
void draw_requests(bench_plan& out, const request_source& from,
                   const arrivals& times, uint64_t warm_up) {
  uint64_t number = 0;
  for (const auto& at : times)
    out.load.push_back(
      {core::from_seconds(at.seconds), from.draw(++number, at.content)});
  for (uint64_t i = 0; i < warm_up; ++i) {
    auto first = from.draw(++number, i);
    first.deadline.reset();
    out.warm_up.push_back(std::move(first));
  }
}

} // namespace

result<bench_plan> plan_bench(const bench_arguments& x,
                              const common_arguments& common,
                              std::istream& standard_input) {
  bench_plan out;
  auto defaults = std::vector<std::string>{"processes.mode=\"split\""};
  auto with = common;
  if (x.batching) {
    if (auto ok = check_choice("--batching", *x.batching); !ok)
      return ok.why();
    with.set.push_back("scheduler.batching=\"" + *x.batching + "\"");
  }
  auto chosen =
    read_engine_options({x.model, x.device, x.dtype, x.policy, x.processes,
                         x.timeline, std::move(defaults)},
                        with);
  if (!chosen)
    return chosen.why();
  const auto limits = chosen->settings.limits;
  const auto seed = whole_or("--seed", x.seed, 0, UINT64_MAX, 1);
  if (!seed)
    return seed.why();
  const auto times = read_arrivals(x, *seed);
  if (!times)
    return times.why();
  request_source from{*seed, chosen->model, {}, {}};
  for (const auto& text : x.mix)
    if (auto ok = from.mix.add(text, limits); !ok)
      return ok.why();
  auto prompts = prompts_of(x, standard_input, limits);
  if (!prompts)
    return prompts.why();
  from.prompts = std::move(*prompts);
  if (auto ok = read_terms(out, x); !ok)
    return ok.why();
  const auto warm_up = whole_or("--warm-up", x.warm_up, 0, most_warm_up, 0);
  if (!warm_up)
    return warm_up.why();
  out.records = x.records;
  if (x.force)
    out.records_mode = on_existing::replace;
  if (x.records)
    if (auto ok = check_writable(*x.records, out.records_mode); !ok)
      return ok.why();
  if (auto ok = x.server ? aim_at_server(out, x)
                         : aim_at_engine(out, x, from.mix, *chosen);
      !ok)
    return ok.why();
  out.about["seed"] = fmt::format("{}", *seed);
  if (!x.mix.empty())
    out.about["mix"] = fmt::format("{}", fmt::join(x.mix, " "));
  draw_requests(out, from, *times, *warm_up);
  return out;
}

} // namespace atelier::runtime::cli
