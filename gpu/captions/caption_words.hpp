// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Return every word that a caption can have and that parse_caption
/// understands, once, in an order that never changes. Captions consist of
/// these, commas and single spaces.
const std::vector<std::string_view>& caption_words();

} // namespace atelier::gpu
