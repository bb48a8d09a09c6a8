// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace atelier::gpu {

/// Returns n values from `first` to `last` with the bits of numpy.linspace.
std::vector<double> linspace(double first, double last, uint32_t n);

/// Returns n timesteps from the last of `train` down to 0, evenly spaced and
/// not rounded.
std::vector<double> linspace_timesteps(uint32_t train, uint32_t n);

/// Returns the n first of n + 1 timesteps from the last of `train` down to 0,
/// evenly spaced and not rounded.
/// Source: the web UI's modules/sd_schedulers.py, sgm_uniform
std::vector<double> sgm_timesteps(uint32_t train, uint32_t n);

/// Returns n integer timesteps down to `offset` + `lowest` x `ratio`, in steps
/// of `ratio`.
std::vector<double> leading_timesteps(uint32_t ratio, uint32_t n,
                                      uint32_t lowest, int32_t offset);

/// Returns n integer timesteps from the last of `train` down, in rounded steps
/// of train / n.
std::vector<double> trailing_timesteps(uint32_t train, uint32_t n);

} // namespace atelier::gpu
