// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/stage.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::planning {

/// Counts of slots by kind.
using slot_counts = std::array<uint32_t, ipc::slot_kinds>;

/// The stages of a request's path, in order. Immutable once it is built; the
/// index of a stage is its name between processes.
/// Threads: any that only read.
class pipeline {
public:
  /// Appends a stage, or puts it behind the one called `after`.
  /// Errors: ec::invalid_argument: it is null; its name is there already or
  ///         empty, or nobody is called `after`; it stands where its hook
  ///         cannot, as hooks come in their order; it runs on the devices
  ///         outside of legs, or beside another stage that does.
  core::result<void> add(stage_ptr x, std::string_view after = {});

  size_t size() const;

  /// @pre i < size()
  const any_stage& at(size_t i) const;

  std::optional<size_t> find(std::string_view name) const;

  /// Returns the stage that runs a leg's steps on a device; size() where there
  /// is none.
  size_t denoise() const;

  /// Returns names, versions and order as one line, with those marked that run
  /// in the control process alone: what processes compare.
  std::string signature() const;

  /// Returns these stages under the numbers that they have in a pipeline of
  /// that signature, for a process beside the control process: stages in the
  /// background stand there as place holders, known here or not.
  /// Errors: ec::incompatible: the others differ; the text has both.
  core::result<pipeline> numbered_as(std::string_view signature) const;

  // -- what a request takes ---------------------------------------------------

  /// Where on its route a request is: a leg, or legs.size() once all that is
  /// left is the answer; and a stage of the pipeline that runs there.
  struct position {
    size_t leg = 0;
    size_t stage = 0;
  };

  /// Returns the slots by kind that a stage is granted at once for a request,
  /// and waits for. No stage waits for slots of captures, or of files.
  slot_counts granted(const route& along, position at, bool brings_image) const;

  /// Returns the slots by kind that must stay free when a request is granted
  /// what a stage takes, so that what is further along can always go on. Of
  /// images, one for each thing that it may yet write, if it keeps all that it
  /// is given, and one more where it has yet to replace something; a stage that
  /// replaces an image leaves one less, since it gives back the old one. Of
  /// states, which go at the end of their leg, what the rest of the leg takes,
  /// and what a later leg takes beyond those that this one gives back. Where a
  /// stage reads files, their slot is one of those that it leaves.
  ///
  /// So many must be free of kinds too of which the stage takes none: requests
  /// with three legs and others wait for ever where a leg is prepared, which
  /// takes a state, without leaving the images that it needs next
  /// (schedule_search.hpp, search_rules::kinds_apart).
  slot_counts reserve(const route& along, position at, bool brings_image) const;

  /// Returns the fewest slots by kind with which a request can run at all.
  slot_counts least(const route& along, bool brings_image) const;

private:
  std::vector<stage_ptr> stages_;
  size_t denoise_ = 0;
};

} // namespace atelier::planning
