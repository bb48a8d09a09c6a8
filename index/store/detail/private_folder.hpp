// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <filesystem>

namespace atelier::index::detail {

/// Makes a folder that only its owner can access, if it is missing.
/// Errors: ec::io_failed; also if a link has its name.
core::result<void> make_private_folder(const std::filesystem::path& folder);

/// Makes the folder of a store, if it is missing. Unlike the folders in it, it
/// may be a link. Refuses a folder in which others could put links to files of
/// this user, and warns of one that they can read.
/// Errors: ec::io_failed.
core::result<void> make_store_folder(const std::filesystem::path& folder);

/// Returns the error for a link in a store's folder, which the store would
/// follow to a file of somebody else's choice.
core::error refused_link(const std::filesystem::path& link);

/// Refuses the path if a link has its name.
/// Errors: ec::io_failed.
core::result<void> check_no_link(const std::filesystem::path& path);

} // namespace atelier::index::detail
