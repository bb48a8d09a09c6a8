// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace atelier::test {

/// Returns the processes that `parent` started as an engine, by their
/// arguments, including processes whose parent is dead.
std::vector<pid_t> engine_processes_of(pid_t parent);

/// Returns whether `pid` exists and is not a zombie.
bool is_alive(pid_t pid);

/// Return counts of this process.
size_t count_threads();
size_t count_descriptors();
size_t resident_bytes();

} // namespace atelier::test
