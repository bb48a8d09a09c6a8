// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::runtime {

/// Tells where the package that a host was built with has the program of the
/// other processes. Called before main() by packaged_program.cpp of the
/// package, which each host compiles; the text must live on. Returns true.
/// Threads: the one that runs initialisers.
bool tell_packaged_program(const char* path) noexcept;

/// Returns what was told; empty where nothing was.
const char* packaged_program() noexcept;

} // namespace atelier::runtime
