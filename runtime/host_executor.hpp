// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/extensions.hpp>
#include <atelier/gpu/device/executor.hpp>

#include <memory>

namespace atelier::runtime {

/// Makes a host's executor, kept from harming the engine. What a call throws
/// fails the rows, the decoding or the loading that it was for; what is told of
/// rows that nobody asked for is left out with a warning, and a row of which a
/// run says nothing has failed. Its events come from any thread.
/// Errors: what the factory throws, or the executor when it is asked what is
///         resident; ec::bad_config where it is null, or says that a variant is
///         resident which is not there. The text names the executor.
/// Threads: those of gpu::executor.
core::result<std::shared_ptr<gpu::executor>> make_host_executor(
  const host_executor& by, const executor_setup& from);

} // namespace atelier::runtime
