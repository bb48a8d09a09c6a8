// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/portable_math.hpp>
#include <atelier/planning/demand/workload.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace atelier::planning {

namespace {

using core::ec;

constexpr std::array<std::string_view, 5> kind_names{
  "steady", "diurnal", "bursty", "ramp", "production"};

constexpr double day = 86'400;
constexpr double burst = 1'200;
constexpr double most_seconds = 366 * day;
constexpr size_t most_arrivals = 10'000'000;

// A spike comes every two hours on average, doubles the wave and ends after
// some minutes.
constexpr double spike_every = 7'200;
constexpr double spike_length = 300;

// The jitter from minute to minute: the factor by which the last minute's value
// enters the next, and the deviation of the new part.
constexpr double jitter_stays = 0.8;
constexpr double jitter_new = 0.08;

core::philox stream(uint64_t seed, uint64_t part) {
  return core::philox{seed, core::purpose::simulation, core::request_id{part}};
}

// Returns 0 at night and 1 at noon.
double wave(double seconds, double period) {
  const double turns = seconds / period;
  return (1 - core::portable_turn(turns - std::floor(turns)).cosine) / 2;
}

// Returns the height of the spike in each second, 0..1.
std::vector<double> spikes(size_t n, core::philox random) {
  std::vector<double> out(n, 0.0);
  for (double at = random.exponential(spike_every); at < static_cast<double>(n);
       at += random.exponential(spike_every)) {
    const double height = 0.5 + 0.5 * random.uniform();
    const auto from = static_cast<size_t>(at);
    const auto length = static_cast<size_t>(spike_length);
    for (size_t i = from; i < std::min(n, from + length); ++i)
      out[i] = std::max(
        out[i],
        height
          * (1 - static_cast<double>(i - from) / static_cast<double>(length)));
  }
  return out;
}

// Draws a gamma variate of a shape below 1 by Johnk's method: an exponential
// times a Beta(shape, 1 - shape).
double draw_gamma_below_one(core::philox& random, double shape) {
  while (true) {
    const double x = std::pow(random.uniform(), 1 / shape);
    const double y = std::pow(random.uniform(), 1 / (1 - shape));
    if (x + y > 0 && x + y <= 1)
      return random.exponential() * x / (x + y);
  }
}

// The sum of gamma variates is a gamma variate of the summed shape.
double draw_gamma(core::philox& random, double shape) {
  double x = 0;
  for (; shape >= 1; shape -= 1)
    x += random.exponential();
  return shape > 1e-12 ? x + draw_gamma_below_one(random, shape) : x;
}

double draw_beta(core::philox& random, double a, double b) {
  const double x = draw_gamma(random, a);
  const double y = draw_gamma(random, b);
  return x + y > 0 ? x / (x + y) : 0;
}

} // namespace

std::string_view to_string(load_kind x) {
  return kind_names[static_cast<size_t>(x)];
}

core::result<load_kind> parse_load_kind(std::string_view name) {
  for (size_t i = 0; i < kind_names.size(); ++i)
    if (kind_names[i] == name)
      return static_cast<load_kind>(i);
  return core::fail(ec::not_found, "load: unknown kind '{}'; known kinds: {}",
                    name, fmt::join(kind_names, ", "));
}

core::result<void> validate(const load_spec& of) {
  if (!(of.seconds >= 0 && of.seconds <= most_seconds))
    return core::fail(ec::invalid_argument, "seconds: {} is not in 0..{}",
                      of.seconds, most_seconds);
  for (const double x : {of.low, of.high})
    if (!(x >= 0 && x <= 1e9))
      return core::fail(ec::invalid_argument,
                        "rate: {} a second is not in 0..1e9", x);
  if (of.low > of.high)
    return core::fail(ec::invalid_argument,
                      "low: {} a second is above high, {}", of.low, of.high);
  if (!(of.period >= 0 && of.period <= most_seconds))
    return core::fail(ec::invalid_argument, "period: {} is not in 0..{}",
                      of.period, most_seconds);
  return {};
}

