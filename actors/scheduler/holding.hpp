// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/ipc/slot_ref.hpp>
#include <atelier/planning/stage.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace atelier::actors {

/// The slots that a request holds between its orders, by name. Others read it;
/// only `slots` changes it.
/// Threads: one at a time.
class holding {
public:
  /// Returns the slot of something that the request holds; an invalid one if it
  /// holds none. Pixels are those that its leg starts from, or the newest
  /// image.
  ipc::slot_ref operator[](planning::held name) const;

  /// Returns the states that are kept for later requests.
  const std::vector<ipc::slot_ref>& captures() const {
    return captures_;
  }

  /// Returns the number of states of this leg for which there was no slot.
  size_t left_out() const {
    return left_out_.size();
  }

  /// Returns the number of steps in the state.
  uint32_t steps() const {
    return steps_;
  }

  /// Whether it holds pixels that no leg of it drew: those of earlier work, or
  /// what a stage made of an image for its leg to start from.
  bool found() const {
    return static_cast<bool>(found_);
  }

  /// Returns the size that a stage gave the pixels; empty if none did.
  core::extent px() const {
    return found_ ? found_px_ : image_px_;
  }

  /// Whether it holds any slot but captures.
  bool any() const {
    return state_ || source_ || found_ || image_ || encoded_;
  }

private:
  friend class slots;

  /// The state to continue from: the noise, or the newest published state.
  ipc::slot_ref state_;
  uint32_t steps_ = 0;
  /// The image, and mask, that its leg starts from.
  ipc::slot_ref source_;
  /// Pixels of earlier work that it starts from, or that answer it; or what a
  /// stage made of them, or of the newest image.
  ipc::slot_ref found_;
  core::extent found_px_;
  bool redrawn_ = false;
  /// Pixels of the newest image. Older ones stay until the request ends.
  ipc::slot_ref image_;
  core::extent image_px_;
  ipc::slot_ref encoded_;
  std::vector<ipc::slot_ref> captures_;
  /// Numbers of steps of this leg whose states have no slot: those that its
  /// last order left out, and those that it passed before.
  std::vector<uint32_t> left_out_;
};

} // namespace atelier::actors
