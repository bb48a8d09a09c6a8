// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>

inline constexpr size_t unlimited = std::numeric_limits<size_t>::max();

/// From now on, no thread can start while that many of those that started since
/// live: as in a container with a limit of processes.
void allow_threads(size_t most);

/// Returns how many of the threads live that started since the first call of
/// allow_threads.
size_t living_threads();
