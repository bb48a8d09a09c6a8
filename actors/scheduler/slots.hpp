// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/holding.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/gpu/device/state_capture.hpp>
#include <atelier/ipc/keeper.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/pipeline.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace atelier::actors {

using planning::slot_counts;

/// The slots of one dispatch, from the grant to the worker's reply or its
/// process's end, whatever happens to the request meanwhile.
struct held_slots {
  /// The worker writes them, by the dispatch's ticket.
  planning::slot_set granted;
  /// The worker reads them, by this ticket.
  planning::slot_set reading;
  /// The files that it reads exist only for this dispatch.
  bool reads_files = false;
  /// The new state slot holds a publication, so the slot that is read is not
  /// needed.
  bool published = false;
};

/// Tracks who holds each slot: the keeper, the store, and the slots of each
/// dispatch, and what requests hold. This part of the scheduler knows requests
/// by their numbers and processes by their lives; it has no row, no worker and
/// no queue.
///
/// Invariants (see check): the keeper's invariants hold, and a slot that a
/// dispatch was granted is granted or quarantined while the dispatch lasts.
/// Threads: one at a time.
class slots {
public:
  slots(uint32_t arena, slot_counts counts,
        std::shared_ptr<ipc::slot_store> store);

  // -- slots that must stay free ----------------------------------------------

  /// Returns the slots, by kind, that a tenant with requests in this phase
  /// leaves to tenants without.
  /// @param active the number of active tenants without
  slot_counts left_for_others(core::phase at, size_t active) const;

  /// Notes that a request waits for this many free image slots. It waits until
  /// it is granted slots or ends. Nothing is noted while another request waits,
  /// nor after one until half as many drawings began as there are image slots.
  void wait_for_images(core::request_id request, uint32_t images);

  /// Returns the image slots that a drawing leaves to the request that waits.
  /// Many drawings that need one slot each would otherwise take every freed
  /// slot, and a request that needs several at once would wait for the last of
  /// them.
  uint32_t images_left_for_waiting() const;

  /// Returns whether as many drawings began since a request waits as there are
  /// image slots.
  bool waits_long() const;

  /// Returns the request that waits, if one does.
  std::optional<core::request_id> waiting_for_images() const;

  /// Notes that a drawing begins.
  void drawing_begins();

  /// Returns why a request that brings an image could wait for slots forever.
  std::optional<core::error> too_few_for_source() const;

  /// Returns why a request on a route that takes at least `least` slots could
  /// wait forever.
  std::optional<core::error> too_few_for(std::string_view route,
                                         const slot_counts& least) const;

  // -- dispatches -------------------------------------------------------------

  /// Grants a dispatch one slot for each name. Grants none and returns null if
  /// one is not available or fewer than `reserve` would stay free.
  /// @pre the dispatch holds none
  const held_slots* grant(core::ticket dispatch, ipc::process_life writer,
                          std::span<const planning::held> names,
                          const slot_counts& reserve);

  const held_slots* grant(core::ticket dispatch, ipc::process_life writer,
                          std::initializer_list<planning::held> names,
                          const slot_counts& reserve) {
    return grant(dispatch, writer, std::span(names.begin(), names.size()),
                 reserve);
  }

  /// Does the same, and puts the files into another image slot for the dispatch
  /// to read; that slot is one of those that would stay free.
  /// @pre `reserve` leaves one image slot or more
  const held_slots* grant_with_files(core::ticket dispatch,
                                     ipc::process_life writer,
                                     std::span<const planning::held> names,
                                     const core::source_images& files,
                                     slot_counts reserve);

  /// Grants a dispatch slots for the states after these numbers of steps, which
  /// are kept for later requests. If slots are short, the last states get them,
  /// since these save most; the holding notes the others. Returns the states
  /// that have a slot.
  /// @pre slots were granted to it; `wanted` rises
  std::vector<gpu::state_capture> grant_captures(
    holding& of, core::ticket dispatch, ipc::process_life writer,
    std::span<const uint32_t> wanted);

  /// Lets a dispatch also read a slot until its end, or, for a state, until its
  /// publication.
  void read(core::ticket dispatch, ipc::process_life reader,
            planning::held name, const ipc::slot_ref& slot);

  /// Lets a dispatch that is granted nothing read these until its end.
  /// @pre the dispatch holds none
  const held_slots* read_alone(core::ticket dispatch, ipc::process_life reader,
                               const planning::slot_set& what);

