// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/stages/standard.hpp>
#include <atelier/core/result.hpp>
#include <atelier/extensions.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/runtime/own_thread_calls.hpp>

#include <memory>
#include <string>
#include <vector>

namespace atelier::runtime {

/// A host's extensions, checked, each behind its border (host_stages.hpp,
/// host_policy.hpp, host_executor.hpp). The process knows its families.
struct host_extensions {
  std::vector<actors::added_stage> stages;
  planning::policy_list policies;
  /// Runs the policies' planning.
  std::shared_ptr<own_thread_calls> plans =
    std::make_shared<own_thread_calls>();
  std::vector<host_executor> executors;
  /// Whether the host has any extensions.
  bool families = false;
  /// Empty if the host has no cache of its own.
  decltype(extensions::cache) cache = {};

  /// Returns whether actors call the host's code.
  bool is_called_by_actors() const;

  /// Returns the host's own values of devices[].executor.
  std::vector<std::string> executor_names() const;
};

/// Checks a host's extensions, and registers its families.
/// Errors: ec::bad_config with every fault, a line each: those of host_stages,
/// host_policies and gpu::add_family; an executor without a factory, or whose
/// name is in use or not 1..64 of a-z, A-Z, 0-9, _, - and a dot.
core::result<host_extensions> admit(const extensions& own);

/// Returns the extension for which the processes of an engine need the host's
/// own program, such as "the stage 'upscale'"; empty: none.
std::string needs_own_program(const host_extensions& own);

} // namespace atelier::runtime
