// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/scene.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace atelier::gpu {

/// The number of first scenes that tell how scenes are drawn.
inline constexpr uint64_t digested_scenes = 64;

/// Returns a digest of images and captions, as 16 hexadecimal digits. A file of
/// results for numbered scenes keeps that of its first scenes: if another
/// program draws another scene or caption by the same number, the digest
/// differs, and the results belong to none of its scenes.
/// Threads: any.
std::string scene_digest(std::span<const scene> scenes,
                         std::span<const std::string> captions);

} // namespace atelier::gpu
