// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace atelier::image {

/// Returns the texts of a PNG file as UTF-8 with their keywords, in the order
/// of the file: the first `most_png_texts` without those that are faulty, up to
/// `most_text_bytes` together. Empty for other files. Programs that make
/// images keep their own parameters in such texts.
/// Threads: any.
std::vector<std::pair<std::string, std::string>> read_png_texts(
  std::span<const uint8_t> file);

/// Maximum number of texts that are read, each of which may have to be
/// unpacked.
inline constexpr size_t most_png_texts = 8;

} // namespace atelier::image
