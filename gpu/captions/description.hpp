// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/captions/scene_terms.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace atelier::gpu {

/// The description of one object; unspecified properties are empty.
struct described_object {
  object_shape shape = object_shape::circle;
  std::optional<object_colour> colour;
  std::optional<object_size> size;
  std::optional<object_texture> texture;
  std::optional<grid_place> place;

  friend bool operator==(const described_object&,
                         const described_object&) = default;
};

/// A relation between objects of a description, by their indices from 0.
struct described_relation {
  relation kind = relation::above;
  uint8_t subject = 0;
  uint8_t first = 0;
  /// Used only by relation::between; otherwise equal to `first`.
  uint8_t second = 0;

  friend bool operator==(const described_relation&,
                         const described_relation&) = default;
};

/// The description of the background.
struct described_background {
  background_colour from = background_colour::white;
  /// Equal to `from` if the background is plain.
  background_colour to = background_colour::white;
  /// Empty if the background is graded in an unspecified direction.
  std::optional<background_grade> grade = background_grade::plain;

  friend bool operator==(const described_background&,
                         const described_background&) = default;
};

/// Everything that a caption specifies, in the caption's order: the
/// requirements that an image of it must meet.
struct description {
  std::vector<described_object> objects;
  std::vector<described_relation> relations;
  std::optional<described_background> background;

  friend bool operator==(const description&, const description&) = default;
};

} // namespace atelier::gpu
