// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::core {

/// Return the natural logarithm of a positive, finite, normal `x`, with the
/// same bits on every platform, which std::log does not promise. Within 2 ulp.
double portable_log(double x);

/// Sine and cosine of one angle.
struct turn {
  double sine;
  double cosine;
};

/// Return sine and cosine of `turns` x 2 pi, `turns` in [0, 1), with the same
/// bits on every platform. Absolute error below 1e-15.
turn portable_turn(double turns);

} // namespace atelier::core
