// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/jobs/job_table.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace atelier::runtime::http::detail {

/// Answers questions about the jobs of a table at one moment, and changes
/// nothing. `jobs` says what each answer means.
/// Threads: one at a time with the table's changes.
class job_queries {
public:
  /// @param of outlives this object
  job_queries(const job_table& of, core::time_point now)
    : table_(of), now_(now) {}

  job_view view(const job_entry& x) const {
    return view_of(x, table_.position(x), now_);
  }

  /// Returns the job, or why it was not accepted.
  std::variant<job_view, failure> outcome(const job_entry& x) const;

  std::optional<job_view> find(const job_name& name) const;

  std::vector<job_view> find_all(const std::string& id) const;

  bool forgotten(const job_name& name) const {
    return table_.forgotten(name);
  }

  bool forgotten_of_anyone(const std::string& id) const {
    return table_.forgotten_of_anyone(id);
  }

  std::vector<job_view> list(const std::optional<std::string>& owner,
                             size_t most) const {
    return list_from(table_.all().begin(), owner, most);
  }

  std::optional<std::vector<job_view>> list_after(
    const job_name& name, const std::optional<std::string>& owner,
    size_t most) const;

  std::optional<job_view> find_open(
    const std::string& owner, std::span<const std::string_view> kinds) const;

  size_t open() const {
    return table_.open();
  }

  jobs::kept_images kept() const {
    return {table_.keeping(), table_.kept_bytes(), table_.kept_disk_bytes()};
  }

private:
  using by_age = std::map<uint64_t, std::shared_ptr<job_entry>, std::greater<>>;

  /// Returns the owner's jobs, or those of all, from this one on.
  std::vector<job_view> list_from(by_age::const_iterator i,
                                  const std::optional<std::string>& owner,
                                  size_t most) const;

  const job_table& table_;
  const core::time_point now_;
};

} // namespace atelier::runtime::http::detail
