// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/device_kinds.hpp>
#include <atelier/runtime/cli/load_mix.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/planning_files.hpp>
#include <atelier/runtime/cli/simulate_plan.hpp>
#include <atelier/runtime/cli/simulated_trace.hpp>
#include <atelier/runtime/cli/simulation_specs.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/instruction_set.hpp>
#include <atelier/runtime/pipeline.hpp>

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;

constexpr size_t most_script_bytes = size_t{16} << 20;
constexpr double most_ms = 366 * 86'400'000.0;
constexpr uint64_t most_memory_mib = uint64_t{1} << 30;
constexpr uint64_t most_rows = 1'024;

/// Returns " (2 quick, 4 slow)"; empty if no groups are given.
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

/// Reads the mix of requests. It is drawn as `bench serve` draws it, so that
/// equal seeds and mixes make equal requests.
result<void> read_mix(const std::vector<std::string>& texts, scenario& x) {
  if (texts.empty())
    return {};
  config::settings settings;
  auto mix = std::make_shared<load_mix>();
  for (const auto& text : texts)
    if (auto ok = mix->add(text, settings.limits); !ok)
      return ok;
  known_variants known{*x.profile, {}, {}, {}};
  known.schedules.resize(known.costs.variants.size());
  known.traits.resize(known.costs.variants.size());
  known.text_layers.resize(known.costs.variants.size());
  const auto made = [settings, known](generation with, core::request_id id,
                                      core::time_point now) {
    // The content of images is not simulated.
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
    // The first number drawn is the image's own seed.
    with.seed = random.next_u32();
    mix->draw(random, with);
    auto asked = made(std::move(with), to.id, to.arrived);
    // Each value was checked before.
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
                "--masks: needs --edits SHARE without a mean");
  const auto text = read_text("--masks", *arguments.masks, most_script_bytes);
  if (!text)
    return text.why();
  auto masks = parse_masks(*text, *arguments.masks);
  if (!masks)
    return fail(ec::invalid_argument, "--masks: {}", masks.why().text);
  x.edits.masks = std::move(*masks);
  return {};
}

/// Sets `to` to the given value as read by `parse`, and leaves it unchanged
/// without one.
template <class T, class Parse>
result<void> read_given(const std::optional<std::string>& given, T& to,
                        Parse parse) {
  if (!given)
    return {};
  auto read = parse(*given);
  if (!read)
    return read.why();
  to = std::move(*read);
  return {};
}

/// Notes each profile that was measured with another instruction set than this
/// process uses.
void note_other_measurements(const simulate_arguments& arguments,
                             const planning::profile& known,
                             std::vector<std::string>& into) {
  const auto in_use = core::instruction_set_in_use();
  const auto add = [&](const std::string& where, const auto& measured) {
    auto text = other_measurement(where, measured, in_use);
    if (!text.empty())
      into.push_back(std::move(text));
  };
  add("--profiles: " + *arguments.profiles, known.measured_with);
  for (const auto& kind : known.kinds)
    add("--kind " + kind.kind, kind.measured_with);
}

/// Reads the workers, their profile and the policies that requests are
/// simulated with.
result<void> read_world(const simulate_arguments& arguments,
                        const policy_list& more, simulation_plan& out) {
  auto& x = out.scenario;
  auto known = read_profile("--profiles", *arguments.profiles);
  if (!known)
    return known.why();
  const auto devices = read_devices(arguments.workers, arguments.kinds, *known);
  if (!devices)
    return devices.why();
  x.workers = count_of(*devices);
  if (!arguments.kinds.empty())
    x.devices = *devices;
  note_other_measurements(arguments, *known, out.notes);
  x.profile = std::make_shared<const planning::profile>(std::move(*known));
  auto policies = read_policies("--policy", *arguments.policies,
                                arguments.plans, *x.profile, more);
  if (!policies)
    return policies.why();
  out.policies = std::move(*policies);
  return {};
}

/// Reads the arrival times of requests.
result<void> read_load(const simulate_arguments& arguments,
                       simulation_plan& out) {
  auto& x = out.scenario;
  if (arguments.trace) {
    auto note = read_requests("--trace", *arguments.trace,
                              arguments.edits.has_value(), x);
    if (!note)
      return note.why();
    if (!note->empty())
      out.notes.push_back(std::move(*note));
    return {};
  }
  auto load = make_load("--load", *arguments.load, x.seed);
  if (!load)
    return load.why();
  x.trace = std::move(*load);
  return {};
}

