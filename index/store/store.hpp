// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/eviction_rule.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/index/image_encoder.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/index/text_encoder.hpp>
#include <atelier/index/vectors/vector_index.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::index {

struct store_options {
  /// The folder is made if it is missing; its parent must exist.
  std::filesystem::path folder;
  /// Entries of one scope are not found under another, because other models
  /// draw other images under the same key.
  std::string scope;
  /// Its vectors are used to compare texts. If it has an identity, they are
  /// stored under it; a start encodes the texts of its scope without a vector.
  std::shared_ptr<const text_encoder> encoder = words_encoder();
  /// If it is set, an entry is found by the vector of its image instead of that
  /// of its text, and entries without an image are not found. A start encodes
  /// the images of its scope without a vector.
  std::shared_ptr<const image_encoder> images{};
  /// The maximum size of all entries, as `stored_bytes` counts it, and their
  /// maximum number.
  uint64_t disk_bytes = 0;
  uint64_t entries = 0;
  /// Payloads that an entry and those of the same words under its key may give
  /// altogether since the start, one for each request that they answer; they
  /// leave with the last one. 0: any number.
  uint64_t answers = 0;
  /// The maximum memory for copies of payloads, in bytes.
  uint64_t memory_bytes = 0;
  /// Fraction of `disk_bytes` and `entries`, 0..1, that is reserved in equal
  /// parts for all tenants that keep anything. The entries of one tenant never
  /// drive another tenant below its part.
  double tenant_floor = 0.25;
  /// The number of fixed parts, one for each tenant, into which `disk_bytes`,
  /// `entries` and `memory_bytes` are divided. 0: not divided.
  uint64_t parts = 0;
  /// A server's rule, by which entries leave for others. The uses that it
  /// counts are on the disk under every rule.
  core::eviction_rule rule = core::eviction_rule::lru;
  /// After this many failures in a row the disk is skipped for `retry`.
  uint32_t most_failures = 3;
  core::timespan retry = std::chrono::seconds{30};
  std::function<core::time_point()> now = std::chrono::steady_clock::now;
  /// How vectors are searched.
  vector_options search = {};
  /// Seconds since 1970.
  std::function<int64_t()> date = [] {
    return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
  };
};

/// Returns the size by which a leftover counts on the disk, in bytes: its
/// payloads, its key and text, and 4 KiB for its row and the end of its file.
uint64_t stored_bytes(std::string_view key, std::string_view text,
                      const leftover& what);

/// Kept work that outlives the process, with rows in `cache.sqlite` and
/// payloads in files under `payload/`. At a bound, entries are evicted in the
/// order of the rule (`index/detail/ledger.hpp` chooses the tenant).
///
/// An entry for which `keep` returned true survives the end of the process,
/// however it ends. Its payload is on the disk before its row, and its row is
/// removed before its payload, so that no entry exists in part. Reads write
/// nothing: the uses of entries, and the removal of those that a read dropped,
/// are written with the next entry or by `write_back`, which is wanted from 256
/// uses or one removal on. After a kill the order of eviction may be slightly
/// out of date, and an entry that a read dropped may be back.
///
/// Only the keys, steps and vectors of entries, and copies of payloads, are in
/// memory; a search reads nothing else. Calls that keep an entry, write back or
/// list wait for the disk, as does a read of a payload without a copy, but only
/// for that read.
///
/// A disk fault is not fatal: `keep` returns false, and the fault counts as
/// failed. After `most_failures` write faults in a row nothing is written for
/// `retry`; after as many read faults nothing is found for the same time.
/// Threads: any; changes of the disk take turns over one connection.
class store final : public kept_work {
public:
  /// Opens a folder that no other store has open. Entries whose file is missing
  /// or has another size count as torn and leave; files without an entry are
  /// removed.
  /// Errors: ec::unavailable if another process has the folder open;
  ///         ec::incompatible if the rows have a newer version; ec::io_failed.
  ///         All name the path.
  static core::result<std::shared_ptr<store>> open(store_options options);

  ~store() override;

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

private:
  struct impl;

  explicit store(std::unique_ptr<impl> x);

  std::unique_ptr<impl> impl_;
};

} // namespace atelier::index
