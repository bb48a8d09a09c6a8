// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace atelier::ipc {

/// Returns the memory that this process can still take without another one
/// being ended for it: what the machine has available, swap included, or what
/// its control groups, of either version, grant, whichever is less.
/// Units: bytes; absent if the kernel does not tell.
/// Threads: any.
/// @param root the root of the file system, for tests
std::optional<uint64_t> free_memory(const std::string& root = {});

/// Returns the same without swap, which is too slow for work.
/// Threads: any.
std::optional<uint64_t> free_ram(const std::string& root = {});

} // namespace atelier::ipc
