// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>

#include <string>
#include <string_view>

namespace atelier::runtime {

/// The encoder by which a server compares prompts.
struct encoder_identity {
  /// "words", or the name of the encoder's folder.
  std::string name;
  /// 16 hexadecimal digits that differ if two encoders make other vectors: of
  /// the files of its folder, wherever that is, or of a vector of "words".
  std::string revision;
};

/// Returns the identity of the encoder that `cache.encoder` names. Reads its
/// files whole.
/// Errors: ec::not_found, ec::io_failed; the text names the option and the
/// file.
core::result<encoder_identity> encoder_identity_of(
  const config::settings& settings);

/// Returns the revision of the same folder's encoder of images: it differs if
/// the revision of the folder does, or how images are prepared.
/// Errors: ec::io_failed; the text names the option and the file.
core::result<std::string> image_revision_of(const config::settings& settings,
                                            std::string_view revision);

} // namespace atelier::runtime