  /// Notes that a dispatch published a state: the slot it began with is freed.
  void published(core::ticket dispatch);

  /// Ends a dispatch by its worker's reply; its slots then belong only to its
  /// request.
  /// @pre slots were granted to it
  held_slots conclude(core::ticket dispatch);

  /// Ends a dispatch whose process is gone: `lost` handled the slots.
  /// @pre slots were granted to it
  held_slots orphan(core::ticket dispatch);

  /// Frees the slots of an ended dispatch, which are no longer needed.
  void discard(const held_slots& what);

  /// @pre slots were granted to it
  const held_slots& of(core::ticket dispatch) const;

  /// Returns the number of dispatches that hold slots.
  size_t dispatches() const;

  // -- what requests hold -----------------------------------------------------

  /// The request's state counts as one after `steps` steps: its device begins
  /// with earlier work of so many.
  static void begin_with(holding& of, uint32_t steps);

  /// Keeps what a stage wrote in the phase `at` for its request; what it
  /// replaced, and the files that it read, are freed. Fails, and changes
  /// nothing, if the stage left a slot empty that it was to write, or a state
  /// with more than `most_steps` steps.
  /// @param px the size that the stage gave the pixels; empty: that of those
  ///        that it replaced
  core::result<void> keep(holding& of, const held_slots& wrote, core::phase at,
                          std::string_view stage, uint32_t most_steps,
                          core::extent px = {});

  /// What became of the state of a denoising order that ended without its
  /// result.
  struct resumption {
    /// The steps of the state that it published, from which the request
    /// continues; 0 if it published none.
    uint32_t steps = 0;
    bool holds = false;
    /// The request has no state left that it could begin with.
    bool lost = false;
  };

  /// Keeps the state and the captures that a denoising order published. A
  /// worker that died may have written anything: a state that cannot be true of
  /// the leg is no publication.
  /// @param unreadable its worker could not read the state that it began with
  resumption resume(holding& of, const held_slots& wrote, uint32_t most_steps,
                    bool unreadable);

  /// A device ended a leg, with an image or without one: the request keeps the
  /// image and the captures, and no state, source or found pixels.
  void end_leg(holding& of, const held_slots& wrote, bool with_image);

  /// Frees what a leg began with: it begins, or begins anew. Pixels of earlier
  /// work stay if no stage of the leg replaced them.
  void begin_leg(holding& of);

  /// Frees state, source and found pixels.
  void drop_start(holding& of);

  void drop_source(holding& of);
  void drop_found(holding& of);
  void drop_captures(holding& of);

  /// Makes the pixels of earlier work the request's image.
  /// @pre it holds some
  void take_found(holding& of);

  /// The request ended: all its slots are freed.
  void end(core::request_id request);

  /// The request ended with an image, which stays until the client took it.
  void answer(core::request_id request, const holding& of);
  void taken(core::request_id request, const holding& of);

  // -- processes --------------------------------------------------------------

  void suspect(ipc::process_life who);

  /// @param confirmed it is certainly dead
  void lost(ipc::process_life who, bool confirmed);

  // -- inspection -------------------------------------------------------------

  uint32_t free(ipc::slot_kind kind) const;
  uint32_t all() const;
  uint32_t in_use() const;
  bool holds(const ipc::slot_ref& slot) const;
  const ipc::keeper& keeper() const;

  /// Returns the first invariant that does not hold; empty if all hold.
  std::string check() const;

private:
  void waits_no_more(core::request_id request);
  uint32_t images_count() const;
  void drop(const ipc::slot_ref& slot);
  void drop_and_forget(ipc::slot_ref& slot);
  void keep_captures(holding& of, const held_slots& wrote);
  core::result<uint64_t> last_published(const ipc::slot_ref& slot) const;
  std::optional<ipc::granted_slots> open(core::ticket dispatch,
                                         ipc::process_life writer,
                                         std::span<const ipc::slot_kind> kinds,
                                         const slot_counts& reserve);

  slot_counts counts_;
  std::shared_ptr<ipc::slot_store> store_;
  ipc::keeper keeper_;
  std::unordered_map<core::ticket, held_slots> held_;
  /// The request that waits for image slots, and how many.
  std::optional<core::request_id> waiting_;
  uint32_t images_ = 0;
  /// Drawings that began since another request waited.
  uint32_t begun_;
};

} // namespace atelier::actors
