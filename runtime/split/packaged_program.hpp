// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::runtime {

/// Sets the path of the program of the other processes in the package with
/// which a host was built. Called before main() by packaged_program.cpp of the
/// package, which each host compiles; the text must stay valid. Returns true.
/// Threads: the one that runs initialisers.
bool tell_packaged_program(const char* path) noexcept;

/// Returns that path; empty if none was set.
const char* packaged_program() noexcept;

} // namespace atelier::runtime
