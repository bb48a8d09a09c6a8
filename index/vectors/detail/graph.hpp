// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/index/vectors/detail/candidates.hpp>
#include <atelier/index/vectors/detail/entry.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace atelier::index::detail {

/// A graph of near neighbours (hnswlib's HNSW) over shared vectors, which it
/// links and finds by copies of eight bits for each number. It does not change
/// once it is built. Vectors with equal copies are one point of the graph: many
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
  core::result<std::vector<candidate>> near(const float* unit,
                                            size_t count) const;

  const std::vector<entry_ptr>& entries() const;

  /// Entries that held the same when the graph was built. Parts may have left
  /// since, but none came: of a group that does not serve, no entry does.
  struct group {
    held_parts held;
    std::vector<const entry*> entries;
  };

  /// Returns the groups of all entries that were not gone at the build.
  const std::vector<group>& groups() const;

  /// Returns the memory of the links and codes, without the entries.
  uint64_t bytes() const;

  /// Returns the memory of the links and codes of that many entries while they
  /// are built.
  static uint64_t most_bytes(size_t entries, size_t dimensions);

private:
  struct links;
  graph();

  std::vector<entry_ptr> entries_;
  /// The entries of each point.
  std::vector<std::vector<const entry*>> points_;
  std::vector<group> groups_;
  std::unique_ptr<links> links_;
};

} // namespace atelier::index::detail
