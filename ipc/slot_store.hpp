// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/ipc/slot_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::ipc {

/// Where slots' bytes are: the arena when live, the heap in simulation (then
/// perhaps without any payload).
///
/// Every call checks the reference's arena, kind, index and generation and
/// answers ec::incompatible for a stale one; nothing is read or written then.
/// Threads: any; for one slot, only its grantee writes.
class slot_store {
public:
  virtual ~slot_store() = default;

  /// Returns the bytes that one buffer of a slot of `kind` holds; 0 in a store
  /// without payload.
  virtual size_t capacity(slot_kind kind) const = 0;

  /// Makes a slot ready for a new grantee: nothing published, then the
  /// generation of `slot`. Called by the keeper's owner alone, at a grant.
  virtual void open(const slot_ref& slot) = 0;

  /// Returns the buffer that the grantee may fill: the one not published.
  virtual core::result<std::span<std::byte>> buffer(const slot_ref& slot) = 0;

  /// Publishes the first `bytes` of the filled buffer as publication `seq`. For
  /// a state slot `seq` is the count of steps done + 1, and their checksum goes
  /// with the bytes; for the other kinds it is 1, once.
  /// Errors: ec::invalid_argument where seq does not rise or bytes > capacity.
  virtual core::result<void> publish(const slot_ref& slot, uint64_t seq,
                                     size_t bytes) = 0;

  /// Returns the last published seq, 0 where there is none.
  virtual core::result<uint64_t> published(const slot_ref& slot) const = 0;

  /// Copies the published buffer into `into` (resized) and returns its seq.
  /// A copy is accepted only if nothing was published meanwhile and, of a state
  /// slot, its checksum holds; a few attempts are made.
  /// Errors: ec::not_found where nothing is published; ec::io_failed where the
  ///         bytes are torn.
  virtual core::result<uint64_t> read(const slot_ref& slot,
                                      std::vector<std::byte>& into) const = 0;

  /// Returns the published bytes of a slot that is written once, in place.
  /// Valid while the caller holds a read grant.
  virtual core::result<std::span<const std::byte>> view(
    const slot_ref& slot) const = 0;
};

} // namespace atelier::ipc
