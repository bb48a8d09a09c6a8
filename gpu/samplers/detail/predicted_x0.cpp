// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/samplers/detail/predicted_x0.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu {

core::result<void> set_x0(step_rule& rule, prediction predicts, double alpha) {
  double signal = std::sqrt(alpha);
  const double noise = std::sqrt(1 - alpha);
  switch (predicts) {
    case prediction::v_prediction:
      rule.x0_from_x = static_cast<float>(signal);
      rule.x0_from_out = static_cast<float>(-noise);
      return {};
    case prediction::sample:
      rule.x0_from_out = 1;
      return {};
    default:
      break;
  }
  if (alpha == 0 && rule.clip == 0)
    return core::fail(core::ec::invalid_argument,
                      "prediction_type epsilon at timestep {}: with "
                      "rescale_betas_zero_snr no signal is left there to "
                      "divide by; v_prediction, sample and clip_sample can "
                      "start there",
                      rule.timestep);
  // A share this small gives the same clamped result as a share of 0.
  signal = std::max(signal, 1e-18);
  rule.x0_from_x = static_cast<float>(1 / signal);
  rule.x0_from_out = static_cast<float>(-noise / signal);
  return {};
}

} // namespace atelier::gpu
