// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/index/cache.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace atelier::index {

/// The bytes of the bounds are those of the disk, as `stored_bytes` counts
/// them. If the encoder in use has an identity, vectors are stored under it; a
/// start encodes the texts, or the images, of its scope without a vector. The
/// uses that a rule counts are on the disk under every rule.
struct store_options : cache_rules {
  /// The folder is made if it is missing; its parent must exist.
  std::filesystem::path folder{};
  /// After this many failures in a row the disk is skipped for `retry`.
  uint32_t most_failures = 3;
  core::timespan retry = std::chrono::seconds{30};
  std::function<core::time_point()> now = std::chrono::steady_clock::now;
};

/// Returns the size by which a leftover counts on the disk, in bytes: its
/// payloads, its key and text, and 4 KiB for its row and the end of its file.
uint64_t stored_bytes(std::string_view key, std::string_view text,
                      const leftover& what);

/// A cache that outlives the process, with rows in `cache.sqlite` and payloads
/// in files under `payload/`.
///
/// An entry for which `keep` returned true survives the end of the process,
/// however it ends. Reads write nothing: the uses of entries, and the removal
/// of those that a read dropped, are written with the next entry or by
/// `write_back`, which is wanted from 256 uses or one removal on. After a kill
/// the order of eviction may be slightly out of date, and an entry that a read
/// dropped may be back.
///
/// Only the keys, steps and vectors of entries, and copies of payloads, are in
/// memory; a search reads nothing else.
///
/// A disk fault is not fatal: `keep` returns false, and the fault counts as
/// failed. After `most_failures` write faults in a row nothing is written for
/// `retry`; after as many read faults nothing is found for the same time.
/// Threads: any; changes of the disk take turns over one connection.
class store final : public cache {
public:
  /// Opens a folder that no other store has open. Entries whose file is missing
  /// or has another size count as torn and leave; files without an entry are
  /// removed.
  /// Errors: ec::unavailable if another process has the folder open;
  ///         ec::incompatible if the rows have a newer version; ec::io_failed.
  ///         All name the path.
  static core::result<std::shared_ptr<store>> open(store_options options);

private:
  store(cache_rules rules, std::unique_ptr<detail::medium> folder);
};

} // namespace atelier::index
