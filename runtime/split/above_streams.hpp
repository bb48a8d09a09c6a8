// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/descriptor.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace atelier::runtime {

/// Takes over a descriptor, and gives it a number above those of the standard
/// streams: a host that closed one of these may open it again. Empty, with
/// errno, if `number` is -1 or no descriptor is left.
inline core::descriptor above_streams(int number) {
  core::descriptor taken{number};
  if (number < 0 || number > STDERR_FILENO)
    return taken;
  return core::descriptor{fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
}

} // namespace atelier::runtime
