// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/index/text_encoder.hpp>

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
  /// Made where it is not there; its parent is.
  std::filesystem::path folder;
  /// Entries of one scope are not found under another, because other models
  /// draw other images under the same key.
  std::string scope;
  /// Texts are compared by its vectors. They are not on the disk: each start
  /// encodes the texts of its scope anew.
  std::shared_ptr<const text_encoder> encoder = words_encoder();
  /// The most that is kept, as `stored_bytes` counts, and the most entries.
  uint64_t disk_bytes = 0;
  uint64_t entries = 0;
  /// The most memory for copies of payloads.
  uint64_t memory_bytes = 0;
  /// The share of `disk_bytes` that is reserved in equal parts for all tenants
  /// that keep anything, 0..1: nobody's entries drive another tenant below its
  /// part.
  double tenant_floor = 0.25;
  /// After so many failures of the disk in a row it is left out for `retry`.
  uint32_t most_failures = 3;
  core::timespan retry = std::chrono::seconds{30};
  std::function<core::time_point()> now = std::chrono::steady_clock::now;
  /// Seconds since 1970.
  std::function<int64_t()> date = [] {
    return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
  };
};

/// Returns the bytes by which a leftover counts on the disk: its payloads, its
/// key and text, and 4 KiB for its row and the end of its file.
uint64_t stored_bytes(std::string_view key, std::string_view text,
                      const leftover& what);

/// Kept work that outlives the process: rows in `cache.sqlite`, payloads in
/// files under `payload/`. Where a bound is reached, the entries leave that
/// were least recently kept or read (`detail/ledger.hpp` says whose).
///
/// An entry that `keep` returned true for is there after the end of the
/// process, however it ends. Its payload is on the disk before its row, and its
/// row goes before its payload, so that none is there in part. The last uses of
/// entries are written with the next entry, or when 256 wait: after a kill the
/// order of leaving may be a little older.
///
/// Only the keys, steps and vectors of entries are in memory, and copies of
/// payloads; a search touches nothing else. Whoever keeps, and whoever reads
/// what has no copy, waits for the disk.
///
/// A fault of the disk ends nothing: `keep` returns false and the fault counts
/// as failed. After `most_failures` in a row nothing is written for `retry`;
/// after as many of reading, nothing is found for as long.
/// Threads: any; changes of the disk take turns, over one connection.
class store final : public kept_work {
public:
  /// Opens a folder that no other store has open. Entries whose file is not
  /// there or of another size count as torn and leave; files without an entry
  /// are removed.
  /// Errors: ec::unavailable where another process has the folder open;
  ///         ec::incompatible where the rows are of a newer version;
  ///         ec::io_failed. All name the path.
  static core::result<std::shared_ptr<store>> open(store_options options);

  ~store() override;

  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    size_t most) override;
  core::result<payload> state(uint64_t entry, uint32_t steps) override;
  core::result<payload> image(uint64_t entry, core::extent px) override;
  void drop_torn(uint64_t entry) override;
  bool keep(std::string_view key, std::string_view text,
            leftover what) override;
  kept_counts counts() const override;

private:
  struct impl;

  explicit store(std::unique_ptr<impl> x);

  std::unique_ptr<impl> impl_;
};

} // namespace atelier::index
