// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/kernels/host_dense.hpp>

#include <cstdint>

namespace atelier::gpu::host {

enum class activation : uint8_t {
  /// x / (1 + e^-x).
  silu,
  /// GELU by its tanh approximation.
  gelu_tanh,
};

/// An activation function of each of `count` numbers. A result depends only on
/// its own number, bit for bit, wherever that is in memory.
struct activation_job {
  element type = element::float32;
  activation function = activation::silu;
  int64_t count = 0;
  const void* in = nullptr;
  /// May be `in`.
  void* out = nullptr;
};

/// Returns the number of independent tasks in a job.
int64_t count_activation_tasks(const activation_job& job);

/// Runs tasks first..last of a job.
/// Threads: any number at once on different tasks.
/// @pre runs_kernels()
void run_activation(const activation_job& job, int64_t first, int64_t last);

} // namespace atelier::gpu::host
