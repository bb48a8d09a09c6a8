// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <optional>

namespace atelier::gpu::detail {

/// Returns the bytes that are free on a device; nothing if that is not known.
using memory_probe =
  std::function<std::optional<uint64_t>(const torch::Device& of)>;

/// Returns the bytes of memory in which new tensors fit on a device, together,
/// swap excluded; nothing if that is not known.
/// Threads: any.
std::optional<uint64_t> free_memory(const torch::Device& of);

} // namespace atelier::gpu::detail
