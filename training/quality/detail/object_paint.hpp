// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/quality/detail/lab_image.hpp>
#include <atelier/training/quality/detail/segments.hpp>
#include <atelier/training/scene.hpp>

namespace atelier::gpu::detail {

struct paint {
  object_colour colour = object_colour::red;
  /// Mean distance of the pixels from the colour; with stripes or dots, from
  /// the line between the object's colour and its pattern's.
  float distance = 0;
  object_texture texture = object_texture::plain;
};

/// Finds the colour and the texture of an object from its inner pixels.
/// @pre `core` is not empty
paint paint_of(const segment& core, const planes& lab_image);

} // namespace atelier::gpu::detail
