// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/jobs.hpp>

#include <cstddef>
#include <deque>
#include <set>
#include <string>

namespace atelier::runtime::http::detail {

/// The names of jobs that were here, the last ones.
/// Threads: one at a time.
class forgotten_names {
public:
  explicit forgotten_names(size_t most) : most_(most) {}

  void remember(const job_name& name);

  bool contains(const job_name& name) const {
    return names_.contains(name);
  }

  /// Whosever it was.
  bool contains(const std::string& id) const {
    const auto i = names_.lower_bound({id});
    return i != names_.end() && i->id == id;
  }

private:
  const size_t most_;
  std::set<job_name> names_;
  /// Refers to the names, oldest first.
  std::deque<std::set<job_name>::const_iterator> order_;
};

} // namespace atelier::runtime::http::detail