/// Reads the deadline, the period between plans and the window of the past from
/// which they are made.
result<void> read_spans(const simulate_arguments& arguments, scenario& x) {
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
  return {};
}

/// Reads the parameters that replace models and stores: the simulation draws
/// their answers.
result<void> read_models(const simulate_arguments& arguments, scenario& x) {
  if (auto ok = read_given(arguments.similarity, x.similarity,
                           [](const std::string& text) {
                             return parse_similarity("--similarity", text);
                           });
      !ok)
    return ok;
  if (auto ok = read_given(arguments.classifier_accuracy, x.classifier_accuracy,
                           [](const std::string& text) {
                             return parse_number("--classifier-accuracy", text,
                                                 0, 1);
                           });
      !ok)
    return ok;
  if (auto ok = read_given(arguments.hit_predictor, x.predictor,
                           [](const std::string& text) {
                             return parse_hit_predictor("--hit-predictor",
                                                        text);
                           });
      !ok)
    return ok;
  if (auto ok = read_given(
        arguments.cache, x.cache,
        [](const std::string& text) { return parse_cache("--cache", text); });
      !ok)
    return ok;
  return read_given(arguments.edits, x.edits, [](const std::string& text) {
    return parse_edits("--edits", text);
  });
}

/// Reads how workers batch.
result<void> read_batching(const simulate_arguments& arguments, scenario& x) {
  if (arguments.max_batch) {
    const auto rows =
      parse_whole("--max-batch", *arguments.max_batch, 1, most_rows);
    if (!rows)
      return rows.why();
    x.max_batch = static_cast<uint32_t>(*rows);
  }
  if (arguments.batching) {
    if (auto ok = check_choice("--batching", *arguments.batching); !ok)
      return ok;
    x.join = joining_of(*arguments.batching);
  }
  return {};
}

/// Reads the faults and their times.
result<void> read_faults(const simulate_arguments& arguments, scenario& x) {
  if (!arguments.faults)
    return {};
  const auto text = read_text("--faults", *arguments.faults, most_script_bytes);
  if (!text)
    return text.why();
  auto script = parse_faults(*text, *arguments.faults);
  if (!script)
    return script.why();
  x.faults = std::move(*script);
  return {};
}

} // namespace

result<simulation_plan> plan_simulation(const simulate_arguments& arguments,
                                        const policy_list& more) {
  if (!arguments.policies)
    return fail(ec::invalid_argument, "--policy is missing: P[,P...]");
  if (!arguments.profiles)
    return fail(ec::invalid_argument, "--profiles is missing: FILE");
  if (arguments.trace.has_value() == arguments.load.has_value())
    return fail(ec::invalid_argument,
                "one of --trace FILE and --load KIND:LOW-HIGH:SECONDS is "
                "needed");
  simulation_plan out;
  auto& x = out.scenario;
  if (auto ok = read_world(arguments, more, out); !ok)
    return ok.why();
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
  if (auto ok = read_load(arguments, out); !ok)
    return ok.why();
  const auto noise =
    parse_number("--noise", arguments.noise.value_or("0.02"), 0, 1);
  if (!noise)
    return noise.why();
  x.noise = *noise;
  if (auto ok = read_spans(arguments, x); !ok)
    return ok.why();
  if (auto ok = read_models(arguments, x); !ok)
    return ok.why();
  if (arguments.masks) {
    if (auto ok = read_masks(arguments, x); !ok)
      return ok.why();
  }
  if (auto ok = read_mix(arguments.mix, x); !ok)
    return ok.why();
  if (auto ok = read_batching(arguments, x); !ok)
    return ok.why();
  if (auto ok = read_faults(arguments, x); !ok)
    return ok.why();
  const double lasts = x.trace.back().seconds;
  x.interval_seconds = lasts > 7200 ? 60 : 5;
  out.title = fmt::format("{} requests in {:.0f} s, {} workers{}, seed {}",
                          x.trace.size(), lasts, x.workers,
                          show_kinds(x.devices), x.seed);
  return out;
}

} // namespace atelier::runtime::cli
