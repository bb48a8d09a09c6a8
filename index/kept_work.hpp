// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/figure.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/index/space_extent.hpp>
#include <atelier/index/text_encoder.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/reuse/needed_work.hpp>
#include <atelier/planning/route.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::index {

/// Bytes that never change.
using payload = std::shared_ptr<const std::vector<std::byte>>;

/// A run's state after some of its steps.
struct left_state {
  uint32_t steps = 0;
  std::vector<std::byte> bytes;
};

/// The results of a request that later requests can reuse.
struct leftover {
  /// Ordered by rising steps.
  std::vector<left_state> states;
  /// The pixels as drawn, of size `px`; empty if no image was kept.
  std::vector<std::byte> image;
  core::extent px;
  /// How many times reuse was chained to make this leftover; at least 1 for an
  /// image that another variant than that of its key drew.
  uint32_t depth = 0;
  /// The tenant of the request.
  core::tenant_id whose;
  /// The seed that drew it from noise; none: it was made of earlier work, or
  /// not by the run of its key.
  std::optional<uint64_t> seed{};
  /// The unit vector of the image, which `kept_work::prepare` made; empty if
  /// `keep` has to make it.
  std::vector<float> vector;
};

/// An entry, for people.
struct kept_entry {
  uint64_t number = 0;
  /// The key under which it was kept; empty if it belongs to other models.
  std::string key;
  core::tenant_id whose;
  /// The SHA-256 of its text in hexadecimal, and the text itself if it is kept.
  std::string text_sha256;
  std::optional<std::string> text;
  /// The size by which the entry counts, in bytes.
  uint64_t bytes = 0;
  /// The numbers of steps of the states that it has, rising.
  std::vector<uint32_t> steps;
  bool has_image = false;
  /// How many times reuse was chained to make it.
  uint32_t depth = 0;
  /// Seconds since 1970.
  int64_t made = 0;
  /// The requests that it answered since the start, and the number of steps
  /// that all of them skipped.
  uint64_t answers = 0;
  uint64_t saved_steps = 0;
  /// Every payload of the entry is in memory.
  bool is_in_memory = false;
};

/// Selects a page of entries.
struct entry_page {
  /// Only entries with higher numbers, at most `most`, by rising number.
  uint64_t after = 0;
  size_t most = 0;
  /// Only entries of one tenant; none: of all.
  std::optional<core::tenant_id> whose{};
};

/// What a search asks for.
struct search_terms {
  /// The maximum number of entries that are found.
  size_t most = 0;
  /// What an entry must hold to be found.
  planning::needed_work needs{};
  /// The similarity from which a found entry makes the search a hit, 0..1;
  /// above 1: none does. Less similar entries are found, too.
  double hit_from = 0;

  friend bool operator==(const search_terms&, const search_terms&) = default;
};

struct kept_counts {
  uint64_t entries = 0;
  /// The size of all entries in bytes, as the implementation counts it.
  uint64_t bytes = 0;
  /// Searches that found an entry as similar as search_terms::hit_from, and all
  /// others.
  uint64_t hits = 0;
  uint64_t misses = 0;
  /// Entries that left because their bytes could not be used, and entries that
  /// were evicted for others.
  uint64_t dropped_torn = 0;
  uint64_t evicted = 0;
  /// Payloads that were evicted for others while their entries stayed.
  uint64_t evicted_payloads = 0;
  /// Entries that left because they had answered as many requests as they may.
  uint64_t spent = 0;
  /// Searches that were repeated over all entries, and those among them that
  /// had found an entry at least as near.
  uint64_t searches_checked = 0;
  uint64_t searches_agreed = 0;
  /// Vectors that searches compared with theirs, and entries that they looked
  /// at one by one because a graph found too few that serve.
  uint64_t compared = 0;
  uint64_t visited = 0;
  /// Graphs that were built, and builds that failed.
  uint64_t builds = 0;
  uint64_t failed_builds = 0;
  /// Failures of a disk to keep, return or remove something, and failures of
  /// the encoders.
  uint64_t failed = 0;
  /// Whether a disk that failed or was too slow is being left out, so that
  /// nothing is found, or nothing is kept.
  bool reads_left_out = false;
  bool writes_left_out = false;
  /// Leftovers that are queued to be kept, and leftovers that were not kept
  /// because too many were queued, or came while an index was being built.
  uint64_t pending = 0;
  uint64_t overflowed = 0;
  /// The work of the encoders.
  encoder_counts encoder;

  friend bool operator==(const kept_counts&, const kept_counts&) = default;
};

