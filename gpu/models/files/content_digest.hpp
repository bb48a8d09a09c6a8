// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <string>

namespace atelier::gpu {

/// Returns 64 hexadecimal digits that differ if two models draw other images of
/// the same request, wherever their files are and whatever their dates. They
/// cover the configurations, settings and tokenizers whole, the headers of the
/// weights, and the beginning, middle and end of each tensor: some milliseconds
/// for any model. A change of single numbers within a large tensor is not seen.
/// Files are read, not mapped, so that one that is cut meanwhile is an error.
/// Errors: ec::not_found (a file is gone), ec::io_failed, ec::bad_payload (a
///         file of weights is damaged); the text names the file.
/// Threads: any; blocks.
core::result<std::string> content_digest(const model_files& x);

/// Checks that a model's files are those of a digest.
/// Errors: those of content_digest; ec::unavailable if they are others.
core::result<void> check_content(const model_files& x,
                                 const std::string& digest);

} // namespace atelier::gpu
