// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace atelier::runtime {

/// Returns the folder with CLIP's own vocabulary, for models without one, in
/// the place where the set-up or the installation put it beside this program;
/// empty if it is missing.
/// Threads: any.
std::filesystem::path vocabulary_folder();

/// Finds a program of libexec/atelier: beside this program's folder or in it,
/// in the package that a host was built with, or in the installation folder.
/// Errors: ec::not_found, whose text continues after the program's name: "at
/// none of ..., ...".
/// Threads: any.
core::result<std::string> find_program(std::string_view name);

/// Returns the folder of the shipped models: the value of the variable
/// ATELIER_MODELS, or if it is not set the folder beside this program; empty if
/// it is missing.
/// Threads: any, as long as none changes the environment.
std::filesystem::path models_folder();

} // namespace atelier::runtime
