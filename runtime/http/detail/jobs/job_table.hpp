// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/jobs/forgotten_names.hpp>
#include <atelier/runtime/http/detail/jobs/image_shelves.hpp>
#include <atelier/runtime/http/detail/jobs/job_entry.hpp>
#include <atelier/runtime/http/detail/jobs/job_index.hpp>
#include <atelier/runtime/http/detail/jobs/waiting_line.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace atelier::runtime::http::detail {

/// Returns the weight of a kept image: its file, and an overhead for its
/// description.
uint64_t weight_of_file(uint64_t bytes);

/// Finds jobs by name, by age, by position in the queue, and by the time of
/// their end. Holds no more than its limits allow. Owns the parts that know one
/// of these each, and makes the transitions that affect several of them.
/// Threads: one at a time.
class job_table {
public:
  explicit job_table(job_limits within)
    : within_(within),
      shelves_{within.kept_bytes, within.kept_disk_bytes},
      forgotten_{within.jobs} {}

  std::shared_ptr<job_entry> find(const job_name& name) const {
    return index_.find(name);
  }

  /// Returns the jobs of this id of all owners, newest first.
  std::vector<std::shared_ptr<job_entry>> find_all(
    const std::string& id) const {
    return index_.find_all(id);
  }

  /// Returns the job of this number; null if it is unknown or was forgotten.
  std::shared_ptr<job_entry> find(uint64_t number) const {
    return index_.find(number);
  }

  /// Returns the number of the next job; none is ever given twice.
  uint64_t next_number() const {
    return index_.next_number();
  }

  /// Returns the job that this owner submitted with this idempotency key.
  std::shared_ptr<job_entry> find_twin(const std::string& owner,
                                       const std::string& key) const {
    return index_.find_twin(owner, key);
  }

  /// Forgets ended jobs until a new job of `owner` fits. The owner's own jobs
  /// of which nothing can be fetched go first, then those of the owner that has
  /// the most jobs, then its other jobs; of each of these the one that ended
  /// first. Open jobs, and ended ones that are not in the journal yet, stay;
  /// planning::is_granted decides what an owner may have of them beyond the
  /// limit. Returns false if it may not have another one.
  bool make_room(const std::string& owner = {});

  /// Enters a job that waits.
  /// @pre a job fits, and its name is free
  void add(const std::shared_ptr<job_entry>& x);

  /// Returns its position in the queue; 0 if it does not wait.
  uint32_t position(const job_entry& x) const {
    return waiting_.position(waiting_of(x));
  }

  /// Removes a job from the queue.
  void begin(const job_entry& x) {
    waiting_.leave(waiting_of(x));
  }

  /// Enters the end of a job: its images count as kept from now on.
  /// @pre its state says so
  void end(const std::shared_ptr<job_entry>& x);

  /// Enters an ended job whose images are in files.
  /// @pre its state says so, and its name is free
  /// @param disk_bytes the weight of its images there
  void restore(const std::shared_ptr<job_entry>& x, uint64_t disk_bytes);

  void remove(const job_entry& x);

  /// Says that its images were requested.
  void use(const job_entry& x, core::time_point now) {
    shelves_.use(x.number, now);
  }

  /// Returns jobs whose kept images were not yet moved into files, oldest
  /// first.
  std::vector<std::shared_ptr<job_entry>> unstored() const;

  /// Drops images in files until another image of `x` fits. Returns false if it
  /// never will, or if the job keeps no images (or no longer does).
  bool make_disk_room(const job_entry& x, const generated_image& more);

  /// Says that an image is in a file, and drops its bytes. Returns false if its
  /// job keeps no images (or no longer does): then its file is useless.
  bool stored(job_entry& x, uint32_t index);

  /// Says that all its images that can be in files are.
  void store_no_more(const job_entry& x) {
    shelves_.store_no_more(x.number);
  }

  /// Returns the images in files that have ceased to be kept since the last
  /// call, by their jobs' numbers and their indices.
  std::vector<std::pair<uint64_t, uint32_t>> take_dropped();

  /// Returns whether images of it must still be moved into files.
  bool is_unstored(const job_entry& x) const {
    return shelves_.is_unstored(x.number);
  }

  /// Returns the numbers of jobs in the journal that were forgotten since the
  /// last call.
  std::vector<uint64_t> take_forgotten();

  /// Returns jobs in the journal whose images expired since the last call.
  std::vector<std::shared_ptr<job_entry>> take_expired();

  /// Remembers the name of a former job.
  void remember(const job_name& name) {
    forgotten_.remember(name);
  }

  /// Forgets the jobs that ended longer ago than the limit allows, except those
  /// that are not in the journal yet.
  void expire(core::time_point now);

  bool forgotten(const job_name& name) const {
    return forgotten_.contains(name);
  }

  bool forgotten_of_anyone(const std::string& id) const {
    return forgotten_.contains(id);
  }

  size_t open() const {
    return index_.size() - ended_.size();
  }

  /// Returns the open jobs of an owner, newest first.
  std::vector<std::shared_ptr<job_entry>> open_of(
    const std::string& owner) const;

  /// Returns the number of jobs with images that count as kept.
  size_t keeping() const {
    return shelves_.jobs();
  }

  uint64_t kept_bytes() const {
    return shelves_.bytes();
  }

  uint64_t kept_disk_bytes() const {
    return shelves_.disk_bytes();
  }

  /// Returns all jobs, newest first.
  const std::map<uint64_t, std::shared_ptr<job_entry>, std::greater<>>& all()
    const {
    return index_.all();
  }

  /// Returns the first contradiction between the parts; empty if none exists.
  std::string check() const;

private:
  /// Jobs by time of their end, then by number.
  using ended_jobs =
    std::map<std::pair<core::time_point, uint64_t>, std::shared_ptr<job_entry>>;

  /// The jobs of one owner.
  struct holding {
    /// The numbers of its open jobs, newest first.
    std::set<uint64_t, std::greater<>> open;
    ended_jobs ended;
    /// The ended jobs of which nothing can be fetched: cancelled ones without
    /// images, and those whose images expired.
    ended_jobs spent;
  };

  static waiting_job waiting_of(const job_entry& x) {
    return {x.known.owner, x.priority, x.number, x.rows.size()};
  }

  /// Returns the job that ended first and is not in doubt; null if none is.
  static std::shared_ptr<job_entry> oldest_of(const ended_jobs& in);
  /// Returns the job that makes room for one of `owner`; null if none can.
  std::shared_ptr<job_entry> next_to_go(const std::string& owner) const;
  void enter_end(const std::shared_ptr<job_entry>& x);
  void forget_images(const job_entry& x);
  void drop_images(uint64_t number);

  const job_limits within_;
  job_index index_;
  waiting_line waiting_;
  ended_jobs ended_;
  std::map<std::string, holding> of_owner_;
  /// The images of ended jobs.
  image_shelves shelves_;
  forgotten_names forgotten_;
  // The events since the last query.
  std::vector<std::pair<uint64_t, uint32_t>> dropped_;
  std::vector<uint64_t> removed_;
  std::vector<std::shared_ptr<job_entry>> expired_;
};

} // namespace atelier::runtime::http::detail
