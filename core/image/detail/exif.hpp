// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/detail/bytes.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace atelier::image::detail {

/// Returns an EXIF block (a TIFF file) whose only entry is `text` (UTF-8) as
/// UserComment. The text is UTF-16 after the prefix "UNICODE", as the web UI
/// writes it.
bytes make_exif(std::string_view text);

/// Returns the orientation in an EXIF block, 1..8, if it has one.
std::optional<uint32_t> read_orientation(bytes_view block);

/// Returns the UserComment of an EXIF block as UTF-8, if it has one.
std::optional<std::string> read_exif(bytes_view block);

} // namespace atelier::image::detail
