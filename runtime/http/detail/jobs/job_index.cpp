// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/runtime/http/detail/jobs/job_index.hpp>

#include <algorithm>

namespace atelier::runtime::http::detail {

void job_index::add(const std::shared_ptr<job_entry>& x) {
  ATELIER_EXPECTS(!by_name_.contains(name_of(x->known)),
                  "a job's name is free");
  by_name_.emplace(name_of(x->known), x);
  by_number_.emplace(x->number, x);
  last_number_ = std::max(last_number_, x->number);
  if (!x->idempotency_key.empty())
    twins_.emplace(std::pair{x->known.owner, x->idempotency_key}, x);
}

std::shared_ptr<job_entry> job_index::remove(uint64_t number) {
  const auto i = by_number_.find(number);
  if (i == by_number_.end())
    return nullptr;
  auto x = std::move(i->second);
  by_number_.erase(i);
  by_name_.erase(name_of(x->known));
  if (!x->idempotency_key.empty())
    twins_.erase({x->known.owner, x->idempotency_key});
  return x;
}

std::shared_ptr<job_entry> job_index::find(const job_name& name) const {
  const auto i = by_name_.find(name);
  return i == by_name_.end() ? nullptr : i->second;
}

std::shared_ptr<job_entry> job_index::find(uint64_t number) const {
  const auto i = by_number_.find(number);
  return i == by_number_.end() ? nullptr : i->second;
}

std::vector<std::shared_ptr<job_entry>> job_index::find_all(
  const std::string& id) const {
  std::vector<std::shared_ptr<job_entry>> out;
  for (auto i = by_name_.lower_bound({id});
       i != by_name_.end() && i->first.id == id; ++i)
    out.push_back(i->second);
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a->number > b->number; });
  return out;
}

std::shared_ptr<job_entry> job_index::find_twin(const std::string& owner,
                                                const std::string& key) const {
  const auto i = twins_.find({owner, key});
  return i == twins_.end() ? nullptr : i->second;
}

} // namespace atelier::runtime::http::detail
