// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/index/detail/entry_row.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::index::detail {

/// The vector by which an entry is found: that of its text or of its image.
struct vector_row {
  uint64_t number = 0;
  /// The identity of its encoder.
  std::string encoder;
  std::vector<float> vector;

  friend bool operator==(const vector_row&, const vector_row&) = default;
};

/// The size by which an entry counts in addition to its payloads, key and text,
/// in bytes.
inline constexpr uint64_t entry_overhead = 4096;

/// Returns the size by which an entry counts, in bytes.
uint64_t counted_bytes(const entry_row& row);

/// The payload of an entry after that many steps.
struct numbered_part {
  uint64_t number = 0;
  uint32_t steps = 0;
};

/// Returns the statements that make version 1, 2, ... of the file from the
/// version before.
std::span<const std::string_view> catalog_versions();

/// The rows of all entries, in one SQLite file with a write-ahead log. A change
/// that was reported as done survives the end of the process. After a power
/// loss the last changes may be missing, but none is partial.
/// Threads: one at a time.
class catalog {
public:
  /// Opens the file. Creates it if it is missing, and upgrades an older one to
  /// the newest version.
  /// Errors: ec::incompatible if the file has a newer version or is not of this
  ///         kind; ec::io_failed.
  static core::result<catalog> open(
    const std::filesystem::path& file,
    std::span<const std::string_view> versions = catalog_versions());

  catalog(catalog&&) noexcept;
  catalog& operator=(catalog&&) noexcept;
  ~catalog();

  /// Calls `take` with each entry, the least recently used first.
  /// Errors: ec::io_failed.
  core::result<void> read(const std::function<void(entry_row)>& take) const;

  /// Returns the texts of existing entries, by their numbers.
  /// Errors: ec::io_failed.
  core::result<std::map<uint64_t, std::string>> texts(
    std::span<const uint64_t> numbers) const;

  /// Returns the highest number that an entry ever had.
  /// Errors: ec::io_failed.
  core::result<uint64_t> last_number() const;

  /// Adds an entry, and records the uses of others with it.
  /// Errors: ec::io_failed; then nothing has changed.
  core::result<void> add(const entry_row& row,
                         std::span<const numbered_uses> uses) const;

  /// Removes entries, and payloads of entries that stay. What is gone already
  /// is no error. Errors: ec::io_failed; then nothing has changed.
  core::result<void> remove(std::span<const uint64_t> numbers,
                            std::span<const numbered_part> parts = {}) const;

  /// Records the uses of entries.
  /// Errors: ec::io_failed; then nothing has changed.
  core::result<void> note(std::span<const numbered_uses> uses) const;

  /// Calls `take` with the vector of each entry that has one. Older programs
  /// keep none.
  /// Errors: ec::io_failed.
  core::result<void> read_vectors(
    const std::function<void(vector_row)>& take) const;

  /// Keeps the vectors of entries, in place of earlier ones. They leave with
  /// their entries.
  /// Errors: ec::io_failed; then nothing has changed.
  core::result<void> put_vectors(std::span<const vector_row> rows) const;

  /// Returns the fault that SQLite finds in its file; empty if it finds none.
  /// Errors: ec::io_failed.
  core::result<std::string> faults() const;

private:
  class connection;

  explicit catalog(std::unique_ptr<connection> to);

  std::unique_ptr<connection> to_;
};

} // namespace atelier::index::detail
