// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/modm/control.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::planning::modm {

namespace {

struct split_found {
  double large = 0;
  serve_mode mode = serve_mode::throughput;
  bool feasible = false;
};

window with_left(window seen, double left) {
  seen.left = left;
  return seen;
}

std::optional<split_found> found(uint32_t workers, const loads& of,
                                 const speeds& at, const split_rules& rules) {
  const auto exact = quality_split(workers, of, at);
  if (rules.mode != mode_rule::throughput
      && (exact || rules.mode == mode_rule::quality)) {
    double large = exact.value_or(0);
    if (rules.as_published)
      large = std::clamp(
        static_cast<double>(quality_split_published(workers, of, at)), 1.0,
        static_cast<double>(workers));
    else if (!exact)
      // No split serves both loads: it serves the misses, which only large
      // workers can run.
      large = throughput_split(workers, of, at).value_or(workers);
    return split_found{large, serve_mode::quality, exact.has_value()};
  }
  if (rules.as_published) {
    const auto ratio = throughput_split_published(workers, of, at);
    if (!ratio)
      return std::nullopt;
    return split_found{*ratio, serve_mode::throughput, exact.has_value()};
  }
  const auto whole = throughput_split(workers, of, at);
  if (!whole)
    return std::nullopt;
  return split_found{static_cast<double>(*whole), serve_mode::throughput,
                     exact.has_value()};
}

} // namespace

pid_state with_step(pid_state now, double target, double minutes,
                    uint32_t workers, const pid_gains& gains) {
  while (minutes > 0) {
    const double dt = std::min(minutes, published_minutes);
    minutes -= dt;
    const double error = target - now.x;
    const double integral = now.integral + error * dt;
    const double slope = (error - now.error) / dt;
    const double x = now.x
                   + dt / published_minutes
                       * (gains.proportional * error + gains.integral * integral
                          + gains.derivative * slope);
    const double bounded =
      workers > 0 ? std::clamp(x, 1.0, static_cast<double>(workers)) : x;
    // The part that a bound cuts off must not be made up later.
    if (bounded == x)
      now.integral = integral;
    now.x = bounded;
    now.error = error;
  }
  return now;
}

pid_state without_bump(pid_state now, double target) {
  return {now.x, 0, target - now.x};
}

uint32_t large_workers(const pid_state& now, uint32_t workers) {
  if (workers == 0)
    return 0;
  return static_cast<uint32_t>(
    std::clamp(std::round(now.x), 1.0, static_cast<double>(workers)));
}

uint32_t settled(uint32_t now, uint32_t wanted, double gain, double horizon,
                 double switch_seconds, double rate_lost) {
  const double switches = now > wanted ? now - wanted : wanted - now;
  return gain * horizon > switches * switch_seconds * rate_lost ? wanted : now;
}

split_plan plan_split(uint32_t workers, double large_speed,
                      std::span<const small_model> smalls, const window& seen,
                      const split_memory& before, const split_rules& rules) {
  split_plan out;
  out.memory = before;
  const uint32_t last =
    smalls.empty() ? 0 : static_cast<uint32_t>(smalls.size() - 1);
  out.memory.small = std::min(before.small, last);
  out.memory.workers = workers;
  if (!before.started) {
    // Source: MoDM's artifact starts with all workers large.
    out.memory.started = true;
    out.memory.pid = {static_cast<double>(workers), 0, 0};
  }
  out.small = out.memory.small;
  out.large = large_workers(out.memory.pid, workers);
  out.mode = rules.mode == mode_rule::quality ? serve_mode::quality
                                              : serve_mode::throughput;
  if (workers == 0 || smalls.empty()) {
    out.large = workers;
    return out;
  }
  if (!(seen.rate > 0))
    return out;

  const double used = rules.as_published ? 1 : rules.used;
  const auto speeds_of = [&](uint32_t i) {
    return speeds{large_speed * used, smalls[i].speed * used};
  };
  const auto loads_for = [&](uint32_t i) {
    return loads_of(with_left(seen, smalls[i].left));
  };
  uint32_t wanted = last;
  for (uint32_t i = 0; i <= last; ++i)
    if (quality_split(workers, loads_for(i), speeds_of(i))) {
      wanted = i;
      break;
    }
  const uint32_t now = out.memory.small;
  const bool steps = !rules.use_pid || rules.minutes > 0;
  // It changes to a smaller model at once, and to a better one after enough
  // consecutive periods.
  if (wanted >= now || (steps && ++out.memory.better_run >= rules.patience)) {
    out.memory.small = wanted;
    out.memory.better_run = 0;
  }
  out.small = out.memory.small;

  const auto split =
    found(workers, loads_for(out.small), speeds_of(out.small), rules);
  if (!split)
    return out;
  out.mode = split->mode;
  out.saturated = !split->feasible;
  const bool changed =
    before.started && (now != out.small || before.workers != workers);
  if (rules.use_pid) {
    if (changed)
      out.memory.pid = without_bump(out.memory.pid, split->large);
    out.memory.pid = with_step(out.memory.pid, split->large, rules.minutes,
                               rules.as_published ? 0 : workers);
  } else {
    out.memory.pid = {split->large, 0, 0};
  }
  out.large = large_workers(out.memory.pid, workers);
  return out;
}

} // namespace atelier::planning::modm
