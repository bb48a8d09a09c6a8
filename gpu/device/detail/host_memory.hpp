// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace atelier::gpu::detail {

/// Returns the bytes of memory that this process can still have: what the
/// machine has available, and at most what is left to each of its control
/// groups, of which inactive files do not count, as the kernel drops them.
/// Nothing if neither is known.
/// @param root the folder of /proc and /sys
/// Threads: any.
std::optional<uint64_t> free_host_memory(
  const std::filesystem::path& root = "/");

} // namespace atelier::gpu::detail
