// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <cstdint>
#include <optional>

namespace atelier::runtime::cli {

/// Decides when a process should return to the system what its allocator keeps
/// of freed memory. The allocator itself returns only the ends of its heaps,
/// and one small block that lives long keeps all before it. Returning holds the
/// heaps for some milliseconds, so it waits until a time of work is over,
/// unless much could be returned. Threads: one at a time.
class freed_memory {
public:
  /// How long the process must have had no work.
  static constexpr core::timespan quiet_time = std::chrono::seconds{2};
  /// This change is worth it then, although no work was seen.
  static constexpr uint64_t quiet_change_bytes = 4ull << 20;
  /// This much is worth it beside work, after this pause since the last time.
  static constexpr uint64_t busy_growth_bytes = 64ull << 20;
  static constexpr core::timespan busy_pause = std::chrono::minutes{1};

  /// Returns whether it should happen now.
  /// @param resident_bytes the process's own memory, without files and shared
  ///        memory
  bool due(core::time_point now, uint64_t resident_bytes, bool has_work);

  /// It happened, and so much is left.
  void returned(core::time_point now, uint64_t resident_bytes);

private:
  /// The least that was ever seen.
  std::optional<uint64_t> least_bytes_;
  /// What was left the last time.
  uint64_t left_bytes_ = 0;
  /// Whether there was work since; the start is work.
  bool worked_ = true;
  std::optional<core::time_point> quiet_since_;
  std::optional<core::time_point> last_;
};

/// Returns the resident memory of this process without files and shared memory;
/// none if the system does not say.
std::optional<uint64_t> own_resident_bytes();

/// Returns freed memory of all heaps to the system. It blocks threads that
/// allocate meanwhile. Does nothing where the C library has no such call.
void return_freed_memory();

} // namespace atelier::runtime::cli