/// The counts that people see, without those that cache_status has in
/// runtime/atelier.hpp. A counter is a member above and a row here.
inline constexpr core::counted_figure<kept_counts> counted_figures[] = {
  {{"cache_compared", "earlier_work", "atelier_cache_compared_total",
    "Vectors that searches compared with theirs."},
   &kept_counts::compared},
  {{"cache_visited", "earlier_work", "atelier_cache_visited_total",
    "Entries that searches looked at one by one, because the index found too "
    "few that hold what the policy needs."},
   &kept_counts::visited},
  {{"cache_index_builds", "earlier_work", "atelier_cache_index_builds_total",
    "Indexes that were built for keys with many entries.",
    core::figure_place::metrics, "outcome=built"},
   &kept_counts::builds},
  {{"cache_failed_index_builds", "earlier_work",
    "atelier_cache_index_builds_total", "", core::figure_place::metrics,
    "outcome=failed"},
   &kept_counts::failed_builds},
};

/// Results of earlier requests, found by the text of a later request: by the
/// similarity of both prompts, or by that of the prompt and the image.
///
/// An entry that a search found may be gone when it is requested.
/// Threads: any.
class kept_work {
public:
  virtual ~kept_work() = default;

  /// Returns what a search compares a prompt with.
  virtual planning::compared compares() const {
    return planning::compared::prompts;
  }

  /// Returns the entries of exactly that key that hold what `by` needs and
  /// whose texts, or images, are nearest to `text`, at most `by.most`, best
  /// first. Entries that lack it take no places. Equally near entries are
  /// ordered by rising depth, then from new to old. Texts have similarity 1
  /// only if their words are the same in the same order. An entry that shares
  /// nothing with `text` is not found. Only an entry of the very same text has
  /// a seed.
  virtual std::vector<planning::match> near(std::string_view key,
                                            std::string_view text,
                                            const search_terms& by) = 0;

  /// Returns an entry's state after that many steps, with exactly the bytes
  /// that were kept.
  /// Errors: ec::not_found if the state is gone or never existed;
  ///         ec::bad_payload if its bytes have changed, and then the entry has
  ///         left; ec::io_failed if a disk cannot return them now.
  virtual core::result<payload> state(uint64_t entry, uint32_t steps) = 0;

  /// Returns the pixels of an entry's image, which has that size.
  /// @param skips the number of steps that the request does not run because of
  ///        the image; a state skips its own
  /// Errors: as `state`; also ec::not_found if the image has another size.
  virtual core::result<payload> image(uint64_t entry, core::extent px,
                                      uint32_t skips) = 0;

  /// Drops an entry whose bytes are unchanged but cannot be used; it counts as
  /// torn. Does nothing if the entry is gone.
  virtual void drop_torn(uint64_t entry) = 0;

  /// Makes the vector of a leftover's image, if searches compare images. `keep`
  /// does the same, but a caller that bounds its time can do it before. Returns
  /// false if the leftover cannot be kept. Does nothing by default.
  virtual bool prepare(leftover&) {
    return true;
  }

  /// Keeps what a request left. Returns false if it keeps nothing: the leftover
  /// is larger than everything that may be kept or evicted for it, it is empty,
  /// its text has no words, or, if searches compare images, it has no image, an
  /// encoder failed, more is kept at once than can be made searchable, or a
  /// disk does not accept it.
  virtual bool keep(std::string_view key, std::string_view text,
                    leftover what) = 0;

  virtual kept_counts counts() const = 0;

  /// Returns whether so much of what reads changed waits for a disk that
  /// `write_back` should be called soon; false if nothing is kept on a disk,
  /// which is the default. Short.
  virtual bool has_unwritten() const {
    return false;
  }

  /// Writes what reads changed: the uses of entries, and which of them left.
  /// May wait for a disk. Does nothing by default.
  virtual void write_back() {}

  /// Returns the vector by which a search under the key compares the text;
  /// empty if the text has none, or the cache compares no vectors, which is the
  /// default.
  virtual std::vector<float> vector_of(std::string_view, std::string_view) {
    return {};
  }

  /// Returns the extent of a namespace (tenant_part of the keys); none if the
  /// cache does not count by namespaces, which is the default. Short.
  virtual std::optional<space_extent> extent(std::string_view) const {
    return std::nullopt;
  }

  /// Returns the vectors of a namespace's entries one after another, at most
  /// `most`; empty if the cache does not count by namespaces.
  virtual std::vector<float> vectors(std::string_view, size_t) const {
    return {};
  }

  /// Returns a page of the entries. May wait for a disk.
  /// Errors: ec::io_failed; ec::not_found: the cache does not list entries,
  ///         which is the default.
  virtual core::result<std::vector<kept_entry>> list(const entry_page&) {
    return core::fail(core::ec::not_found, "the cache does not list entries");
  }
};

} // namespace atelier::index
