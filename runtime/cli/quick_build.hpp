// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/environment.hpp>

#include <string>

namespace atelier::runtime::cli {

/// Returns what --version prints: the version, and whether the program is a
/// quick build.
std::string version_text(const environment& world, bool json);

/// Notes that the times which a command is about to measure are not those of a
/// release, if the program is a quick build.
void note_quick_build(const environment& world);

} // namespace atelier::runtime::cli
