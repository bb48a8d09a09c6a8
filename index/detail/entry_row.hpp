// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/sha256.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/index/detail/ledger.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/index/text_vector.hpp>
#include <atelier/index/vectors/held_parts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atelier::index::detail {

/// A payload of an entry: a state, or the image if `steps` is 0.
struct part_row {
  uint32_t steps = 0;
  uint64_t bytes = 0;
  /// XXH3 of the bytes.
  uint64_t checksum = 0;
  /// Where its bytes begin among those of its entry, as they were kept.
  uint64_t offset = 0;
  entry_uses uses{};
  /// The bytes, if their medium is memory.
  payload held{};

  friend bool operator==(const part_row&, const part_row&) = default;
};

/// An entry without the bytes of its payloads.
struct entry_row {
  uint64_t number = 0;
  std::string key;
  std::string text;
  core::tenant_id whose;
  uint32_t depth = 0;
  core::extent px;
  /// Seconds since 1970.
  int64_t made = 0;
  entry_uses uses;
  /// The size of all payloads that were kept, which also counts those that were
  /// evicted.
  uint64_t file_bytes = 0;
  /// The seed that drew it from noise; none: unknown, or made otherwise.
  std::optional<uint64_t> seed{};
  /// Ordered by rising steps, which is their order in a file.
  std::vector<part_row> parts;

  /// Returns the payload of that many steps, or null.
  const part_row* part_of(uint32_t steps) const;

  held_parts holds() const;

  friend bool operator==(const entry_row&, const entry_row&) = default;
};

/// An entry as a cache knows it: the row without its text. The ledger has its
/// uses.
struct known_entry : entry_row {
  words_digest words{};
  core::sha256_digest text_sha256{};
};

/// The uses of an entry and its payloads.
struct numbered_uses {
  uint64_t number = 0;
  entry_uses uses;
  /// By the steps of the payloads.
  std::vector<std::pair<uint32_t, entry_uses>> parts{};
};

/// Returns the size of an entry's payloads in bytes.
uint64_t payload_bytes(const entry_row& row);
uint64_t payload_bytes(const leftover& what);

} // namespace atelier::index::detail
