// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::core {

/// Returns the natural logarithm of a positive, finite, normal `x` within 2
/// ulp. The bits are the same on every platform, which std::log does not
/// guarantee.
double portable_log(double x);

/// Sine and cosine of one angle.
struct turn {
  double sine;
  double cosine;
};

/// Returns the sine and cosine of `turns` x 2 pi for `turns` in [0, 1), with
/// the same bits on every platform. The absolute error is below 1e-15.
turn portable_turn(double turns);

} // namespace atelier::core
