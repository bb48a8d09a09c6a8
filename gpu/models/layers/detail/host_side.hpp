// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/kernels/host_dense.hpp>
#include <atelier/gpu/kernels/host_features.hpp>
#include <atelier/gpu/models/layers/placement.hpp>

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

namespace atelier::gpu::detail {

/// Returns the element type with which the kernels of gpu/kernels compute at
/// that placement; nothing if LibTorch's operators compute there.
inline std::optional<host::element> host_element(const placement& where) {
  if (!where.device.is_cpu() || !host::runs_kernels())
    return std::nullopt;
  if (where.dtype == torch::kFloat32)
    return host::element::float32;
  if (where.dtype == torch::kBFloat16)
    return host::element::bfloat16;
  return std::nullopt;
}

/// Returns the same for the placement of `x`.
inline std::optional<host::element> host_element(const torch::Tensor& x) {
  return host_element(placement{x.device(), x.scalar_type()});
}

/// Runs tasks 0..count on LibTorch's threads: `run(first, last)`. A thread
/// takes a few tasks at a time, so that the others do the work of one that
/// waits for its core or has a slow one.
template <class Function>
void spread(int64_t count, const Function& run) {
  const auto threads = std::min<int64_t>(count, at::get_num_threads());
  if (threads <= 1 || at::in_parallel_region()) {
    run(0, count);
    return;
  }
  constexpr int64_t turns = 8;
  const auto some = std::max<int64_t>(count / (threads * turns), 1);
  std::atomic<int64_t> next{0};
  at::parallel_for(0, threads, 1, [&](int64_t, int64_t) {
    for (auto first = next.fetch_add(some); first < count;
         first = next.fetch_add(some))
      run(first, std::min(first + some, count));
  });
}

/// Returns [n, h, w, c] without gaps, for [n, c, h, w]; a view if `x` is
/// channels-last.
inline torch::Tensor channels_last(const torch::Tensor& x) {
  return x.permute({0, 2, 3, 1}).contiguous();
}

/// Returns an uninitialised channels-last tensor [n, c, h, w].
inline torch::Tensor room_like(const torch::Tensor& x, int64_t n, int64_t c,
                               int64_t h, int64_t w) {
  return torch::empty({n, c, h, w}, x.options(),
                      torch::MemoryFormat::ChannelsLast);
}

} // namespace atelier::gpu::detail
