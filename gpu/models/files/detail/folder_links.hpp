// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <filesystem>

namespace atelier::gpu::detail {

/// Refuses a model's folder whose parts or files are links that lead out of it:
/// whoever packed the folder would choose what is read on this machine. A link
/// may lead into another model's folder beside this one, as exported families
/// share their parts, and into the blobs of the Hugging Face cache that the
/// folder is a snapshot of. The folder itself may be a link.
/// Errors: ec::bad_payload, with the link and where it leads; ec::io_failed.
core::result<void> check_links(const std::filesystem::path& folder);

} // namespace atelier::gpu::detail
