// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/job_queries.hpp>

#include <algorithm>

namespace atelier::runtime::http::detail {

std::variant<job_view, failure> job_queries::outcome(const job_entry& x) const {
  if (x.journal.refusal())
    return *x.journal.refusal();
  return view(x);
}

std::optional<job_view> job_queries::find(const job_name& name) const {
  const auto x = table_.find(name);
  if (!x)
    return std::nullopt;
  return view(*x);
}

std::vector<job_view> job_queries::find_all(const std::string& id) const {
  std::vector<job_view> found;
  for (const auto& x : table_.find_all(id))
    found.push_back(view(*x));
  return found;
}

std::optional<std::vector<job_view>> job_queries::list_after(
  const job_name& name, const std::optional<std::string>& owner,
  size_t most) const {
  const auto x = table_.find(name);
  if (!x)
    return std::nullopt;
  return list_from(table_.all().upper_bound(x->number), owner, most);
}

std::vector<job_view> job_queries::list_from(
  by_age::const_iterator i, const std::optional<std::string>& owner,
  size_t most) const {
  std::vector<job_view> found;
  for (; i != table_.all().end() && found.size() != most; ++i)
    if (!owner || i->second->known.owner == *owner)
      found.push_back(view(*i->second));
  return found;
}

std::optional<job_view> job_queries::find_open(
  const std::string& owner, std::span<const std::string_view> kinds) const {
  std::shared_ptr<job_entry> waiting;
  for (const auto& x : table_.open_of(owner)) {
    if (std::ranges::find(kinds, x->known.kind) == kinds.end())
      continue;
    if (x->known.state == job_state::running)
      return view(*x);
    if (!waiting)
      waiting = x;
  }
  if (!waiting)
    return std::nullopt;
  return view(*waiting);
}

} // namespace atelier::runtime::http::detail
