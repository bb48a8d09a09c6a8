// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::gpu {

/// Noise over signal, sqrt((1 - alpha) / alpha), over training time: what Euler
/// and DPM-Solver++ step along. A share of signal of 0 is taken as 2^-24, so
/// that the last sigma is 4096, which may be below the one before.
/// Source: diffusers 0.42 scheduling_euler_discrete.py
class sigma_curve {
public:
  /// `alphas` strictly falling, below 1, at least one.
  explicit sigma_curve(std::span<const double> alphas);

  double smallest() const {
    return sigmas_.front();
  }

  /// The sigma of the last timestep.
  double largest() const {
    return sigmas_.back();
  }

  /// Interpolates; the ends hold beyond them.
  double at(double timestep) const;

  /// Returns the timestep whose sigma this is, interpolated in its logarithm;
  /// the ends hold beyond them.
  double timestep_of(double sigma) const;

private:
  std::vector<double> sigmas_;
  std::vector<double> logs_;
};

/// Returns n sigmas from `largest` to `smallest`, evenly spaced in their
/// seventh root.
/// Source: arXiv 2206.00364, equation 5; diffusers' _convert_to_karras
std::vector<double> karras_sigmas(double largest, double smallest, uint32_t n);

} // namespace atelier::gpu
