// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/nirvana/step_choice.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/row_work.hpp>
#include <atelier/simulation/simulate.hpp>
#include <atelier/training/program/reuse_study/simulated_study.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace atelier::runtime::reuse_study {

namespace {

using core::result;

core::timespan from_ms(double x) {
  return core::from_seconds(x / 1000);
}

bool is_simulated(const study_system& x) {
  return x.found == found_entries::nearest || x.name == full_system;
}

/// Requests follow each other without waiting for a device.
std::vector<planning::traced_arrival> trace_of(
  std::span<const answered_line> lines, core::extent px) {
  std::vector<planning::traced_arrival> out;
  double seconds = 0;
  for (const auto& x : lines) {
    planning::traced_arrival each;
    each.seconds = seconds;
    each.content = x.number;
    each.request = static_cast<uint32_t>(x.number);
    each.px = px;
    out.push_back(each);
    seconds += 2 * x.total_ms / 1000 + 1;
  }
  return out;
}

} // namespace

planning::profile measured_costs(const study_setup& setup,
                                 std::span<const answered_line> lines) {
  auto out = setup.costs;
  out.kinds.clear();
  for (auto& x : out.variants) {
    x.load = core::timespan{0};
    x.loads.reset();
  }
  double text = 0, denoise = 0, decode = 0, steps = 0, images = 0;
  for (const auto& x : lines)
    if (x.steps_run > 0) {
      text += x.text_ms;
      denoise += x.denoise_ms;
      decode += x.decode_ms;
      steps += x.steps_run;
      ++images;
    }
  if (images > 0) {
    auto& variant = out.variants[setup.full.value];
    variant.text = from_ms(text / images);
    variant.decode =
      planning::at_native_size(variant, setup.px, from_ms(decode / images));
    variant.step = {{1, setup.px.pixels(), from_ms(denoise / steps)}};
  }
  auto& reuse = *out.reuse;
  if (reuse.latents.empty() && !reuse.measured)
    reuse.latents = planning::scaled_to(planning::nirvana::published_table(),
                                        planning::table_steps, reuse.steps);
  return out;
}

result<std::vector<simulated_system>> simulate_systems(
  const study_results& of) {
  std::vector<simulated_system> out;
  const auto full = std::ranges::find_if(
    of.systems, [](const auto& x) { return x.first->name == full_system; });
  for (const auto& [system, lines] : of.systems) {
    if (!is_simulated(*system))
      continue;
    scenario x;
    x.profile = std::make_shared<const planning::profile>(measured_costs(
      of.setup, full == of.systems.end() ? lines : full->second));
    auto policy = planning::make_policy(system->policy);
    if (!policy)
      return policy.why();
    x.policy = std::move(*policy);
    x.trace = trace_of(lines, of.setup.px);
    x.workers = 1;
    x.max_batch = 1;
    // The engine's own, so that equal requests draw equal numbers.
    x.seed = 0;
    // A live search answers both questions at once.
    x.predictor = planning::hit_predictor{1, 0};
    simulated_system each;
    each.name = system->name;
    for (const auto& line : lines) {
      x.nearest_prompts.push_back(line.nearest.value_or(0));
      each.live_hit_rate += line.reused.empty() ? 0 : 1;
      each.live_device_seconds += line.device_ms() / 1000;
    }
    const auto n = static_cast<double>(lines.size());
    each.live_hit_rate /= n;
    const auto simulated = simulate(x);
    if (!simulated)
      return simulated.why();
    each.simulated_hit_rate = static_cast<double>(simulated->cache_hits) / n;
    each.simulated_device_seconds = simulated->device_seconds;
    out.push_back(std::move(each));
  }
  return out;
}

} // namespace atelier::runtime::reuse_study
