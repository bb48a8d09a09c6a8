// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <filesystem>

namespace atelier::gpu::detail {

/// A folder that takes its name when it is whole: until `publish` it lies
/// beside the target under a temporary one that begins with a dot, and goes
/// away with this object.
class staging_folder {
public:
  /// Errors, of all members: ec::io_failed; the text names the target.
  static core::result<staging_folder> create(
    const std::filesystem::path& target);

  staging_folder(staging_folder&& other) noexcept;
  staging_folder& operator=(staging_folder&&) = delete;
  ~staging_folder();

  const std::filesystem::path& path() const {
    return path_;
  }

  /// Gives the folder its name. `replace`: what has it goes away, and is there
  /// until then.
  /// Errors: ec::invalid_argument where the name is taken.
  core::result<void> publish(bool replace);

private:
  staging_folder() = default;

  core::error failed(int code) const;

  std::filesystem::path target_;
  std::filesystem::path path_;
};

} // namespace atelier::gpu::detail
