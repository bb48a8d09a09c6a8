// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/evaluation/session_captions.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/wrong_caption.hpp>

#include <array>
#include <utility>

namespace atelier::gpu {

namespace {

constexpr size_t users = 8;

/// The share of captions after which their session continues.
constexpr double goes_on = 0.75;

/// Shares of the near repeats; the others change two things.
constexpr double share_reworded = 0.4;
constexpr double share_one = 0.4;

constexpr size_t draws_for_each = 40;

/// Numbers of streams; `evaluate` uses the lower ones.
constexpr uint64_t first_stream = uint64_t{32} << 32;

/// Returns whether an image can show everything that is said: objects stand out
/// from the background, and no two of them have the same place.
bool can_be_shown(const description& x) {
  for (size_t i = 0; i < x.objects.size(); ++i) {
    const auto& one = x.objects[i];
    if (one.colour && x.background
        && (to_string(*one.colour) == to_string(x.background->from)
            || to_string(*one.colour) == to_string(x.background->to)))
      return false;
    for (size_t j = 0; j < i; ++j)
      if (one.place && one.place == x.objects[j].place)
        return false;
  }
  return true;
}

/// Returns a description with that many things changed; nothing that can be
/// shown found: the same description.
description changed(const description& said, size_t changes,
                    core::philox& from) {
  for (size_t i = 0; i < draws_for_each; ++i)
    if (auto x = change_description(said, changes, from);
        x != said && can_be_shown(x))
      return x;
  return said;
}

session_change draw_change(core::philox& from) {
  const auto at = from.uniform();
  return at < share_reworded             ? session_change::reworded
       : at < share_reworded + share_one ? session_change::one
                                         : session_change::two;
}

} // namespace

std::string_view to_string(session_change x) {
  switch (x) {
    case session_change::first:
      return "first";
    case session_change::reworded:
      return "reworded";
    case session_change::one:
      return "one";
    case session_change::two:
      break;
  }
  return "two";
}

std::vector<session_caption> draw_sessions(uint64_t seed, size_t count) {
  std::array<session_caption, users> last;
  std::array<bool, users> open{};
  std::vector<session_caption> out;
  uint64_t sessions = 0;
  for (size_t i = 0; i < count; ++i) {
    auto from = data_stream(seed, data_use::evaluation, first_stream + i);
    const auto user = from.below(users);
    auto& x = last[user];
    if (!open[user]) {
      x.session = sessions++;
      x.seed = from.next_u32();
      x.change = session_change::first;
      x.said = draw_caption(
        draw_scene(from, {static_cast<uint32_t>(1 + from.below(most_objects)),
                          scene_split::held_out}),
        from);
    } else {
      x.change = draw_change(from);
      if (x.change != session_change::reworded)
        x.said.says =
          changed(x.said.says, x.change == session_change::one ? 1 : 2, from);
      x.said.text = word(x.said.says, from);
    }
    open[user] = from.uniform() < goes_on;
    out.push_back(x);
  }
  return out;
}

} // namespace atelier::gpu
