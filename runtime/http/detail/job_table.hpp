// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/job_entry.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace atelier::runtime::http::detail {

/// What a kept picture counts as: its file, and something for what is known of
/// it.
uint64_t weight_of_file(uint64_t bytes);

/// Where jobs are found: by name, by age, by their place in the queue, by when
/// they ended. Holds no more than its limits say.
/// Threads: one at a time.
class job_table {
public:
  explicit job_table(job_limits within)
    : within_(within),
      in_memory_{within.kept_bytes, 0, {}},
      on_disk_{within.kept_disk_bytes, 0, {}} {}

  std::shared_ptr<job_entry> find(const job_name& name) const;

  /// Those of this id, whosever they are, the newest first.
  std::vector<std::shared_ptr<job_entry>> find_all(const std::string& id) const;

  /// Null where it is not known (any more).
  std::shared_ptr<job_entry> find(uint64_t number) const;

  /// The job that this owner handed in with this idempotency key.
  std::shared_ptr<job_entry> find_twin(const std::string& owner,
                                       const std::string& key) const;

  /// Forgets the job that ended first where there are as many as may be. False
  /// where all of them are open.
  bool make_room();

  /// Enters one that waits.
  /// @pre there is room, and its name is free
  void add(const std::shared_ptr<job_entry>& x);

  /// Its place among those that wait; 0 where it does not.
  uint32_t position(const job_entry& x) const;

  /// It waits no longer.
  void begin(const job_entry& x);

  /// It ended: its pictures count as kept from now on.
  /// @pre its state says so
  void end(const std::shared_ptr<job_entry>& x);

  /// Enters one that ended, whose pictures are in files.
  /// @pre its state says so, and its name is free
  /// @param disk_bytes what its pictures count there
  void restore(const std::shared_ptr<job_entry>& x, uint64_t disk_bytes);

  void remove(const job_entry& x);

  /// Its pictures were asked for.
  void use(job_entry& x, core::time_point now);

  /// Jobs whose kept pictures were not brought into files yet, oldest first.
  std::vector<std::shared_ptr<job_entry>> unstored() const;

  /// Drops pictures in files until one of `x` more finds room there. False
  /// where it never will, or the job keeps no pictures (any more).
  bool make_disk_room(const job_entry& x, const picture& more);

  /// A picture is in a file: its bytes go. False where its job keeps none (any
  /// more): then its file is of no use.
  bool stored(job_entry& x, uint32_t index);

  /// What of it can be in files is.
  void store_no_more(const job_entry& x);

  /// Returns the pictures in files that are kept no longer since the last call,
  /// by their jobs' numbers and their indices.
  std::vector<std::pair<uint64_t, uint32_t>> take_dropped();

  /// Whether pictures of it are still to be brought into files.
  bool is_unstored(const job_entry& x) const {
    return unstored_.contains(x.number);
  }

  /// Returns the numbers of jobs in the journal that were forgotten since the
  /// last call.
  std::vector<uint64_t> take_forgotten();

  /// Returns jobs in the journal whose pictures expired since the last call.
  std::vector<std::shared_ptr<job_entry>> take_expired();

  /// Remembers the name of a job that was here.
  void remember(const job_name& name);

  /// Forgets what is kept for longer than may be.
  void expire(core::time_point now);

  bool forgotten(const job_name& name) const {
    return forgotten_.contains(name);
  }

  bool forgotten_of_anyone(const std::string& id) const {
    const auto i = forgotten_.lower_bound({id});
    return i != forgotten_.end() && i->id == id;
  }

  size_t open() const {
    return by_number_.size() - ended_.size();
  }

  /// Jobs with pictures that count as kept.
  size_t keeping() const {
    return keeping_;
  }

  uint64_t kept_bytes() const {
    return in_memory_.held;
  }

  uint64_t kept_disk_bytes() const {
    return on_disk_.held;
  }

  /// Newest first.
  const std::map<uint64_t, std::shared_ptr<job_entry>, std::greater<>>& all()
    const {
    return by_number_;
  }

private:
  /// Lower ones go first.
  using place = std::pair<uint32_t, uint64_t>;

  /// By when they were used last, then by number.
  using by_use =
    std::map<std::pair<core::time_point, uint64_t>, std::shared_ptr<job_entry>>;

  /// Pictures that count against one limit.
  struct shelf {
    uint64_t most = 0;
    uint64_t held = 0;
    by_use jobs;
  };

  static place place_of(const job_entry& x);
  static void put_on(shelf& to, const std::shared_ptr<job_entry>& x,
                     uint64_t& share, uint64_t bytes);
  static void take_from(shelf& from, const job_entry& x, uint64_t& share,
                        uint64_t bytes);
  bool keeps(const job_entry& x) const;
  void forget_pictures(job_entry& x);
  /// @pre it is known: the shelves are not its only owners
  void drop_pictures(job_entry& x);
  void enter(const std::shared_ptr<job_entry>& x);

  job_limits within_;
  std::map<job_name, std::shared_ptr<job_entry>> by_name_;
  std::map<uint64_t, std::shared_ptr<job_entry>, std::greater<>> by_number_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<job_entry>>
    twins_;
  /// Sorted: a place is found by halving, and new ones mostly come last.
  std::vector<place> waiting_;
  /// By when they ended, then by number.
  std::map<std::pair<core::time_point, uint64_t>, std::shared_ptr<job_entry>>
    ended_;
  /// Those of `ended_` that have pictures, by where they have them.
  shelf in_memory_;
  shelf on_disk_;
  size_t keeping_ = 0;
  /// By number.
  std::map<uint64_t, std::shared_ptr<job_entry>> unstored_;
  std::vector<std::pair<uint64_t, uint32_t>> dropped_;
  std::vector<uint64_t> removed_;
  std::vector<std::shared_ptr<job_entry>> expired_;
  std::set<job_name> forgotten_;
  std::deque<job_name> forgotten_order_;
};

} // namespace atelier::runtime::http::detail
