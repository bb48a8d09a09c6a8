// SPDX-License-Identifier: Apache-2.0
// The libraries are static and may be installed anywhere: only a host's build
// knows where it found them. So it compiles this file, by Atelier::runtime.
#include <atelier/runtime/split/packaged_program.hpp>

namespace {

[[maybe_unused]] const bool told =
  atelier::runtime::tell_packaged_program(ATELIER_PROCESS_PROGRAM);

} // namespace
