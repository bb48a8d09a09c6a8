// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace atelier::gpu {

/// Keeps latents of numbered scenes in a file, in groups that are encoded
/// together. Encoding an image costs as much as training on it, and each image
/// is used many times. A group that was not written completely counts as
/// absent.
/// Shape:   one latent is `elements` values of float16, raw.
/// Threads: any; two threads must not write the same group.
class latent_store {
public:
  struct layout {
    /// Description of what produced the latents. If it differs from the file's,
    /// the file is started anew.
    std::string maker;
    uint32_t elements = 1024;
    uint32_t group = 4;
  };

  /// Opens a file, or creates it.
  /// Errors: ec::io_failed.
  static core::result<latent_store> open(const std::filesystem::path& file,
                                         layout how);

  latent_store(latent_store&& x) noexcept;
  latent_store& operator=(latent_store&& x) noexcept;
  ~latent_store();

  bool has(uint64_t group) const;

  /// @pre values.size() == elements * group
  /// Errors: ec::io_failed.
  core::result<void> write(uint64_t group, std::span<const uint16_t> values);

  /// Reads the latent of one scene.
  /// @pre into.size() == elements
  /// Errors: ec::io_failed; ec::not_found if its group was never written.
  core::result<void> read(uint64_t scene, std::span<uint16_t> into) const;

private:
  latent_store(int file, std::filesystem::path name, layout how);

  size_t group_bytes() const;
  core::error fault(const char* doing) const;

  int file_ = -1;
  std::filesystem::path name_;
  layout how_;
};

} // namespace atelier::gpu
