// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Returns every word that captions use and parse_caption understands, once, in
/// a fixed order. Captions consist of these words, commas and single spaces.
const std::vector<std::string_view>& caption_words();

} // namespace atelier::gpu
