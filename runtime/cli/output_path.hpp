// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::runtime::cli {

/// The place of the images of one call.
struct output_target {
  enum class kind : uint8_t {
    /// One image, written to a file with exactly this name.
    file,
    /// A file for each image, named by number and seed.
    folder,
  };

  kind type = kind::folder;
  std::filesystem::path path = ".";
  /// png, jpeg or webp.
  std::string format = "png";

  friend bool operator==(const output_target&, const output_target&) = default;
};

/// Returns the format that a file's extension names, if it names one.
std::optional<std::string> format_of(const std::filesystem::path& file);

/// Reads `-o` and `--format`. A folder is what exists as one, ends in a slash
/// or has no extension; all else is a file. A file's format comes from its
/// extension, or from `--format` where that is none of ours.
/// Errors: ec::invalid_argument.
core::result<output_target> read_output(std::optional<std::string> output,
                                        std::optional<std::string> format,
                                        uint64_t images);

/// Returns the path of image `index`, counted from 0: the file itself, or
/// "NNNNN-SEED.EXT" in the folder.
std::filesystem::path path_of(const output_target& target, uint64_t index,
                              uint64_t seed);

} // namespace atelier::runtime::cli
