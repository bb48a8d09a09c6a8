// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/jobs/job_entry.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace atelier::runtime::http::detail {

/// Finds jobs by their names, their numbers and their idempotency keys. Knows
/// nothing of their states.
/// Threads: one at a time.
class job_index {
public:
  /// @pre its name and its number are free
  void add(const std::shared_ptr<job_entry>& x);

  /// Removes and returns the job of this number; null if it is unknown.
  std::shared_ptr<job_entry> remove(uint64_t number);

  std::shared_ptr<job_entry> find(const job_name& name) const;

  /// Returns the job of this number; null if it is unknown or was forgotten.
  std::shared_ptr<job_entry> find(uint64_t number) const;

  /// Returns the jobs of this id of all owners, newest first.
  std::vector<std::shared_ptr<job_entry>> find_all(const std::string& id) const;

  /// Returns the job that this owner submitted with this idempotency key.
  std::shared_ptr<job_entry> find_twin(const std::string& owner,
                                       const std::string& key) const;

  /// Returns the number after the highest one that a job had.
  uint64_t next_number() const {
    return last_number_ + 1;
  }

  size_t size() const {
    return by_number_.size();
  }

  /// Returns all jobs, newest first.
  const std::map<uint64_t, std::shared_ptr<job_entry>, std::greater<>>& all()
    const {
    return by_number_;
  }

private:
  std::map<job_name, std::shared_ptr<job_entry>> by_name_;
  std::map<uint64_t, std::shared_ptr<job_entry>, std::greater<>> by_number_;
  /// The jobs by owner and idempotency key.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<job_entry>>
    twins_;
  uint64_t last_number_ = 0;
};

} // namespace atelier::runtime::http::detail
