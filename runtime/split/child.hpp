// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/extensions.hpp>
#include <atelier/ipc/keeper.hpp>

#include <cstdint>

namespace atelier::runtime {

/// Options by which a process of the engine finds its place.
struct child_options {
  ipc::process_life process;
  int32_t parent = 0;
};

/// Reads --process=N --life=N --parent=PID.
/// Errors: ec::invalid_argument.
core::result<child_options> parse_child_options(int count,
                                                const char* const* arguments);

/// Runs one life of a process: maps the arena that it inherited, reads its part
/// from its first record, runs the actors of that part, and returns its exit
/// status when it is asked to leave. It dies with its parent.
///
/// The calling thread reads the ring and runs the delivered work itself if that
/// is short: see inline_unit.
///
/// If it cannot be set up as ordered, it reports the reason and ends.
int run_child(const child_options& how, const extensions& own);

} // namespace atelier::runtime
