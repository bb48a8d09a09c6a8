// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/extensions.hpp>
#include <atelier/ipc/keeper.hpp>

#include <cstdint>
#include <string>

namespace atelier::runtime {

/// How a process of the engine finds its place.
struct child_options {
  std::string arena;
  ipc::process_life who;
  int32_t parent = 0;
};

/// Reads --arena=NAME --process=N --life=N --parent=PID.
/// Errors: ec::invalid_argument.
core::result<child_options> parse_child_options(int count,
                                                const char* const* arguments);

/// Lives one life of a process: maps the arena, learns from its first record
/// what it is, runs the actors of that part, and returns its exit status when
/// it is asked to leave. It dies with its parent.
///
/// The calling thread reads the ring and runs what it delivers, where that is
/// short: see inline_unit.
///
/// Where it cannot be what it is told to be, it says why and ends.
int run_child(const child_options& how, const extensions& own);

} // namespace atelier::runtime
