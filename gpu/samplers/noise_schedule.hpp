// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <cstdint>
#include <vector>

namespace atelier::gpu {

/// Most training timesteps of a config.
inline constexpr uint32_t most_train_timesteps = 100'000;

/// Returns n values from `first` to `last` with the bits of
/// torch.linspace(dtype=float32) on a CPU that fuses multiply and add.
std::vector<float> linspace_f32(float first, float last, uint32_t n);

/// Returns diffusers' alphas_cumprod for a run with `with`: the share of signal
/// at each training timestep, strictly falling, below 1; the last is 0 where
/// the config asks for a zero terminal signal-to-noise ratio, and all others
/// are above 0.
/// Errors: ec::invalid_argument; the text names the field, value and range.
/// Source: diffusers 0.42 scheduling_ddim.py, __init__ and
///         rescale_zero_terminal_snr (arXiv 2305.08891, algorithm 1)
core::result<std::vector<double>> alphas_cumprod(const scheduler_config& config,
                                                 core::sampler with);

} // namespace atelier::gpu
