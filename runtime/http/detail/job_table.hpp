// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/forgotten_names.hpp>
#include <atelier/runtime/http/detail/job_entry.hpp>
#include <atelier/runtime/http/detail/job_index.hpp>
#include <atelier/runtime/http/detail/picture_shelves.hpp>
#include <atelier/runtime/http/detail/waiting_line.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace atelier::runtime::http::detail {

/// What a kept picture counts as: its file, and something for what is known of
/// it.
uint64_t weight_of_file(uint64_t bytes);

/// Where jobs are found: by name, by age, by their place in the queue, by when
/// they ended. Holds no more than its limits say. Owns the parts that know one
/// of these each, and makes the transitions that touch several of them.
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

  /// Those of this id, whosever they are, the newest first.
  std::vector<std::shared_ptr<job_entry>> find_all(
    const std::string& id) const {
    return index_.find_all(id);
  }

  /// Null where it is not known (any more).
  std::shared_ptr<job_entry> find(uint64_t number) const {
    return index_.find(number);
  }

  /// The job that this owner handed in with this idempotency key.
  std::shared_ptr<job_entry> find_twin(const std::string& owner,
                                       const std::string& key) const {
    return index_.find_twin(owner, key);
  }

  /// Forgets the job that ended first where there are as many as may be. False
  /// where all of them are open.
  bool make_room();

  /// Enters one that waits.
  /// @pre there is room, and its name is free
  void add(const std::shared_ptr<job_entry>& x);

  /// Its place among those that wait; 0 where it does not.
  uint32_t position(const job_entry& x) const {
    return waiting_.position(x.priority, x.number);
  }

  /// It waits no longer.
  void begin(const job_entry& x) {
    waiting_.leave(x.priority, x.number);
  }

  /// It ended: its pictures count as kept from now on.
  /// @pre its state says so
  void end(const std::shared_ptr<job_entry>& x);

  /// Enters one that ended, whose pictures are in files.
  /// @pre its state says so, and its name is free
  /// @param disk_bytes what its pictures count there
  void restore(const std::shared_ptr<job_entry>& x, uint64_t disk_bytes);

  void remove(const job_entry& x);

  /// Its pictures were asked for.
  void use(const job_entry& x, core::time_point now) {
    shelves_.use(x.number, now);
  }

  /// Jobs whose kept pictures were not brought into files yet, oldest first.
  std::vector<std::shared_ptr<job_entry>> unstored() const;

  /// Drops pictures in files until one of `x` more finds room there. False
  /// where it never will, or the job keeps no pictures (any more).
  bool make_disk_room(const job_entry& x, const picture& more);

  /// A picture is in a file: its bytes go. False where its job keeps none (any
  /// more): then its file is of no use.
  bool stored(job_entry& x, uint32_t index);

  /// What of it can be in files is.
  void store_no_more(const job_entry& x) {
    shelves_.store_no_more(x.number);
  }

  /// Returns the pictures in files that are kept no longer since the last call,
  /// by their jobs' numbers and their indices.
  std::vector<std::pair<uint64_t, uint32_t>> take_dropped();

  /// Whether pictures of it are still to be brought into files.
  bool is_unstored(const job_entry& x) const {
    return shelves_.is_unstored(x.number);
  }

  /// Returns the numbers of jobs in the journal that were forgotten since the
  /// last call.
  std::vector<uint64_t> take_forgotten();

  /// Returns jobs in the journal whose pictures expired since the last call.
  std::vector<std::shared_ptr<job_entry>> take_expired();

  /// Remembers the name of a job that was here.
  void remember(const job_name& name) {
    forgotten_.remember(name);
  }

  /// Forgets what is kept for longer than may be.
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

  /// Jobs with pictures that count as kept.
  size_t keeping() const {
    return shelves_.jobs();
  }

  uint64_t kept_bytes() const {
    return shelves_.bytes();
  }

  uint64_t kept_disk_bytes() const {
    return shelves_.disk_bytes();
  }

  /// Newest first.
  const std::map<uint64_t, std::shared_ptr<job_entry>, std::greater<>>& all()
    const {
    return index_.all();
  }

  /// Returns the first contradiction between the parts; empty where there is
  /// none.
  std::string check() const;

private:
  void forget_pictures(const job_entry& x);
  void drop_pictures(uint64_t number);

  const job_limits within_;
  job_index index_;
  waiting_line waiting_;
  /// By when they ended, then by number.
  std::map<std::pair<core::time_point, uint64_t>, std::shared_ptr<job_entry>>
    ended_;
  /// Of jobs that ended.
  picture_shelves shelves_;
  forgotten_names forgotten_;
  // What happened since somebody asked.
  std::vector<std::pair<uint64_t, uint32_t>> dropped_;
  std::vector<uint64_t> removed_;
  std::vector<std::shared_ptr<job_entry>> expired_;
};

} // namespace atelier::runtime::http::detail
