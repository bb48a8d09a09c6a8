// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/index/near_vector.hpp>
#include <atelier/index/vectors/held_parts.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace atelier::index {

namespace detail {
class build_thread;
class graph;
struct entry;
} // namespace detail

struct vector_options {
  /// Number of vectors that are compared one by one; more are linked into a
  /// graph.
  size_t segment = 1'000;
  /// Maximum number of vectors that are added while a graph is built; until it
  /// is built they are compared one by one.
  size_t segment_most = 16'000;
  /// Minimum number of vectors that a search takes from the graph (ef).
  size_t search = 32;
  /// Every `check_every`-th search of a graph is repeated one by one.
  size_t check_every = 1'000;
};

/// The counts so far, in all indexes that share them.
struct vector_counts {
  uint64_t builds = 0;
  /// Builds that hnswlib ended with an exception, for example without memory.
  uint64_t failed_builds = 0;
  /// Vectors that were not added because too many were during a build.
  uint64_t refused = 0;
  /// Searches that were repeated one by one, and those among them that had
  /// found a vector at least as near.
  uint64_t checked = 0;
  uint64_t agreed = 0;
  /// Vectors that searches compared with theirs: the work of all searches,
  /// without that of finding the way through a graph.
  uint64_t compared = 0;
  /// Entries of graphs that searches looked at one by one, because the way
  /// through the graph found too few that serve.
  uint64_t visited = 0;

  friend bool operator==(const vector_counts&, const vector_counts&) = default;
};

struct vector_counters {
  std::atomic<uint64_t> searches{0};
  std::atomic<uint64_t> builds{0};
  std::atomic<uint64_t> failed_builds{0};
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> checked{0};
  std::atomic<uint64_t> agreed{0};
  std::atomic<uint64_t> compared{0};
  std::atomic<uint64_t> visited{0};

  vector_counts now() const;
};

/// A vector that is read at a start.
struct loaded_vector {
  uint64_t number = 0;
  std::vector<float> unit;
  held_parts holds{};
};

/// Unit vectors of one length, found by their inner product.
///
/// New vectors are compared one by one; together they are the segment. When the
/// segment is full, a background thread builds the next graph: the last one
/// with the segment's vectors linked in addition, or a new one if more than a
/// quarter of the last one's vectors are gone. Meanwhile the segment grows; if
/// it has grown by its bound, more vectors are refused. Graphs share the
/// vectors and do not change. A search holds the graph and the segment with
/// which it began, and waits for neither a build nor an addition. An index with
/// few vectors has no graph, and its searches are exact.
///
/// A search for entries that hold something looks at all that serve, if they
/// are few. If they are many, but hardly any is among the nearest of all kinds,
/// it looks at about sqrt(2 x most x size) of these and finds fewer than
/// `most`, or none: where those that serve are spread evenly, twice `most` are
/// expected among them; where they lie together and far from the search, it
/// misses them.
///
/// Threads: any.
class vector_index : public std::enable_shared_from_this<vector_index> {
public:
  /// @pre all that is passed by reference outlives its work on the thread; a
  /// shared pointer owns the index
  vector_index(size_t dimensions, vector_options how, vector_counters& counters,
               detail::build_thread& builder);
  ~vector_index();

  /// Adds a vector. Returns false, and counts it as refused, if the segment has
  /// grown by its bound during a build.
  /// @pre the number is not in the index
  bool add(uint64_t number, std::span<const float> unit, held_parts holds = {});

  /// Adds all vectors that the index begins with, however many, and lets the
  /// first graph be built from all of them. Takes time proportional to their
  /// number.
  /// @pre the index never had a vector, and no number occurs twice
  void fill(std::vector<loaded_vector> all);

  /// Removes a vector. Returns false if the number was not found.
  bool remove(uint64_t number);

  /// Replaces what a vector's entry holds, for searches that begin later.
  /// Returns false if the number was not found.
  bool note_held(uint64_t number, held_parts holds);

  /// Returns the nearest vectors whose entries serve `needs`, at most `most`,
  /// best first. Equally near vectors are ordered by descending number. A
  /// vector with similarity 0 is not found.
  std::vector<near_vector> near(std::span<const float> unit, size_t most,
                                const planning::needed_work& needs = {}) const;

  /// A vector of the index that stays as it is.
  struct numbered {
    uint64_t number = 0;
    std::shared_ptr<const std::vector<float>> unit;
  };

  /// Adds all vectors of the index to a list, in any order.
  void add_all(std::vector<numbered>& to) const;

  size_t size() const;

  /// Returns the memory of all vectors, including removed ones that a graph
  /// still links, and of the graphs, including the one that is being built.
  uint64_t bytes() const;

  /// Returns a bound of the memory for each of the vectors that an index of so
  /// many dimensions may hold, with its parts of removed vectors and of two
  /// graphs: that of the searches, and the next one.
  static uint64_t bytes_of_each(size_t dimensions);

private:
  struct state;
  using state_ptr = std::shared_ptr<const state>;
  using entry_ptr = std::shared_ptr<const detail::entry>;

  state_ptr snapshot() const;
  void publish(std::shared_ptr<state> next);
  entry_ptr enter(uint64_t number, std::vector<float> unit, held_parts holds);
  void tidy();
  void start_build();
  core::result<std::shared_ptr<const detail::graph>> next_graph(
    const state& from, bool afresh) const;
  void build(const state& from, bool afresh);
  void check(const state& in, std::span<const float> unit,
             const planning::needed_work& needs, double best) const;
  size_t gone_but_linked() const;

  const size_t dimensions_;
  const vector_options how_;
  vector_counters& counters_;
  detail::build_thread& builder_;

  /// Held while an entry is added or removed, or a state is published.
  mutable std::mutex lock_;
  std::unordered_map<uint64_t, entry_ptr> by_number_;
  uint64_t next_sequence_ = 0;
  /// Entries from `segment_begin_` on are in the segment. `segment_slots_`
  /// counts all of them, `segment_live_` those that are not gone.
  uint64_t segment_begin_ = 0;
  size_t segment_slots_ = 0;
  size_t segment_live_ = 0;
  bool builds_ = false;
  /// The build takes `taken_slots_` slots of the segment, up to the entry
  /// `taken_end_`.
  size_t taken_slots_ = 0;
  uint64_t taken_end_ = 0;
  /// After a failed build the next one begins with this entry.
  uint64_t retry_at_ = 0;
  std::atomic<size_t> live_{0};

  /// Held only to copy or exchange the pointer.
  mutable std::mutex state_lock_;
  state_ptr state_;
};

} // namespace atelier::index
