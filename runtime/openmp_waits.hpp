// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace atelier::runtime {

/// Returns the environment for a program that computes: `environment`, with
/// short waits for the threads of GNU OpenMP, LibTorch's, unless it chooses how
/// they wait (GOMP_SPINCOUNT, OMP_WAIT_POLICY). By default a thread spins for
/// up to 300,000 turns, about 15 ms, before it sleeps (libgomp's manual,
/// GOMP_SPINCOUNT). Beside other work it holds a core for which the thread that
/// it waits for is queueing, and a step has hundreds of waits.
/// @param environment of the form of environ
std::vector<std::string> with_short_waits(const char* const* environment);

/// Returns the addresses of those texts and a null pointer, as exec takes them.
std::vector<char*> addresses_of(std::vector<std::string>& texts);

/// Replaces this process by its own program with that environment, or returns
/// if it has it already or the program cannot be started. libgomp reads the
/// variable as it is loaded, before main.
/// Threads: as main begins, while there are no others.
/// @param arguments of main
void restart_with_short_waits(char** arguments);

} // namespace atelier::runtime
