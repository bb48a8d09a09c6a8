// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/jobs/job_table.hpp>
#include <atelier/runtime/http/result_files.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace atelier::runtime::http::detail {

/// Moves the images of ended jobs from memory into files, and reads them there.
/// An image leaves memory only once its file is written, and a file goes once
/// its image is no longer kept. Without files, images stay in memory.
/// Threads: any, without the lock, except for `restore`; `store` by one at a
/// time. All wait for the disk.
class image_storage {
public:
  /// @param lock guards the jobs; both outlive this object
  /// @param files null: all images stay in memory
  /// @param stored is called with the lock for each job all of whose images
  ///        that can be in files are
  image_storage(std::mutex& lock, job_table& table,
                std::shared_ptr<const result_files> files,
                std::function<void(const job_entry&)> stored);

  /// Moves the images of ended jobs into files, until the disk fails: then the
  /// others stay in memory. A failure is logged once until the disk works
  /// again.
  void store();

  /// Removes the files of images that are no longer kept.
  void remove_dropped();

  /// Returns the view with the bytes of all its images. If the file of one is
  /// missing, the view says that they expired.
  /// @param job the number of the job
  job_view with_bytes(uint64_t job, job_view x) const;

  /// Returns the sizes of the files of all its images in bytes, by index; 0 for
  /// a missing image.
  std::vector<uint64_t> sizes(uint64_t job, const job_view& x) const;

  /// Enters the images of a job that a previous server ended: those whose files
  /// are there. A completed job that lacks one has expired, with all its files.
  /// Returns the weight of its files. Must be called with the lock.
  uint64_t restore(
    job_entry& x,
    const std::vector<std::shared_ptr<const generated_image>>& images) const;

private:
  /// Returns false if the disk fails.
  bool store(const std::shared_ptr<job_entry>& x);
  bool write(uint64_t job, uint32_t index, const generated_image& what);

  std::mutex& lock_;
  job_table& table_;
  const std::shared_ptr<const result_files> files_;
  const std::function<void(const job_entry&)> stored_;
  /// A failure of the disk was logged. Only `store` uses it.
  bool disk_fails_ = false;
};

} // namespace atelier::runtime::http::detail
