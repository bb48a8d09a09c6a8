// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace atelier::runtime {

/// Returns the folder with CLIP's own vocabulary, for models that carry none:
/// where the set-up or the installation put it beside this program; empty where
/// it is not there.
/// Threads: any.
std::filesystem::path vocabulary_folder();

} // namespace atelier::runtime
