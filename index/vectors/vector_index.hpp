// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// A vector that was found.
struct near_vector {
  uint64_t number = 0;
  /// 0..1, as `similarity` says.
  double similarity = 0;

  friend bool operator==(const near_vector&, const near_vector&) = default;
};

struct vector_options {
  /// So many vectors are compared one by one; more are linked into a graph.
  size_t segment = 2'000;
  /// The most vectors that are compared one by one, while a graph is built.
  size_t segment_most = 16'000;
  /// The least number of vectors that a search takes from the graph (ef).
  size_t search = 40;
  /// One of so many searches of a graph is repeated one by one.
  size_t check_every = 1'000;
};

/// What happened so far, in all indexes that share it.
struct vector_counts {
  uint64_t builds = 0;
  /// Builds that hnswlib ended with an exception, as without memory.
  uint64_t failed_builds = 0;
  /// Searches that were repeated one by one, and those of them that had found a
  /// vector at least as near.
  uint64_t checked = 0;
  uint64_t agreed = 0;

  friend bool operator==(const vector_counts&, const vector_counts&) = default;
};

struct vector_counters {
  std::atomic<uint64_t> searches{0};
  std::atomic<uint64_t> builds{0};
  std::atomic<uint64_t> failed_builds{0};
  std::atomic<uint64_t> checked{0};
  std::atomic<uint64_t> agreed{0};

  vector_counts now() const;
};

enum class at_bound : uint8_t { refuse, grow };

/// Unit vectors of one length, found by their inner product.
///
/// New vectors are compared one by one; together they are the segment. Where
/// the segment is full, a thread in the background builds the next graph: the
/// last one with the segment's vectors linked in addition, or, where more than
/// a quarter of its vectors are gone, a new one. Meanwhile the segment grows up
/// to its bound; then vectors are refused. Graphs share the vectors and do not
/// change: a search holds the graph and the segment with which it began, and
/// waits for neither a build nor for adding. With few vectors there is no
/// graph, and a search is exact.
///
/// Threads: any.
class vector_index : public std::enable_shared_from_this<vector_index> {
public:
  /// @pre all that is passed by reference outlives its work on the thread; a
  ///      shared pointer owns the index
  vector_index(size_t dimensions, vector_options how, vector_counters& counters,
               detail::build_thread& builder);
  ~vector_index();

  /// Returns false where the segment has reached its bound, and it is to
  /// refuse.
  /// @pre the number is not in the index
  bool add(uint64_t number, std::span<const float> unit, at_bound then);

  /// Returns false where it is not there.
  bool remove(uint64_t number);

  /// Returns what is nearest, best first, at most `most`; of equally near ones
  /// the highest number first. What has similarity 0 is not found.
  std::vector<near_vector> near(std::span<const float> unit, size_t most) const;

  size_t size() const;

  /// Returns the memory of all vectors that are held, also of those that are
  /// gone but still linked, and of the graphs, also of the one that is built.
  uint64_t bytes() const;

private:
  struct state;
  using state_ptr = std::shared_ptr<const state>;
  using entry_ptr = std::shared_ptr<const detail::entry>;

  state_ptr snapshot() const;
  void publish(std::shared_ptr<state> next);
  void tidy();
  void start_build();
  void build(const state& from, bool afresh);
  void check(const state& in, std::span<const float> unit, double best) const;
  size_t gone_but_linked() const;

  const size_t dimensions_;
  const vector_options how_;
  vector_counters& counters_;
  detail::build_thread& builder_;

  /// Held by who adds, removes or publishes.
  mutable std::mutex lock_;
  std::unordered_map<uint64_t, entry_ptr> by_number_;
  uint64_t next_sequence_ = 0;
  /// Entries from here on are in the segment: so many, also those that are
  /// gone, and so many others.
  uint64_t segment_begin_ = 0;
  size_t segment_slots_ = 0;
  size_t segment_live_ = 0;
  bool builds_ = false;
  /// What the build takes: so many slots of the segment, up to this entry.
  size_t taken_slots_ = 0;
  uint64_t taken_end_ = 0;
  /// After a failed build the next begins with this entry.
  uint64_t retry_at_ = 0;
  std::atomic<size_t> live_{0};

  /// Held only to copy or to exchange the pointer.
  mutable std::mutex state_lock_;
  state_ptr state_;
};

} // namespace atelier::index
