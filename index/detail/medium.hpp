// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/index/detail/entry_row.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::index::detail {

/// What a medium read at a start.
struct loaded_medium {
  /// The highest number that an entry ever had.
  uint64_t last_number = 0;
  /// Entries that left because their payloads were not whole, and payloads that
  /// left because they had no entry.
  uint64_t torn = 0;
  uint64_t strays = 0;
  /// The vectors by which entries are found, by their numbers.
  std::map<uint64_t, std::vector<float>> vectors;
  /// Entries whose image is damaged.
  std::vector<uint64_t> damaged;
};

struct medium_state {
  uint64_t failed = 0;
  /// Whether failures stop its reads, or its changes, for a while.
  bool reads_left_out = false;
  bool writes_left_out = false;
};

/// Keeps, reads and removes the payloads of a cache, which knows who finds what
/// and what leaves. The defaults are those of memory, which needs no rows and
/// forgets a payload with the last `part_row` that holds it.
///
/// Threads: `overhead`, `is_lasting`, `read` and `state` any; the others one at
///          a time. None needs a lock of the cache, and only `read` and the
///          others may wait for a disk.
class medium {
public:
  medium() = default;
  virtual ~medium() = default;
  medium(const medium&) = delete;
  medium& operator=(const medium&) = delete;

  /// Returns the bytes by which an entry counts in addition to its payloads.
  virtual uint64_t overhead(std::string_view key,
                            std::string_view text) const = 0;

  /// Returns whether entries outlive the process. If they do, their uses are
  /// noted, and an entry is there until it is struck and erased.
  virtual bool is_lasting() const {
    return false;
  }

  /// Calls `take` with each entry whose payloads are whole, the least recently
  /// used first, and removes everything else.
  /// Errors: ec::io_failed.
  virtual core::result<loaded_medium> load(
    const std::function<void(entry_row)>&) {
    return loaded_medium{};
  }

  /// Returns the bytes of a payload, which may have changed.
  /// Errors: ec::not_found or ec::bad_payload if its file is missing or ends
  /// too
  ///         early; ec::io_failed if the bytes cannot be read now.
  virtual core::result<payload> read(uint64_t entry, const part_row& part) = 0;

  virtual medium_state state() const {
    return {};
  }

  /// Returns whether changes are tried now.
  virtual bool accepts() {
    return true;
  }

  /// Adds an entry, and notes the uses of others with it. Returns false if it
  /// fails; then nothing has changed.
  /// @param vector the one by which the entry is found
  virtual bool add(entry_row& row, std::span<const payload> payloads,
                   std::span<const float> vector,
                   std::span<const numbered_uses> uses) = 0;

  /// Notes uses. Returns false if it fails; then nothing has changed.
  virtual bool note(std::span<const numbered_uses>) {
    return true;
  }

  /// Removes entries and payloads, so that no start finds them. Their bytes
  /// stay until they are erased.
  /// Errors: ec::io_failed; then nothing has changed.
  virtual core::result<void> strike(std::span<const victim>) {
    return {};
  }

  /// Erases the bytes of an entry that was struck. If that fails, it is tried
  /// again later.
  virtual void erase(const entry_row&) {}

  /// Erases the bytes of struck payloads of an entry. Returns false if that is
  /// impossible.
  virtual bool thin(const entry_row&) {
    return true;
  }

  /// Returns the number of bytes of entries that could not be erased.
  virtual uint64_t unerased_bytes() const {
    return 0;
  }

  /// Returns the texts of entries, by their numbers, if it keeps them.
  /// Errors: ec::io_failed.
  virtual core::result<std::map<uint64_t, std::string>> texts(
    std::span<const uint64_t>) {
    return std::map<uint64_t, std::string>{};
  }
};

} // namespace atelier::index::detail
