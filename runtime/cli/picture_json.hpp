// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <filesystem>
#include <string>

namespace atelier::runtime::cli {

/// Returns the object that --json prints for a picture written to `path`, in
/// one line without its end.
/// Units: milliseconds.
std::string to_json(const picture& x, const std::filesystem::path& path);

} // namespace atelier::runtime::cli