core::result<std::vector<double>> rates(const load_spec& of) {
  if (auto ok = validate(of); !ok)
    return std::move(ok).why();
  const auto n = static_cast<size_t>(std::ceil(of.seconds));
  const double span = of.high - of.low;
  const double period =
    of.period > 0 ? of.period : (of.kind == load_kind::bursty ? burst : day);
  const auto extra = of.kind == load_kind::diurnal
                     ? spikes(n, stream(of.seed, 1))
                     : std::vector<double>{};
  auto minutes = stream(of.seed, 2);
  double jitter = 0;
  std::vector<double> out(n, of.high);
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<double>(i);
    double part = 1;
    switch (of.kind) {
      case load_kind::steady:
        break;
      case load_kind::diurnal:
        // The wave alone reaches two thirds of the range; spikes add the rest.
        part = wave(at, period) * 2 / 3 * (1 + extra[i] / 2)
             + extra[i] / 3 * (1 - wave(at, period));
        break;
      case load_kind::bursty:
        part = static_cast<uint64_t>(at / period) % 2 == 0 ? 0 : 1;
        break;
      case load_kind::ramp:
        part = n > 1 ? at / static_cast<double>(n - 1) : 0;
        break;
      case load_kind::production:
        if (i % 60 == 0)
          jitter = jitter_stays * jitter + jitter_new * minutes.normal();
        part = 0.25 + 0.5 * wave(at, period) + jitter;
        break;
    }
    out[i] = of.low + span * std::clamp(part, 0.0, 1.0);
  }
  return out;
}

core::result<std::vector<double>> arrivals(const load_spec& of) {
  const auto by_second = rates(of);
  if (!by_second)
    return by_second.why();
  double expected = 0;
  for (const double x : *by_second)
    expected += x;
  std::vector<double> out;
  const auto too_many = [] {
    return core::fail(ec::out_of_resources, "a load of more than {} requests",
                      most_arrivals);
  };
  if (expected > static_cast<double>(most_arrivals))
    return too_many();
  auto random = stream(of.seed, 0);
  // The gaps of a unit Poisson process are stretched by the rate of their
  // second.
  double left = random.exponential();
  for (size_t i = 0; i < by_second->size(); ++i) {
    const double rate = (*by_second)[i];
    const double length = std::min(1.0, of.seconds - static_cast<double>(i));
    double used = 0;
    while (rate > 0 && used + left / rate < length) {
      used += left / rate;
      out.push_back(static_cast<double>(i) + used);
      if (out.size() > most_arrivals)
        return too_many();
      left = random.exponential();
    }
    left -= (length - used) * rate;
  }
  return out;
}

double masked_share(core::philox& random, double b) {
  ATELIER_EXPECTS(b > 0, "a parameter above 0");
  return draw_beta(random, 0.9, b);
}

double beta_share(core::philox& random, double mean, double spread) {
  ATELIER_EXPECTS(mean > 0 && mean < 1 && spread >= 0
                    && spread < most_spread(mean),
                  "a beta distribution");
  if (spread == 0)
    return mean;
  const double sum = mean * (1 - mean) / (spread * spread) - 1;
  return draw_beta(random, mean * sum, (1 - mean) * sum);
}

double most_spread(double mean) {
  return std::sqrt(mean * (1 - mean));
}

zipf::zipf(uint32_t n) {
  ATELIER_EXPECTS(n > 0, "something to draw");
  double sum = 0;
  for (uint32_t k = 1; k <= n; ++k)
    sums_.push_back(sum += 1.0 / k);
}

uint32_t zipf::operator()(core::philox& random) const {
  const auto above = std::upper_bound(sums_.begin(), sums_.end(),
                                      random.uniform() * sums_.back());
  return static_cast<uint32_t>(std::min<std::ptrdiff_t>(
    above - sums_.begin(), static_cast<std::ptrdiff_t>(sums_.size()) - 1));
}

} // namespace atelier::planning
