// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/stage.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::planning {

/// Returns the predicted duration of an order: as the profile measured the
/// stage, otherwise as the stage itself predicts.
/// @param px the size of the request's image
inline core::timespan time_of(const any_stage& stage,
                              const core::typed_body& order,
                              const profile& costs, core::extent px) {
  const auto measured = stage_time(costs, stage.row().name, px);
  return measured ? *measured : stage.takes(order, costs);
}

/// Returns the longer one of both, for which a worker is not suspected.
inline core::timespan longest_time_of(const any_stage& stage,
                                      const core::typed_body& order,
                                      const profile& costs, core::extent px) {
  return std::max(time_of(stage, order, costs, px), stage.takes(order, costs));
}

/// Counts of slots by kind.
using slot_counts = std::array<uint32_t, ipc::slot_kinds>;

/// The stages of a request's path, in order. Immutable once it is built; the
/// index of a stage is its name between processes.
/// Threads: any that only read.
class pipeline {
public:
  /// Appends a stage, or inserts it after the one called `after`.
  /// Errors: ec::invalid_argument: it is null; its name is empty or in use, or
  /// no stage is called `after`; its hook does not allow this position, as
  /// hooks have an order; it runs on the devices before the route or after
  /// the answer; it runs steps outside of legs, or in addition to another stage
  /// that does.
  core::result<void> add(stage_ptr x, std::string_view after = {});

  size_t size() const;

  /// @pre i < size()
  const any_stage& at(size_t i) const;

  std::optional<size_t> find(std::string_view name) const;

  /// Returns the stage that runs a leg's steps on a device; size() if no
  /// stage does.
  size_t denoise() const;

  /// Returns names, versions and order as one line, with marks at stages that
  /// run only in the control process. Processes compare this line.
  std::string signature() const;

  /// Returns these stages under their numbers in a pipeline of that signature,
  /// for a process other than the control process: background stages are
  /// placeholders, whether or not they are known here.
  /// Errors: ec::incompatible: the others differ; the text has both.
  core::result<pipeline> numbered_as(std::string_view signature) const;

  // -- the slots of a request -------------------------------------------------

  /// A position of a request on its route: a leg, or legs.size() when only the
  /// answer remains; and a stage of the pipeline there.
  struct position {
    size_t leg = 0;
    size_t stage = 0;
  };

  /// Returns as what a slot counts that a stage uses. The image of an earlier
  /// leg stays when a stage replaces it before the steps of a later leg, and
  /// the new pixels stay until that leg ends: they count as a source that the
  /// stage writes.
  slot_use counted(slot_use x, position at) const;

  /// Returns the slots by kind that a stage waits for and is granted at once
  /// for a request. No stage waits for slots of captures or of files.
  slot_counts granted(const route& along, position at, bool brings_image) const;

  /// Returns the slots by kind that must stay free when a request is granted a
  /// stage's slots, so that advanced requests can always continue. For images:
  /// one for each image that it may still write, if it keeps all of them, and
  /// one more if it has yet to replace one; a stage that replaces an image
  /// leaves one less if it releases the old one (see counted). For states,
  /// which are released at the end of their leg: those of the rest of the leg,
  /// and those of a later leg in addition to the released ones. If a stage
  /// reads files, their slot counts as one of those that it leaves. The rule
  /// also holds for kinds that the stage does not take: requests with three
  /// legs and others deadlock if a leg is prepared, which takes a state,
  /// without leaving the images that it needs next (schedule_search.hpp,
  /// search_rules::kinds_apart).
  slot_counts reserve(const route& along, position at, bool brings_image) const;

  /// Returns the minimum slots by kind with which a request can run at all.
  slot_counts least(const route& along, bool brings_image) const;

private:
  std::vector<stage_ptr> stages_;
  size_t denoise_ = 0;
};

} // namespace atelier::planning
