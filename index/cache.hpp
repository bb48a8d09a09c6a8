// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/eviction_rule.hpp>
#include <atelier/core/result.hpp>
#include <atelier/index/image_encoder.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/index/nearest.hpp>
#include <atelier/index/text_encoder.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::index {

/// The limits on what is kept.
struct cache_bounds {
  /// The maximum size of all entries, and their maximum number.
  uint64_t bytes = 0;
  uint64_t entries = 0;
  /// Payloads that an entry and those of the same words under its key may give
  /// altogether since the start, one for each request that they answer; they
  /// leave with the last one. 0: any number.
  uint64_t answers = 0;
  /// A server's rule, by which entries leave for others.
  core::eviction_rule rule = core::eviction_rule::lru;
  /// Fraction of the bytes and entries, 0..1, that is reserved in equal parts
  /// for all tenants that keep anything. The entries of one tenant never drive
  /// another tenant below its part.
  double tenant_floor = 0;
  /// The number of fixed parts, one for each tenant, into which bytes, entries
  /// and copies are divided. 0: not divided.
  uint64_t parts = 0;
};

/// Returns the seconds since 1970.
int64_t seconds_since_1970();

/// How the entries of a cache are found, and when they leave.
struct cache_rules : cache_bounds {
  /// Its vectors are used to compare texts.
  std::shared_ptr<const text_encoder> encoder = words_encoder();
  /// If it is set, an entry is found by the vector of its image instead of that
  /// of its text, and entries without an image are not found. It has the
  /// dimensions of the encoder of texts.
  std::shared_ptr<const image_encoder> images{};
  /// Entries of one scope are not found under another, because other models
  /// draw other images under the same key.
  std::string scope{};
  /// The maximum memory for copies of payloads that a disk keeps, in bytes.
  uint64_t memory_bytes = 0;
  /// How vectors are searched.
  vector_options search{};
  /// Seconds since 1970.
  std::function<int64_t()> date = seconds_since_1970;
};

namespace detail {

class answer_counts;
class fair_mutex;
class hot_shelves;
class ledger;
class medium;
struct entry_row;
struct entry_uses;
struct known_entry;
struct numbered_uses;
struct part_row;
struct victim;

} // namespace detail

/// Kept work under one set of rules, whatever keeps its payloads: `memory`, or
/// the folder of a `store`. At a bound, entries or their payloads leave in the
/// order of the rule (`index/detail/ledger.hpp` chooses the tenant). What an
/// encoder cannot read finds nothing and is not kept; it counts as failed.
///
/// Only a medium that is a disk is waited for: by calls that keep an entry,
/// write back or list, and by a read of a payload without a copy, but only for
/// that read.
/// Threads: any; changes of the medium take turns. Texts and images are
///          encoded, and bytes are read and compared, without a lock.
class cache : public kept_work {
public:
  ~cache() override;
  cache(const cache&) = delete;
  cache& operator=(const cache&) = delete;

  planning::compared compares() const override;
  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    const search_terms& by) override;
  core::result<payload> state(uint64_t entry, uint32_t steps) override;
  core::result<payload> image(uint64_t entry, core::extent px,
                              uint32_t skips) override;
  void drop_torn(uint64_t entry) override;
  bool prepare(leftover& what) override;
  bool keep(std::string_view key, std::string_view text,
            leftover what) override;
  kept_counts counts() const override;
  bool has_unwritten() const override;
  void write_back() override;
  std::vector<float> vector_of(std::string_view key,
                               std::string_view text) override;
  std::optional<space_extent> extent(std::string_view space) const override;
  std::vector<float> vectors(std::string_view space,
                             size_t most) const override;
  core::result<std::vector<kept_entry>> list(const entry_page& which) override;

protected:
  cache(cache_rules rules, std::unique_ptr<detail::medium> keeps);

  /// Takes over what the medium keeps. Returns the number of payloads that had
  /// no entry.
  /// Errors: those of detail::medium::load and detail::medium::strike.
  core::result<uint64_t> load();

private:
  using entry_ptr = std::shared_ptr<const detail::known_entry>;

  /// Returns a text's vector; empty if it has none.
  std::vector<float> encoded(std::string_view key, std::string_view text);

  /// Returns an entry and notes that it is used; null if it is gone.
  entry_ptr used(uint64_t entry);

  /// Returns a part's bytes, with which a request skips that many steps, after
  /// checking them.
  core::result<payload> give(const detail::known_entry& from,
                             const detail::part_row& part, uint32_t skips);

  /// Returns a part's bytes, from their copy if it is unchanged.
  /// Errors: those of detail::medium::read; ec::bad_payload also if they have
  ///         changed.
  core::result<payload> read(const detail::known_entry& from,
                             const detail::part_row& part);

  /// Returns the uses to be noted, after which none are.
  std::vector<detail::numbered_uses> take_uses();

  /// Queues again the entries whose uses could not be noted.
  void put_back(std::span<const detail::numbered_uses> failed);

  // The caller must hold `writing_`.
  /// Errors: ec::io_failed; then nothing has left.
  core::result<void> evict(std::span<const detail::victim> which);
  bool write(detail::entry_row& row, std::span<const payload> payloads,
             std::span<const float> vector);
  /// Frees the bytes that payloads of an entry have left. If that is
  /// impossible, the entry leaves.
  void thin(const detail::known_entry& entry);
  /// Removes the entries that reads dropped from the medium.
  void remove_dropped();

  // The caller must hold `lock_`.
  /// @param overhead the bytes by which it counts beside its payloads
  void enter(entry_ptr entry, uint64_t overhead, detail::entry_uses uses);
  /// Returns what left; null if the entry is gone.
  entry_ptr take_out(uint64_t entry);
  /// Takes out some payloads of an entry, but not all. Returns the entry as it
  /// was; null if it is gone.
  entry_ptr take_out(const detail::victim& which);
  /// Takes out an entry that leaves the medium later, and counts it.
  entry_ptr drop(uint64_t entry, uint64_t kept_counts::*as);
  bool is_there(uint64_t entry, uint32_t steps) const;

  const cache_rules rules_;
  const std::unique_ptr<detail::medium> medium_;

  /// Held while the medium is changed; locked before `lock_`. No read takes it.
  std::mutex writing_;

  /// Never held while the medium is read or changed. A list locks it again and
  /// again.
  const std::unique_ptr<detail::fair_mutex> lock_;
  /// The sizes, tenants and uses of the entries.
  const std::unique_ptr<detail::ledger> shares_;
  const std::unique_ptr<detail::hot_shelves> copies_;
  /// Payloads given since the start.
  const std::unique_ptr<detail::answer_counts> answers_;
  /// Ordered, so that pages of entries are found by their first number.
  std::map<uint64_t, entry_ptr> by_number_;
  nearest_by_key vectors_;
  /// Entries whose uses are queued to be noted.
  std::set<uint64_t> unwritten_;
  /// Entries that reads dropped and that the medium still has.
  std::map<uint64_t, entry_ptr> dropped_;
  uint64_t last_number_ = 0;
  uint64_t last_use_ = 0;
  /// Without what others count: `shares_`, `vectors_`, the encoders and the
  /// medium.
  kept_counts counts_;
};

} // namespace atelier::index
