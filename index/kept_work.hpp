// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/planning/route.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace atelier::index {

/// Bytes that nobody changes.
using payload = std::shared_ptr<const std::vector<std::byte>>;

/// A run's state after some of its steps.
struct left_state {
  uint32_t steps = 0;
  std::vector<std::byte> bytes;
};

/// What a request leaves for later ones.
struct leftover {
  /// Steps rise.
  std::vector<left_state> states;
  /// Pixels as drawn, of size `px`; empty: there is no image.
  std::vector<std::byte> image;
  core::extent px;
  /// How many times reuse was chained up to it.
  uint32_t depth = 0;
  /// Whose request it was.
  core::tenant_id whose;
};

struct kept_counts {
  uint64_t entries = 0;
  /// The size of all entries, as the implementation counts it.
  uint64_t bytes = 0;
  /// Searches that found anything, and those that did not.
  uint64_t hits = 0;
  uint64_t misses = 0;
  /// Entries that left: their bytes were not those that were kept, or made
  /// room for others.
  uint64_t dropped_torn = 0;
  uint64_t evicted = 0;
  /// Searches that were repeated by looking at everything, and those of them
  /// that had found an entry at least as near.
  uint64_t searches_checked = 0;
  uint64_t searches_agreed = 0;
  /// Times that a disk did not keep, give or remove what it was to.
  uint64_t failed = 0;

  friend bool operator==(const kept_counts&, const kept_counts&) = default;
};

/// What earlier requests left, found by the text of a later one.
///
/// An entry that was found may be gone when it is asked for.
/// Threads: any.
class kept_work {
public:
  virtual ~kept_work() = default;

  /// Returns the entries of that very key whose texts are nearest, best first,
  /// at most `most`; of equally near ones, the newest first. What shares
  /// nothing with the text is not found.
  virtual std::vector<planning::match> near(std::string_view key,
                                            std::string_view text,
                                            size_t most) = 0;

  /// Returns an entry's state after that many steps, byte by byte as it was
  /// kept.
  /// Errors: ec::not_found where it is gone or never was; ec::bad_payload
  ///         where its bytes have changed: then the entry has left;
  ///         ec::io_failed where a disk does not give them now.
  virtual core::result<payload> state(uint64_t entry, uint32_t steps) = 0;

  /// Returns the pixels of an entry's image, which has that size.
  /// Errors: as `state`; ec::not_found where it is of another size.
  virtual core::result<payload> image(uint64_t entry, core::extent px) = 0;

  /// Lets an entry leave whose bytes are those that were kept, and yet cannot
  /// be used; it counts as torn. Nothing happens where it is gone.
  virtual void drop_torn(uint64_t entry) = 0;

  /// Keeps what a request left. Returns false where nothing is kept: it is
  /// larger than all that may be kept or make room, it has nothing, its text
  /// has no words, more is kept at once than can be made searchable, or a disk
  /// does not take it.
  virtual bool keep(std::string_view key, std::string_view text,
                    leftover what) = 0;

  virtual kept_counts counts() const = 0;
};

} // namespace atelier::index
