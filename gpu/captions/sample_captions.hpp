// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace atelier::gpu {

/// Captions of scenes for measurements of likeness: of two sets, the second has
/// captions that repeat one of the first, say some things otherwise, or
/// describe another scene.
struct sample_captions {
  std::vector<std::string> first;
  std::vector<std::string> second;
};

/// Draws captions in plain words, of one to three objects and a background. In
/// every six captions of the second set, one repeats its caption of the first
/// set, one exchanges the places of two objects (or changes a statement of a
/// single one), three change one, two and four statements, and one describes
/// another scene.
/// Threads: any.
/// @pre first > 0
sample_captions draw_sample_captions(uint64_t seed, size_t first,
                                     size_t second);

} // namespace atelier::gpu
