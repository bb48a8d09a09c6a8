// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/gpu/captions/description.hpp>
#include <atelier/gpu/captions/sample_captions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace atelier::gpu {

namespace {

/// How a caption of the second set differs from one of the first.
struct variation {
  /// The number of statements that are changed.
  size_t changes = 0;
  /// Two objects change places, so that all words stay.
  bool exchanges = false;
  bool is_another_scene = false;
};

/// Captions of the second set, in turn.
constexpr std::array<variation, 6> variations{
  {{}, {0, true}, {1}, {2}, {4}, {0, false, true}}};

/// The statements about one object.
constexpr size_t statements = 5;

template <class T>
T drawn(core::philox& from, size_t count) {
  return static_cast<T>(from.below(count));
}

/// Draws another value than `old`.
template <class T>
T another(core::philox& from, T old, size_t count) {
  const auto step = 1 + from.below(count - 1);
  return static_cast<T>((static_cast<size_t>(old) + step) % count);
}

/// Draws a place, other than its present one, that neither holds another object
/// nor lies beside one: the models draw such scenes only.
grid_place free_place(const description& of, const described_object* moved,
                      core::philox& from) {
  for (;;) {
    const auto place = drawn<grid_place>(from, place_count);
    const bool is_free =
      std::ranges::none_of(of.objects, [&](const described_object& x) {
        return x.place == place
            || (&x != moved && share_a_side(*x.place, place));
      });
    if (is_free)
      return place;
  }
}

bool stands_out(object_colour colour, background_colour ground) {
  return to_string(colour) != to_string(ground);
}

object_colour visible_colour(background_colour ground, core::philox& from) {
  for (;;)
    if (const auto colour = drawn<object_colour>(from, colour_count);
        stands_out(colour, ground))
      return colour;
}

description draw_description(core::philox& from) {
  description out;
  const auto ground = drawn<background_colour>(from, background_colour_count);
  out.background = described_background{ground, ground};
  const auto objects = 1 + from.below(most_objects);
  for (uint64_t i = 0; i < objects; ++i) {
    described_object x;
    x.shape = drawn<object_shape>(from, shape_count);
    x.colour = visible_colour(ground, from);
    x.size = drawn<object_size>(from, size_count);
    x.texture = drawn<object_texture>(from, texture_count);
    x.place = free_place(out, nullptr, from);
    out.objects.push_back(x);
  }
  return out;
}

/// Changes one statement: of an object, or as the last one the background.
void change(description& of, size_t statement, core::philox& from) {
  auto& ground = *of.background;
  if (statement == of.objects.size() * statements) {
    ground.from = another(from, ground.from, background_colour_count);
    ground.to = ground.from;
    for (auto& x : of.objects)
      if (!stands_out(*x.colour, ground.from))
        x.colour = visible_colour(ground.from, from);
    return;
  }
  auto& x = of.objects[statement / statements];
  switch (statement % statements) {
    case 0:
      x.shape = another(from, x.shape, shape_count);
      return;
    case 1:
      for (const auto old = *x.colour; x.colour == old;)
        x.colour = visible_colour(ground.from, from);
      return;
    case 2:
      x.size = another(from, *x.size, size_count);
      return;
    case 3:
      x.texture = another(from, *x.texture, texture_count);
      return;
    default:
      x.place = free_place(of, &x, from);
  }
}

/// Changes so many different statements.
description changed(description of, size_t count, core::philox& from) {
  std::vector<size_t> left(of.objects.size() * statements + 1);
  for (size_t i = 0; i < left.size(); ++i)
    left[i] = i;
  for (; count > 0 && !left.empty(); --count) {
    const auto chosen = from.below(left.size());
    change(of, left[chosen], from);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return of;
}

/// Lets two objects change places, or changes a statement of a single one.
description exchanged(description of, core::philox& from) {
  if (of.objects.size() < 2)
    return changed(std::move(of), 1, from);
  std::swap(of.objects[0].place, of.objects[1].place);
  return of;
}

std::string caption_of(const description& says) {
  std::string out;
  for (const auto& x : says.objects) {
    out += out.empty() ? "a" : " and a";
    out += fmt::format(" {}", to_string(*x.size));
    if (x.texture != object_texture::plain)
      out += fmt::format(" {}", to_string(*x.texture));
    out += fmt::format(" {} {} at the {}", to_string(*x.colour),
                       to_string(x.shape), to_string(*x.place));
  }
  return out
       + fmt::format(" on a {} background", to_string(says.background->from));
}

} // namespace

sample_captions draw_sample_captions(uint64_t seed, size_t first,
                                     size_t second) {
  core::philox from{seed, core::purpose::sampling};
  std::vector<description> drawn_first;
  sample_captions out;
  for (size_t i = 0; i < first; ++i) {
    drawn_first.push_back(draw_description(from));
    out.first.push_back(caption_of(drawn_first.back()));
  }
  for (size_t i = 0; i < second; ++i) {
    const auto& how = variations[i % variations.size()];
    const auto& near =
      drawn_first[(i / variations.size()) % drawn_first.size()];
    out.second.push_back(
      caption_of(how.is_another_scene ? draw_description(from)
                 : how.exchanges      ? exchanged(near, from)
                                      : changed(near, how.changes, from)));
  }
  return out;
}

} // namespace atelier::gpu
