// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace atelier::planning {

/// How load changes over time. All kinds are synthetic: they follow the
/// descriptions of traces in papers, and are not the traces.
enum class load_kind : uint8_t {
  /// A constant rate.
  steady,
  /// A daily wave between low and high with an occasional spike, for the month
  /// of Twitter in Argus, section 5.1.
  diurnal,
  /// Low and high in turn, for one period each, for Argus, section 5.1, which
  /// states neither.
  bursty,
  /// A linear rise from low to high over the whole time, for Argus, section
  /// 5.1, 800 minutes.
  ramp,
  /// A daily wave around the middle with a rate that jitters from minute to
  /// minute, for SysX in Argus, section 5.1.
  production,
};

std::string_view to_string(load_kind x);

/// Errors: ec::not_found; the text lists the valid names.
core::result<load_kind> parse_load_kind(std::string_view name);

/// The parameters of a load.
struct load_spec {
  load_kind kind = load_kind::steady;
  double seconds = 3600;
  /// Requests per second.
  double low = 1;
  double high = 1;
  /// The period of a wave or a burst; 0: a day for waves, 20 minutes for
  /// bursts.
  double period = 0;
  uint64_t seed = 1;
};

/// Checks a load.
/// Errors: ec::invalid_argument: a time or rate is invalid; the text names it.
core::result<void> validate(const load_spec& of);

/// Returns the requests per second in each second, between `low` and `high`.
/// The result is the same on every platform.
/// Errors: ec::invalid_argument: a time or rate is invalid; the text names it.
core::result<std::vector<double>> rates(const load_spec& of);

/// Returns the seconds at which requests arrive, rising: a Poisson process with
/// the load's rates. The result is the same on every platform.
/// Errors: those of rates; ec::out_of_resources: more than ten million.
core::result<std::vector<double>> arrivals(const load_spec& of);

/// Returns a masked fraction as in InstGenIE's traces: Beta(0.9, b), with mean
/// 0.9 / (0.9 + b). `b` is 7.28 for its own trace (mean 0.11) and 3.84 for the
/// public one (mean 0.19).
/// Source: InstGenIE, Figure 3, has the means; the form is ours.
double masked_share(core::philox& random, double b = 7.28);

/// Returns a value of the beta distribution with this mean and standard
/// deviation; with a spread of 0, the mean itself. The time is proportional to
/// mean / spread^2.
/// @pre 0 < mean < 1 and 0 <= spread < most_spread(mean)
double beta_share(core::philox& random, double mean, double spread);

/// Returns the upper bound of the spread for a mean: sqrt(mean (1 - mean)).
double most_spread(double mean);

/// Draws which of n things is used: the k-th is drawn 1/k times as often as the
/// first.
class zipf {
public:
  /// @pre n > 0
  explicit zipf(uint32_t n);

  uint32_t operator()(core::philox& random) const;

private:
  std::vector<double> sums_;
};

} // namespace atelier::planning
