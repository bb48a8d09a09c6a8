// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/stages/standard.hpp>
#include <atelier/core/result.hpp>
#include <atelier/extensions.hpp>
#include <atelier/planning/policy.hpp>

#include <string>
#include <vector>

namespace atelier::runtime {

/// What a host adds, checked, each behind its border (host_stages.hpp,
/// host_policy.hpp, host_executor.hpp). Its families are known to the process.
struct host_extensions {
  std::vector<actors::added_stage> stages;
  planning::policy_list policies;
  std::vector<host_executor> executors;
  /// The host has some.
  bool families = false;

  /// Returns what devices[].executor may be besides.
  std::vector<std::string> executor_names() const;
};

/// Checks what a host adds, and makes its families known.
/// Errors: ec::bad_config with every fault, a line each: those of host_stages,
///         host_policies and gpu::add_family; an executor without a factory, or
///         whose name is taken or not 1..64 of a-z, A-Z, 0-9, _, - and a dot.
core::result<host_extensions> admit(const extensions& own);

/// Says for what of a host's the processes of an engine need a program of the
/// host's, as "the stage 'upscale'"; empty: for nothing.
std::string needs_own_program(const host_extensions& own);

} // namespace atelier::runtime
