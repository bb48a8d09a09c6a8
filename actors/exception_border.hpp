// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/log.hpp>

#include <caf/error.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scheduled_actor.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace atelier::actors {

/// Returns the text of an exception.
inline std::string text_of(const std::exception_ptr& x) {
  try {
    std::rethrow_exception(x);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

/// Ends the process when a handler of `self` throws. Afterwards the scheduler's
/// tables could not be trusted; the arena ends with the process, and the next
/// one begins with an arena of its own.
inline void install_aborting_border(caf::scheduled_actor* self) {
  self->set_exception_handler(
    [self](caf::scheduled_actor*, std::exception_ptr& x) -> caf::error {
      core::log_error("actor {} threw: {}; the process ends", self->name(),
                      text_of(x));
      std::abort();
    });
}

/// Ends the actor when a handler of `self` throws, and logs the text, which CAF
/// would lose.
inline void install_exception_border(caf::scheduled_actor* self) {
  self->set_exception_handler(
    [self](caf::scheduled_actor*, std::exception_ptr& x) -> caf::error {
      core::log_error("actor {} threw: {}; it ends", self->name(), text_of(x));
      return caf::exit_reason::unhandled_exception;
    });
}

} // namespace atelier::actors
