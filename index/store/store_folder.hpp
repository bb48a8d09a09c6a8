// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::index {

/// The contents of a store's folder.
struct store_facts {
  uint64_t entries = 0;
  /// The size by which the entries count, in bytes; see stored_bytes.
  uint64_t bytes = 0;
  uint64_t payload_bytes = 0;
  uint64_t tenants = 0;
  /// Entries with an image.
  uint64_t images = 0;
  /// When the oldest and the newest entry were made, in seconds since 1970; 0
  /// if the store is empty.
  int64_t oldest = 0;
  int64_t newest = 0;
};

struct damaged_entry {
  uint64_t entry = 0;
  std::string why;
};

/// The faults of a store's folder.
struct store_damage {
  /// The fault that SQLite reports in its file; empty if it finds none.
  std::string rows;
  std::vector<damaged_entry> entries;
  /// Files without an entry, which the next start removes.
  uint64_t files_without_entry = 0;
  uint64_t checked = 0;
  uint64_t checked_bytes = 0;

  bool is_sound() const {
    return rows.empty() && entries.empty();
  }
};

/// A text that a folder keeps work of, under one key.
struct kept_text {
  /// Without the scope, as store::keep took it.
  std::string key;
  std::string text;
  /// The numbers of steps of its states, rising.
  std::vector<uint32_t> steps;
  bool has_image = false;
};

/// Selects entries; an empty field selects any.
struct entry_filter {
  std::optional<core::tenant_id> tenant{};
  /// Only entries that were made before that second since 1970.
  std::optional<int64_t> made_before{};
};

/// Returns the contents of a folder that no store has open, and changes no
/// entry.
/// Errors: ec::not_found if the folder holds no store; those of store::open.
core::result<store_facts> facts_of_store(const std::filesystem::path& folder);

/// Reads every payload of such a folder and compares its checksum. Changes no
/// entry.
/// Errors: as facts_of_store.
core::result<store_damage> verify_store(const std::filesystem::path& folder);

/// Removes all entries and their files, sound or not. Returns the number of
/// payload files that existed.
/// Errors: as facts_of_store.
core::result<uint64_t> clear_store(const std::filesystem::path& folder);

/// Removes the selected entries and their files. Returns their number.
/// Errors: as facts_of_store; a folder whose rows are damaged can only be
///         cleared of everything.
core::result<uint64_t> clear_store(const std::filesystem::path& folder,
                                   const entry_filter& which);

/// Calls `take` with each entry of a scope whose file is whole. A folder that
/// holds no store has none. Changes no entry.
/// Errors: those of store::open.
core::result<void> read_texts(const std::filesystem::path& folder,
                              std::string_view scope,
                              const std::function<void(kept_text)>& take);

} // namespace atelier::index
