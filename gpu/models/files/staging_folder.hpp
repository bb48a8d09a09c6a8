// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <filesystem>

namespace atelier::gpu::detail {

/// A folder that appears under its name only when it is complete. Until
/// `publish`, it has a temporary name beside the target that begins with a dot,
/// and it is removed with this object.
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

  /// Gives the folder its name. If `replace` is true, an existing folder is
  /// replaced, and exists until then.
  /// Errors: ec::invalid_argument if the name is taken.
  core::result<void> publish(bool replace);

private:
  staging_folder() = default;

  core::error failed(int code) const;

  std::filesystem::path target_;
  std::filesystem::path path_;
};

} // namespace atelier::gpu::detail
