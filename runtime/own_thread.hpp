// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <functional>

namespace atelier::runtime {

/// Runs `work` on a thread of its own and waits for its end. The thread blocks
/// all signals except those of faults, and so do the threads that it starts:
/// the handlers of the calling program run on its own threads. Whatever the
/// work sets for its thread, such as the number of OpenMP's threads, leaves the
/// calling thread's settings alone.
/// Errors: those of `work`; those of error_of_exception, if it throws;
///         ec::out_of_resources if the thread cannot start.
core::result<void> on_own_thread(
  const std::function<core::result<void>()>& work);

/// Starts `count` threads and ends them again.
/// Errors: ec::out_of_resources if one of them cannot start.
core::result<void> check_threads(size_t count);

/// Returns the exception in flight as an error: ec::out_of_resources for memory
/// or threads that ran out, otherwise ec::internal.
/// @pre called inside a catch block
core::error error_of_exception();

} // namespace atelier::runtime
