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
/// together: to encode a picture costs as much as to train on it, and each is
/// used many times. A group that was not written whole counts as absent.
/// Shape:   one latent is `elements` values of float16, raw.
/// Threads: any; two may not write the same group.
class latent_store {
public:
  struct layout {
    /// What the latents are of: another file is begun where it differs.
    std::string maker;
    uint32_t elements = 1024;
    uint32_t group = 4;
  };

  /// Opens a file, or begins it.
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

  /// Reads the latent of one scene of a group that is there.
  /// @pre into.size() == elements
  /// Errors: ec::io_failed; ec::not_found where its group was never written.
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
