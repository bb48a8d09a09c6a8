// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <filesystem>

namespace atelier::gpu::detail {

/// Rejects a model's folder with parts or files that are links out of it: the
/// creator of the folder would choose the files read on this machine. A link
/// may lead into another model's folder beside this one, as exported families
/// share their parts, and into the blobs of the Hugging Face cache that the
/// folder is a snapshot of. The folder itself may be a link.
/// Errors: ec::bad_payload, with the link and its target; ec::io_failed.
core::result<void> check_links(const std::filesystem::path& folder);

} // namespace atelier::gpu::detail
