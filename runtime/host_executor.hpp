// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/extensions.hpp>
#include <atelier/gpu/device/executor.hpp>

#include <memory>

namespace atelier::runtime {

/// Makes a host's executor that cannot harm the engine. An exception of a call
/// fails the rows, the decoding or the loading of that call. Reports about
/// unknown rows are left out with a warning, and a row that a run does not
/// report has failed. Its events come from any thread.
/// Errors: the exceptions of the factory, or of the executor when it lists
/// resident variants; ec::bad_config if it is null or lists an unknown variant.
/// The text names the executor.
/// Threads: those of gpu::executor.
core::result<std::shared_ptr<gpu::executor>> make_host_executor(
  const host_executor& by, const executor_setup& from);

} // namespace atelier::runtime
