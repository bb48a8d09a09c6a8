// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace atelier::planning {

/// How load changes over time. All are synthetic: made from what papers say of
/// their traces, not the traces.
enum class load_kind : uint8_t {
  /// One rate.
  steady,
  /// A day's wave between low and high, and a spike now and then: for the month
  /// of Twitter of Argus, section 5.1.
  diurnal,
  /// Low and high by turns, for a period each: Argus, section 5.1, which states
  /// neither.
  bursty,
  /// Linear from low to high over the whole time: Argus, section 5.1, 800
  /// minutes.
  ramp,
  /// A day's wave with a rate that jitters from minute to minute, around the
  /// middle: for SysX of Argus, section 5.1.
  production,
};

std::string_view to_string(load_kind x);

/// Errors: ec::not_found; the text lists the names there are.
core::result<load_kind> parse_load_kind(std::string_view name);

/// What a load is made from.
struct load_spec {
  load_kind kind = load_kind::steady;
  double seconds = 3600;
  /// Requests a second.
  double low = 1;
  double high = 1;
  /// Of a wave, a burst; 0: a day for waves, 20 minutes for bursts.
  double period = 0;
  uint64_t seed = 1;
};

/// Returns what is wrong with a load, if anything.
core::result<void> validate(const load_spec& of);

/// Returns requests a second in each second. Bounded by `low` and `high`. The
/// same on every platform.
/// Errors: ec::invalid_argument: a time or rate that is none; the text names
///         it.
core::result<std::vector<double>> rates(const load_spec& of);

/// Returns the seconds at which requests arrive, rising: a Poisson process of
/// the load's rates. The same on every platform.
/// Errors: those of rates; ec::out_of_resources: more than ten million.
core::result<std::vector<double>> arrivals(const load_spec& of);

/// Returns a masked share as of InstGenIE's traces: Beta(0.9, b), mean 0.9 /
/// (0.9 + b). `b` is 7.28 for its own trace (mean 0.11) and 3.84 for the public
/// one (mean 0.19).
/// Source: InstGenIE, Figure 3, has the means; the form is ours.
double masked_share(core::philox& random, double b = 7.28);

/// Returns a share of the beta distribution with that mean and standard
/// deviation; without a spread the mean itself. Takes time by mean / spread^2.
/// @pre 0 < mean < 1 and 0 <= spread < most_spread(mean)
double beta_share(core::philox& random, double mean, double spread);

/// Returns the spread that shares of a mean stay below: sqrt(mean (1 - mean)).
double most_spread(double mean);

/// Draws which of n things is used: the k-th 1/k as often as the first.
class zipf {
public:
  /// @pre n > 0
  explicit zipf(uint32_t n);

  uint32_t operator()(core::philox& random) const;

private:
  std::vector<double> sums_;
};

} // namespace atelier::planning
