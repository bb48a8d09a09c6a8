// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/ipc/slot_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::ipc {

/// Holds the bytes of slots: in the arena when live, on the heap in simulation
/// (possibly without any payload).
///
/// Every call that returns a result checks the reference's arena, kind, index
/// and generation. For a stale reference it returns ec::incompatible, and reads
/// and writes nothing.
/// Threads: any; for one slot, only its grantee writes.
class slot_store {
public:
  virtual ~slot_store() = default;

  /// Returns the size of one buffer of a slot of `kind` in bytes; 0 in a store
  /// without payload.
  virtual size_t capacity(slot_kind kind) const = 0;

  /// Makes a slot ready for a new grantee: first nothing is published, then the
  /// slot has the generation of `slot`. Only the keeper's owner calls it, at a
  /// grant.
  virtual void open(const slot_ref& slot) = 0;

  /// Returns the buffer that the grantee may fill, which is not the published
  /// one. Errors: ec::incompatible if a slot that is written once was written.
  virtual core::result<std::span<std::byte>> buffer(const slot_ref& slot) = 0;

  /// Publishes the first `bytes` of the filled buffer as publication `seq`. For
  /// a state slot `seq` is the number of completed steps + 1, and a checksum is
  /// published with the bytes. For the other kinds it is 1, and they are
  /// published once.
  /// Errors: ec::incompatible if seq does not rise, as in memory that another
  ///         process has overwritten; ec::invalid_argument if bytes > capacity.
  virtual core::result<void> publish(const slot_ref& slot, uint64_t seq,
                                     size_t bytes) = 0;

  /// Returns the last published seq; 0 if nothing is published.
  virtual core::result<uint64_t> published(const slot_ref& slot) const = 0;

  /// Copies the published buffer into `into` (resized) and returns its seq.
  /// Accepts a copy only if nothing was published meanwhile and, for a state
  /// slot, its checksum is right. Makes a few attempts.
  /// Errors: ec::not_found if nothing is published; ec::io_failed if the bytes
  ///         are torn.
  virtual core::result<uint64_t> read(const slot_ref& slot,
                                      std::vector<std::byte>& into) const = 0;

  /// Returns, in place, the published bytes of a slot that is written once.
  /// They are valid while the caller holds a read grant.
  virtual core::result<std::span<const std::byte>> view(
    const slot_ref& slot) const = 0;
};

} // namespace atelier::ipc
