// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace atelier::index::detail {

/// A vector. All structures that find it share it, so that one flag removes it
/// everywhere.
struct entry {
  uint64_t number = 0;
  /// Rises in the order in which entries are added.
  uint64_t sequence = 0;
  std::vector<float> unit;
  /// Whether the entry was removed. If so, no search returns it.
  mutable std::atomic<bool> gone{false};
};

using entry_ptr = std::shared_ptr<const entry>;

/// A graph of near neighbours (hnswlib's HNSW) over shared vectors. It does not
/// change once it is built. Equal vectors are one point of the graph: many
/// equal points would link only each other and hide the others.
/// Threads: any.
class graph {
public:
  /// Number of neighbours of an entry, and of candidates while an entry is
  /// linked.
  static constexpr size_t neighbours = 16;
  static constexpr size_t candidates = 200;

  /// Links all entries: those of `from`, which are linked already (null: none),
  /// and then `added`. Takes about a millisecond for each added entry.
  /// Errors: ec::stopping if `stop` returned true; ec::internal if hnswlib
  ///         threw, for example without memory.
  static core::result<std::shared_ptr<const graph>> build(
    size_t dimensions, const graph* from, std::span<const entry_ptr> added,
    const std::function<bool()>& stop);

  ~graph();
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  /// Returns the entries of about `count` of the nearest points, in any order.
  /// Includes entries that are gone.
  /// Errors: ec::internal if hnswlib threw.
  core::result<std::vector<const entry*>> near(const float* unit,
                                               size_t count) const;

  const std::vector<entry_ptr>& entries() const;

  /// Returns the memory of the links, without the entries.
  uint64_t bytes() const;

  /// Returns the memory of the links of that many entries while they are built.
  static uint64_t most_bytes(size_t entries);

private:
  struct links;
  graph();

  std::vector<entry_ptr> entries_;
  /// The entries of each point.
  std::vector<std::vector<const entry*>> points_;
  std::unique_ptr<links> links_;
};

} // namespace atelier::index::detail
