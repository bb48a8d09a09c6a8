// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the stages of random schedules say of the size of the pixels that they
// write, and what they make of pixels.

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/planning/pipeline.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace atelier::test {

/// The size that a stage gives the pixels of one request.
enum class resizing : uint8_t {
  none,
  /// One column more, if a slot holds it.
  wider,
  /// The same for every image: a small one, or all that a slot holds.
  fixed,
  largest,
  /// One pixel more than a slot holds.
  exceeding,
  /// One side is 0.
  empty,
  /// The number of bytes exceeds 64 bits, whose rest is few.
  overflowing,
  /// The function that says it throws.
  throws,
};

/// Returns a number that differs between the stages of random schedules.
inline uint64_t number_of(std::string_view stage) {
  return static_cast<unsigned char>(stage[1]);
}

/// Returns whether an image slot of so many bytes holds an image; slots that
/// keep no bytes hold every one.
inline bool holds(uint64_t slot_bytes, core::extent px) {
  using wide = unsigned __int128;
  return slot_bytes == 0 || wide{3} * px.width * px.height <= wide{slot_bytes};
}

/// How stages change sizes, for each stage and request.
class random_sizes {
public:
  /// @param any some stages change sizes
  /// @param slot_bytes the bytes of an image slot; 0: slots keep none
  random_sizes(bool any, uint64_t slot_bytes)
    : any_(any), slot_bytes_(slot_bytes) {}

  /// Notes the stages that move a request, and whether they replace pixels. A
  /// size that one of the others says is about nothing.
  void note(const planning::pipeline& stages) {
    using planning::hook;
    for (size_t i = 0; i < stages.size(); ++i) {
      const auto& row = stages.at(i).row();
      if (row.hook == hook::each_leg || row.hook == hook::before_answer)
        replaces_[row.name] =
          std::any_of(row.slots.begin(), row.slots.end(), [](const auto& x) {
            return x.name == planning::held::pixels
                && x.mode == planning::access::replaces;
          });
    }
  }

  uint64_t slot_bytes() const {
    return slot_bytes_;
  }

  resizing of(std::string_view stage, core::request_id id) const {
    using enum resizing;
    constexpr std::array all{none,  wider,       fixed,     wider,
                             none,  largest,     exceeding, wider,
                             empty, overflowing, throws};
    const auto i = replaces_.find(stage);
    if (!any_ || i == replaces_.end())
      return none;
    const auto how = all[(id.value * 3 + number_of(stage)) % all.size()];
    return i->second || how == fixed || how == largest ? how : none;
  }

  /// Returns the code by which a stage fails before it runs; none if what it
  /// says is possible.
  core::ec refusal(std::string_view stage, core::request_id id) const {
    switch (of(stage, id)) {
      case resizing::throws:
        return core::ec::internal;
      case resizing::empty:
        return core::ec::invalid_argument;
      case resizing::exceeding:
      case resizing::overflowing:
        return slot_bytes_ == 0 ? core::ec::none : core::ec::invalid_argument;
      default:
        return core::ec::none;
    }
  }

  /// Returns the size that a stage says; empty: that of the pixels before.
  core::extent said(std::string_view stage, core::request_id id,
                    core::extent before) const {
    const auto most =
      static_cast<uint32_t>(slot_bytes_ == 0 ? 1'000 : slot_bytes_ / 3);
    switch (of(stage, id)) {
      case resizing::wider: {
        const core::extent more{before.width + 1, before.height};
        return before.pixels() != 0 && holds(slot_bytes_, more) ? more : before;
      }
      case resizing::fixed:
        return {24, 30};
      case resizing::largest:
        return {most, 1};
      case resizing::exceeding:
        return {1, most + 1};
      case resizing::empty:
        return {0, 8};
      case resizing::overflowing:
        // Three bytes each are 2^64 + 32.
        return {3'649'452'082, 1'684'887'088};
      default:
        return {};
    }
  }

private:
  bool any_;
  uint64_t slot_bytes_;
  std::map<std::string_view, bool> replaces_;
};

/// Returns what a stage makes of pixels: each is the one at the same place,
/// with other bytes. Bytes that are missing count as 0.
inline std::vector<std::byte> redrawn(std::string_view stage,
                                      std::span<const std::byte> of,
                                      core::extent from, core::extent to) {
  std::vector<std::byte> out;
  out.reserve(gpu::drawn_bytes(to));
  const auto mark = static_cast<std::byte>(number_of(stage));
  for (uint64_t y = 0; y < to.height; ++y)
    for (uint64_t x = 0; x < to.width; ++x)
      for (uint64_t colour = 0; colour < 3; ++colour) {
        const auto at = 3
                        * (y * from.height / to.height * from.width
                           + x * from.width / to.width)
                      + colour;
        out.push_back((at < of.size() ? of[at] : std::byte{0}) ^ mark);
      }
  return out;
}

} // namespace atelier::test
