// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The exit statuses of the program of the other processes.
namespace atelier::runtime::exit_status {

inline constexpr int done = 0;
inline constexpr int failed = 1;
/// Its arguments are not those of its parent.
inline constexpr int usage = 2;
/// Its parent ended before it began.
inline constexpr int orphaned = 3;
/// Its parent is of another build, or gave it no arena.
inline constexpr int foreign = 4;

} // namespace atelier::runtime::exit_status
