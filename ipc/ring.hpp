// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace atelier::ipc {

/// Identifies one life of a ring. Records of another life are not accepted.
struct ring_life {
  core::epoch host;
  core::incarnation life;
};

/// The bytes of one ring in shared memory. See layout.hpp.
struct ring_memory;

/// A ring, and how many bytes follow it: a power of two that its process knows
/// by itself, since the peer may write anywhere in shared memory.
struct ring_place {
  ring_memory* memory = nullptr;
  uint64_t capacity = 0;
};

/// The rings of one process other than the control process.
struct ring_pair {
  /// The control process writes it.
  ring_place inbound;
  /// The process writes it.
  ring_place outbound;
};

/// Writes records into one direction of a pair of rings. A record is: u32
/// length, u32 CRC-32C of all the rest, u32 epoch, u32 incarnation, payload,
/// padded to 8 bytes. The ring holds a record whole or not at all, at whatever
/// instruction its writer is killed.
///
/// Threads: one at a time.
class ring_writer {
public:
  ring_writer() = default;
  ring_writer(ring_place ring, ring_life life);

  /// Appends a record and wakes the reader. Returns false if it does not fit
  /// now.
  /// Errors: ec::invalid_argument if it could never fit.
  core::result<bool> push(std::span<const std::byte> payload);

  /// Appends a record as `push` does, but leaves the waking to a later `push`
  /// or `announce`. The record is safe in the ring, and its reader may continue
  /// to sleep.
  core::result<bool> push_quietly(std::span<const std::byte> payload);

  /// Wakes the reader if it sleeps.
  void announce();

  /// Wakes the reader, if it sleeps, for a record that will arrive soon. The
  /// reader looks for it for a moment before it sleeps again, so that the
  /// record's own wake-up costs nothing.
  void rouse();

  /// Waits at most `most` until the reader has made room. Returns false on
  /// time-out.
  bool wait_for_room(size_t payload_bytes, core::timespan most);

  /// Returns the largest payload that fits an empty ring.
  size_t largest() const;

private:
  bool fits(size_t payload_bytes) const;
  void copy_in(uint64_t at, std::span<const std::byte> from);

  ring_memory* ring_ = nullptr;
  uint64_t capacity_ = 0;
  ring_life life_;
};

/// Reads records from one direction of a pair of rings.
/// Threads: one at a time.
class ring_reader {
public:
  ring_reader() = default;
  ring_reader(ring_place ring, ring_life life);

  /// Copies the next record into `into`. Waits at most `most` for one, `spin`
  /// of it without sleeping. Returns false if none arrived. A record leaves the
  /// ring only when the copy is whole. Call this once more after the writer's
  /// death: a writer that is killed between writing a record and waking its
  /// reader leaves the record unannounced.
  /// Errors: ec::incompatible for a foreign epoch or incarnation, ec::io_failed
  ///         for a broken length or checksum; the ring is unusable afterwards.
  core::result<bool> pop(std::vector<std::byte>& into, core::timespan most,
                         core::timespan spin = {});

  /// Ends, from another thread, the current wait of `pop`, or otherwise its
  /// next wait.
  void interrupt();

  /// Wakes the reader as the writer's `rouse` does, from the reader's own
  /// process.
  void rouse();

private:
  bool waiting() const;
  bool wait(core::timespan most, core::timespan spin);
  void copy_out(uint64_t at, std::span<std::byte> into) const;

  ring_memory* ring_ = nullptr;
  uint64_t capacity_ = 0;
  ring_life life_;
  /// Not in shared memory: only this process sets it. A pointer, so that a
  /// reader can be moved.
  std::unique_ptr<std::atomic<bool>> interrupted_;
};

} // namespace atelier::ipc
