// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <cstdint>
#include <vector>

namespace atelier::gpu {

/// The maximum number of training timesteps in a config.
inline constexpr uint32_t most_train_timesteps = 100'000;

/// Returns n values from `first` to `last` that are bit-identical to
/// torch.linspace(dtype=float32) on a CPU with fused multiply-add.
std::vector<float> linspace_f32(float first, float last, uint32_t n);

/// Returns diffusers' alphas_cumprod for a run with `with`: the share of signal
/// at each training timestep, strictly falling, below 1. The last is 0 if the
/// config requests a zero terminal signal-to-noise ratio; all others are above
/// 0.
/// Errors: ec::invalid_argument; the text names the field, value and range.
/// Source: diffusers 0.42 scheduling_ddim.py, __init__ and
///         rescale_zero_terminal_snr (arXiv 2305.08891, algorithm 1)
core::result<std::vector<double>> alphas_cumprod(const scheduler_config& config,
                                                 core::sampler with);

} // namespace atelier::gpu
