// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/extensions.hpp>
#include <atelier/gpu/device/executor.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/profile.hpp>

#include <memory>
#include <span>
#include <string>

namespace atelier::runtime {

/// Makes the executor that `device` of `settings` names, and loads its models.
/// @param own the host's executors, which get their border here
/// @param bare models are loaded by orders alone
/// @param digests those of digests_of_models at the engine's start; empty:
///        files are not compared
/// Errors: ec::not_found if it is not built in; those of the executor, and of
/// make_host_executor.
core::result<std::shared_ptr<gpu::executor>> make_executor(
  const config::settings& settings, const config::device_settings& device,
  std::shared_ptr<const planning::profile> profile,
  std::shared_ptr<ipc::slot_store> slots,
  std::span<const host_executor> own = {}, bool bare = false,
  std::span<const std::string> digests = {});

} // namespace atelier::runtime
