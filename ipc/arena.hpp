// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/result.hpp>
#include <atelier/ipc/ring.hpp>
#include <atelier/ipc/slot_ref.hpp>
#include <atelier/ipc/slot_store.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace atelier::ipc {

/// The sizes of an arena, which never change.
struct arena_sizes {
  /// Number of slots by kind, indexed by slot_kind.
  std::array<uint32_t, slot_kinds> slots = {};
  /// Payload bytes of one buffer by kind; multiples of 64.
  std::array<uint64_t, slot_kinds> slot_bytes = {};
  /// Entries of the process table, including the control process.
  uint32_t processes = 1;
  /// Bytes of each direction of each pair of rings; a power of two.
  uint64_t ring_bytes = 1ull << 20;

  friend bool operator==(const arena_sizes&, const arena_sizes&) = default;
};

/// One entry of the arena's process table.
struct process_entry {
  int32_t pid = 0;
  /// Field 22 of /proc/PID/stat, which distinguishes a process from a later one
  /// with the same pid.
  uint64_t start_time = 0;
  core::incarnation life;
};

/// Returns the start time of process `pid`; 0 if the process does not exist or
/// is a zombie.
uint64_t start_time_of(int32_t pid);

/// Maps an arena: slots, rings, process table. It is the base class of owner
/// and view.
///
/// A pair of rings joins the control process with each other process. Process i
/// reads its `inbound` ring, which control writes, and writes its `outbound`
/// ring.
class arena : public slot_store {
public:
  ~arena() override;

  const arena_sizes& sizes() const;
  core::epoch host_epoch() const;
  /// Returns the epoch as slot references carry it.
  uint32_t id() const;
  /// Returns the name of the shared object; empty for a private one.
  const std::string& name() const;

  /// Return a ring of a process; null for the control process, an unknown
  /// process, or a ring whose capacity was overwritten.
  ring_memory* inbound(core::process_id process);
  ring_memory* outbound(core::process_id process);
  process_entry process(core::process_id process) const;

  size_t capacity(slot_kind kind) const override;
  void open(const slot_ref& slot) override;
  core::result<std::span<std::byte>> buffer(const slot_ref& slot) override;
  core::result<void> publish(const slot_ref& slot, uint64_t seq,
                             size_t bytes) override;
  core::result<uint64_t> published(const slot_ref& slot) const override;
  core::result<uint64_t> read(const slot_ref& slot,
                              std::vector<std::byte>& into) const override;
  core::result<std::span<const std::byte>> view(
    const slot_ref& slot) const override;

protected:
  struct impl;
  explicit arena(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

/// Makes an arena and removes it when destroyed.
class arena_owner : public arena {
public:
  /// Makes a shared object, 0600, named "atelier-<uid>-<pid>-<n>", and locks it
  /// for the owner's life. First removes the objects of dead owners of this
  /// user, after waiting at most `patience` until the processes in their tables
  /// are gone (they die with their parent). The new epoch is the highest of the
  /// removed and of the live objects, plus one.
  /// Errors: ec::bad_config (sizes), ec::out_of_resources (memory: the pages
  ///         are reserved at once, so that no later write can fail),
  ///         ec::io_failed.
  static core::result<std::unique_ptr<arena_owner>> make_shared_memory(
    const arena_sizes& sizes, core::timespan patience);

  /// Makes an arena in private memory, for a single process.
  static core::result<std::unique_ptr<arena_owner>> make_private(
    const arena_sizes& sizes);

  /// Clears both rings of a process for its next life and enters that life.
  /// @pre the exit of the life before is confirmed
  void begin_life(core::process_id process, core::incarnation life);

  /// Enters the pid of the started process.
  void set_process(core::process_id process, const process_entry& entry);

  ~arena_owner() override;

private:
  explicit arena_owner(std::unique_ptr<impl> x);
};

/// Opens an arena that another process made; never unlinks it.
class arena_view : public arena {
public:
  /// Errors: ec::not_found, ec::incompatible (magic, layout version, build id,
  ///         size).
  static core::result<std::unique_ptr<arena_view>> open_shared_memory(
    const std::string& name);

private:
  explicit arena_view(std::unique_ptr<impl> x);
};

/// Removes the objects that dead owners of this user left. Returns their names.
core::result<std::vector<std::string>> remove_stale(core::timespan patience);

} // namespace atelier::ipc
