// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace atelier::index {

/// What a store's folder holds.
struct store_facts {
  uint64_t entries = 0;
  /// By which they count, see stored_bytes.
  uint64_t bytes = 0;
  uint64_t payload_bytes = 0;
  uint64_t tenants = 0;
  /// When the oldest and the newest entry were made, in seconds since 1970; 0:
  /// there is none.
  int64_t oldest = 0;
  int64_t newest = 0;
};

struct damaged_entry {
  uint64_t entry = 0;
  std::string why;
};

/// The faults of a store's folder.
struct store_damage {
  /// What SQLite says of its file; empty: nothing.
  std::string rows;
  std::vector<damaged_entry> entries;
  /// Files without an entry: the next start removes them.
  uint64_t files_without_entry = 0;
  uint64_t checked = 0;
  uint64_t checked_bytes = 0;

  bool is_sound() const {
    return rows.empty() && entries.empty();
  }
};

/// They open a folder that no store has open, and change no entry of it.
/// Errors: ec::not_found where there is no store; those of store::open.
core::result<store_facts> facts_of_store(const std::filesystem::path& folder);

/// Reads every payload and compares its checksum.
core::result<store_damage> verify_store(const std::filesystem::path& folder);

/// Removes all entries and their files, sound or not; returns how many files of
/// payloads there were.
/// Errors: as facts_of_store.
core::result<uint64_t> clear_store(const std::filesystem::path& folder);

} // namespace atelier::index
