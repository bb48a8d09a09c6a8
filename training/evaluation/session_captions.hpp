// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/caption.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// How a caption differs from the one before it in its session.
enum class session_change : uint8_t {
  /// The first caption of a session.
  first,
  /// The same description in other words.
  reworded,
  /// One thing is described otherwise: an object's shape, colour, size, texture
  /// or place, a relation, or the background.
  one,
  /// Two things are described otherwise.
  two,
};

std::string_view to_string(session_change x);

/// A caption that a user asks for.
struct session_caption {
  caption said;
  uint64_t session = 0;
  session_change change = session_change::first;
  /// The seed of the image's noise, at most 2^32 - 1. A user keeps it for the
  /// whole session.
  uint64_t seed = 0;
};

/// Draws captions in the order in which eight users ask for them. Each user
/// begins a session with the caption of a held-out scene of one to three
/// objects, repeats it nearly, four captions on average, and begins the next
/// session. The first captions are the same however many are drawn.
/// Threads: any.
std::vector<session_caption> draw_sessions(uint64_t seed, size_t count);

} // namespace atelier::gpu
