// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace atelier::runtime::http::detail {

/// Accounts for kept pictures: what those of each job weigh in memory and in
/// files, and whose were not asked for the longest. Says which job is to go
/// where a limit is passed; the caller then forgets it.
/// Threads: one at a time.
class picture_shelves {
public:
  picture_shelves(uint64_t most_bytes, uint64_t most_disk_bytes)
    : in_memory_{most_bytes, 0, {}}, on_disk_{most_disk_bytes, 0, {}} {}

  /// Keeps pictures in memory, to be brought into files.
  /// @param job its number
  /// @pre nothing is kept of it, and bytes > 0
  void keep(uint64_t job, uint64_t bytes, core::time_point now);

  /// Keeps pictures that are in files.
  /// @pre nothing is kept of it, and disk_bytes > 0
  void keep_in_files(uint64_t job, uint64_t disk_bytes, core::time_point now);

  bool keeps(uint64_t job) const {
    return shares_.contains(job);
  }

  /// Its pictures were asked for.
  void use(uint64_t job, core::time_point now);

  /// A picture went from memory into a file.
  /// @param bytes what it counted in memory
  /// @pre it keeps pictures
  void move_into_file(uint64_t job, uint64_t bytes, uint64_t disk_bytes);

  /// What of it can be in files is.
  void store_no_more(uint64_t job) {
    unstored_.erase(job);
  }

  /// Whether pictures of it are still to be brought into files.
  bool is_unstored(uint64_t job) const {
    return unstored_.contains(job);
  }

  /// Jobs whose pictures were not brought into files yet, oldest first.
  std::vector<uint64_t> unstored() const {
    return {unstored_.begin(), unstored_.end()};
  }

  /// Nothing of it is kept any more. False where nothing was.
  bool forget(uint64_t job);

  /// Returns the job that is to go from memory; none where all find room.
  std::optional<uint64_t> over_memory() const;

  /// Whether files of this job could ever find room for more.
  bool could_store(uint64_t job, uint64_t disk_bytes) const;

  /// Returns the job that is to go from files until more finds room there; none
  /// where it does.
  /// @param but a job that stays
  std::optional<uint64_t> over_disk(uint64_t more_disk_bytes = 0,
                                    uint64_t but = 0) const;

  /// Jobs of which pictures are kept.
  size_t jobs() const {
    return shares_.size();
  }

  uint64_t bytes() const {
    return in_memory_.held;
  }

  uint64_t disk_bytes() const {
    return on_disk_.held;
  }

private:
  /// What one job keeps.
  struct share {
    /// When its pictures were kept or asked for last.
    core::time_point used;
    uint64_t bytes = 0;
    uint64_t disk_bytes = 0;
  };

  /// Pictures that count against one limit.
  struct shelf {
    uint64_t most = 0;
    uint64_t held = 0;
    /// Jobs that have some here, by when they were used last.
    std::set<std::pair<core::time_point, uint64_t>> jobs;
  };

  static void put_on(shelf& to, uint64_t job, core::time_point used,
                     uint64_t& part, uint64_t bytes);
  static void take_from(shelf& from, uint64_t job, core::time_point used,
                        uint64_t& part, uint64_t bytes);

  std::map<uint64_t, share> shares_;
  shelf in_memory_;
  shelf on_disk_;
  std::set<uint64_t> unstored_;
};

} // namespace atelier::runtime::http::detail
