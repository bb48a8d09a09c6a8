// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::gpu {

/// Noise over signal, sqrt((1 - alpha) / alpha), over training time: the grid
/// of Euler and DPM-Solver++. A share of signal of 0 is replaced by 2^-24, so
/// that the last sigma is 4096, which may be below the previous one.
/// Source: diffusers 0.42 scheduling_euler_discrete.py
class sigma_curve {
public:
  /// @pre `alphas` is strictly falling, below 1, and not empty
  explicit sigma_curve(std::span<const double> alphas);

  double smallest() const {
    return sigmas_.front();
  }

  /// Returns the sigma of the last timestep.
  double largest() const {
    return sigmas_.back();
  }

  /// Returns an interpolated sigma; outside the range, that of the nearest end.
  double at(double timestep) const;

  /// Returns the same, interpolated in the logarithm: the inverse of
  /// `timestep_of`.
  double at_by_log(double timestep) const;

  /// Returns the timestep of a sigma, interpolated in its logarithm; outside
  /// the range, that of the nearest end.
  double timestep_of(double sigma) const;

private:
  /// The sigmas around a timestep, and its part of the way between them; both
  /// are the same outside the range.
  struct place {
    size_t below = 0;
    size_t above = 0;
    double part = 0;
  };

  place place_of(double timestep) const;

  std::vector<double> sigmas_;
  std::vector<double> logs_;
};

/// Returns n sigmas from `largest` to `smallest`, evenly spaced in their
/// seventh root.
/// Source: arXiv 2206.00364, equation 5; diffusers' _convert_to_karras
std::vector<double> karras_sigmas(double largest, double smallest, uint32_t n);

} // namespace atelier::gpu
