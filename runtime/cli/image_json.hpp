// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <filesystem>
#include <string>

namespace atelier::runtime::cli {

/// Returns the object that --json prints for an image written to `path`, in
/// one line without its end.
/// Units: milliseconds.
std::string to_json(const generated_image& x,
                    const std::filesystem::path& path);

} // namespace atelier::runtime::cli
