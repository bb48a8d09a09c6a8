// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/ipc/keeper.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/route.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace atelier::actors {

/// Counts of slots by kind.
using slot_counts = std::array<uint32_t, ipc::slot_kinds>;

/// The slots of one dispatch, from the grant to the worker's reply or to its
/// process's end, whatever becomes of the request meanwhile.
struct held_slots {
  /// The worker writes them, by the dispatch's ticket.
  std::vector<ipc::slot_ref> granted;
  /// The worker reads it, by this ticket: files, a state, or pixels.
  ipc::slot_ref reading;
  /// `reading` holds files, for this dispatch alone.
  bool reads_files = false;
  /// The worker reads it likewise: the decoded source of a request that
  /// denoises.
  ipc::slot_ref source;
  /// The new state slot holds a publication, so `reading` is not needed.
  bool published = false;
};

/// Who holds which slot: the keeper, the store, and what dispatches were given.
/// A part of the scheduler that knows requests by their numbers and processes
/// by their lives: no row, no worker, no queue.
///
/// Invariants (see check): the keeper's; and a slot that a dispatch was granted
/// is granted or quarantined for as long as the dispatch lasts.
/// Threads: one at a time.
class slots {
public:
  slots(uint32_t arena, slot_counts counts,
        std::shared_ptr<ipc::slot_store> store);

  // -- what must stay free ----------------------------------------------------

  /// Returns the slots, by kind, that must stay free when a request is given
  /// what a phase of its leg takes, so that what is further along can always
  /// go on.
  /// @pre `leg` is one of the route's, unless `at` is finishing
  static slot_counts left_for_next(const planning::route& along, size_t leg,
                                   core::phase at, bool brings_image);

  /// Returns the slots, by kind, that a tenant which has requests in this phase
  /// leaves to those that have none.
  slot_counts left_for_others(core::phase at) const;

  /// Returns why a request that brings an image could wait for slots for ever.
  std::optional<core::error> too_few_for_source() const;

  /// Returns why a request on this route could wait for slots for ever.
  std::optional<core::error> too_few_for(const planning::route& along,
                                         bool brings_image) const;

  // -- dispatches -------------------------------------------------------------

  /// Grants a dispatch one slot for each of `kinds`, or none at all where one
  /// is missing or fewer than `reserve` would stay free; null then.
  /// @pre the dispatch holds none
  const held_slots* grant(core::ticket dispatch, ipc::process_life writer,
                          std::initializer_list<ipc::slot_kind> kinds,
                          const slot_counts& reserve);

  /// Grants a dispatch a state and an image, and puts the files into another
  /// image slot for it to read; or nothing, null then.
  /// @pre `reserve` leaves one image slot or more; the dispatch holds none
  const held_slots* grant_with_files(core::ticket dispatch,
                                     ipc::process_life writer,
                                     const core::source_images& files,
                                     slot_counts reserve);

  /// Lets a dispatch read a slot as well, until its end or its publication.
  void read(core::ticket dispatch, ipc::process_life reader,
            const ipc::slot_ref& slot);

  /// Lets a dispatch read its request's decoded source until its end.
  void read_source(core::ticket dispatch, ipc::process_life reader,
                   const ipc::slot_ref& slot);

  /// Notes that a dispatch published a state: what it began with goes.
  void published(core::ticket dispatch);

  /// Ends a dispatch by its worker's reply; its slots are nobody's but its
  /// request's from now on.
  /// @pre it was granted some
  held_slots conclude(core::ticket dispatch);

  /// Ends a dispatch whose process is gone: `lost` saw to the slots.
  /// @pre it was granted some
  held_slots orphan(core::ticket dispatch);

  /// Gives back what an ended dispatch was granted: nobody needs it.
  void discard(const held_slots& what);

  /// @pre it was granted some
  const held_slots& of(core::ticket dispatch) const;

  /// Returns the dispatches that hold slots.
  size_t dispatches() const;

  // -- requests ---------------------------------------------------------------

  /// Has the control process fill one slot for a request: it is done with the
  /// slot at once. Invalid where none is free or `fill` gives nothing.
  ipc::slot_ref fill(core::ticket dispatch, ipc::slot_kind kind,
                     const slot_counts& reserve,
                     const std::function<bool(const ipc::slot_ref&)>& fill);

  /// Gives back a slot that nobody needs any more.
  void drop(const ipc::slot_ref& slot);

  /// The request ended: all that it holds goes.
  void end(core::request_id request);

  /// The request ended with a picture: that stays until the client took it.
  void answer(core::request_id request, const ipc::slot_ref& encoded);
  void taken(core::request_id request, const ipc::slot_ref& encoded);

  /// Returns the last publication's number in a slot.
  core::result<uint64_t> last_published(const ipc::slot_ref& slot) const;

  // -- processes --------------------------------------------------------------

  void suspect(ipc::process_life who);

  /// @param confirmed it is dead for certain
  void lost(ipc::process_life who, bool confirmed);

  // -- looking ----------------------------------------------------------------

  uint32_t free(ipc::slot_kind kind) const;
  uint32_t all() const;
  uint32_t in_use() const;
  bool holds(const ipc::slot_ref& slot) const;
  const ipc::keeper& keeper() const;

  /// Returns the first invariant that does not hold; empty where all do.
  std::string check() const;

private:
  std::optional<std::vector<ipc::slot_ref>> open(
    core::ticket dispatch, ipc::process_life writer,
    std::span<const ipc::slot_kind> kinds, const slot_counts& reserve);

  slot_counts counts_;
  std::shared_ptr<ipc::slot_store> store_;
  ipc::keeper keeper_;
  std::unordered_map<core::ticket, held_slots> held_;
};

} // namespace atelier::actors
