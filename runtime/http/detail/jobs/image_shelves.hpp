// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace atelier::runtime::http::detail {

/// Accounts for kept images: the weight of each job's images in memory and in
/// files, and which were least recently requested. If a limit is exceeded,
/// names the job to remove, whose owner holds the most there; the caller then
/// forgets it. Threads: one at a time.
class image_shelves {
public:
  image_shelves(uint64_t most_bytes, uint64_t most_disk_bytes)
    : in_memory_{most_bytes, 0, {}}, on_disk_{most_disk_bytes, 0, {}} {}

  /// Keeps images in memory that will be moved into files.
  /// @param job its number
  /// @param owner the name of its API key
  /// @pre nothing is kept of it, and bytes > 0
  void keep(uint64_t job, uint64_t bytes, core::time_point now,
            const std::string& owner = {});

  /// Keeps images that are in files.
  /// @pre nothing is kept of it, and disk_bytes > 0
  void keep_in_files(uint64_t job, uint64_t disk_bytes, core::time_point now,
                     const std::string& owner = {});

  bool keeps(uint64_t job) const {
    return shares_.contains(job);
  }

  /// Says that its images were requested.
  void use(uint64_t job, core::time_point now);

  /// Says that an image was moved from memory into a file.
  /// @param bytes its weight in memory
  /// @pre it keeps images
  void move_into_file(uint64_t job, uint64_t bytes, uint64_t disk_bytes);

  /// Says that all its images that can be in files are.
  void store_no_more(uint64_t job) {
    unstored_.erase(job);
  }

  /// Returns whether images of it must still be moved into files.
  bool is_unstored(uint64_t job) const {
    return unstored_.contains(job);
  }

  /// Returns jobs whose images were not yet moved into files, oldest first.
  std::vector<uint64_t> unstored() const {
    return {unstored_.begin(), unstored_.end()};
  }

  /// Forgets the images of a job. Returns false if none were kept.
  bool forget(uint64_t job);

  /// Returns the job to remove from memory; none if all fit.
  std::optional<uint64_t> over_memory() const;

  /// Returns whether this job's files could ever fit with `disk_bytes` more.
  bool could_store(uint64_t job, uint64_t disk_bytes) const;

  /// Returns the job to remove from files until more fits there; none if it
  /// does.
  /// @param but a job that stays, and whose owner asks for more
  std::optional<uint64_t> over_disk(uint64_t more_disk_bytes = 0,
                                    uint64_t but = 0) const;

  /// Returns the number of jobs whose images are kept.
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
  /// The images that one job keeps.
  struct share {
    std::string owner;
    /// When its images were last kept or requested.
    core::time_point used;
    uint64_t bytes = 0;
    uint64_t disk_bytes = 0;
  };

  /// The images of one owner that count against one limit.
  struct holding {
    uint64_t held = 0;
    /// The jobs with images here, by time of last use.
    std::set<std::pair<core::time_point, uint64_t>> jobs;
  };

  /// The images that count against one limit.
  struct shelf {
    uint64_t most = 0;
    uint64_t held = 0;
    /// The owners with images here.
    std::map<std::string, holding> owners;
  };

  static void put_on(shelf& to, uint64_t job, share& x, uint64_t share::*part,
                     uint64_t bytes);
  static void take_from(shelf& from, uint64_t job, share& x,
                        uint64_t share::*part, uint64_t bytes);
  /// Returns the least recently requested job of the owner that holds the most.
  std::optional<uint64_t> next_to_go(const shelf& from, uint64_t more = 0,
                                     uint64_t but = 0) const;

  std::map<uint64_t, share> shares_;
  shelf in_memory_;
  shelf on_disk_;
  std::set<uint64_t> unstored_;
};

} // namespace atelier::runtime::http::detail
