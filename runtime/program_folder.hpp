// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace atelier::runtime {

/// Returns the folder with CLIP's own vocabulary, for models that carry none:
/// where the set-up or the installation put it beside this program; empty where
/// it is not there.
/// Threads: any.
std::filesystem::path vocabulary_folder();

/// Returns the folder of the models that come with Atelier: what the variable
/// ATELIER_MODELS names, and where that is not set, what lies beside this
/// program; empty where it is not there.
/// Threads: any, as long as none changes the environment.
std::filesystem::path models_folder();

} // namespace atelier::runtime
