// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace atelier::test {

/// Returns the processes that `parent` started as an engine, by their
/// arguments, including processes whose parent is dead.
std::vector<pid_t> engine_processes_of(pid_t parent);

/// Returns whether `pid` exists and is not a zombie.
bool is_alive(pid_t pid);

/// Returns the names of the shared objects that `owner` made.
std::vector<std::string> shared_objects_of(pid_t owner);

/// Return counts of this process.
size_t count_threads();
size_t count_descriptors();
size_t resident_bytes();

} // namespace atelier::test
