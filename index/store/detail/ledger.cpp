// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/index/store/detail/ledger.hpp>

#include <algorithm>

namespace atelier::index::detail {

ledger::ledger(budget most) : most_(most) {}

void ledger::add(uint64_t number, core::tenant_id whose, uint64_t bytes,
                 uint64_t used) {
  ATELIER_EXPECTS(!by_number_.contains(number), "an entry's number is new");
  auto& of = tenants_[whose];
  of.items.push_back({number, bytes, used});
  of.bytes += bytes;
  bytes_ += bytes;
  by_number_.emplace(number, place{whose, std::prev(of.items.end())});
}

void ledger::use(uint64_t number, uint64_t used) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end())
    return;
  auto& items = tenants_.at(found->second.whose).items;
  found->second.at->used = used;
  items.splice(items.end(), items, found->second.at);
}

void ledger::remove(uint64_t number) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end())
    return;
  const auto of = tenants_.find(found->second.whose);
  const auto bytes = found->second.at->bytes;
  of->second.bytes -= bytes;
  bytes_ -= bytes;
  of->second.items.erase(found->second.at);
  if (of->second.items.empty())
    tenants_.erase(of);
  by_number_.erase(found);
}

uint64_t ledger::floor_bytes(uint64_t tenants) const {
  const auto reserved =
    static_cast<uint64_t>(most_.floor * static_cast<double>(most_.bytes));
  return reserved / std::max<uint64_t>(tenants, 1);
}

std::optional<std::vector<uint64_t>> ledger::room_for(core::tenant_id whose,
                                                      uint64_t bytes,
                                                      uint64_t beside) const {
  if (most_.entries == 0 || beside > most_.bytes
      || bytes > most_.bytes - beside)
    return std::nullopt;
  const auto most_others = most_.bytes - beside - bytes;
  std::vector<uint64_t> out;
  auto left = bytes_;
  const auto fits = [&] {
    return left <= most_others && entries() - out.size() < most_.entries;
  };
  if (fits())
    return out;

  struct candidate {
    core::tenant_id of;
    std::list<item>::const_iterator next;
    std::list<item>::const_iterator end;
    uint64_t bytes = 0;
  };

  std::vector<candidate> from;
  for (const auto& [of, x] : tenants_)
    from.push_back({of, x.items.begin(), x.items.end(), x.bytes});
  const auto floor =
    floor_bytes(tenants_.size() + (tenants_.contains(whose) ? 0 : 1));
  while (!fits()) {
    candidate* oldest = nullptr;
    for (auto& x : from) {
      const bool may_leave =
        x.next != x.end && (x.of == whose || x.bytes - x.next->bytes >= floor);
      if (may_leave && (oldest == nullptr || x.next->used < oldest->next->used))
        oldest = &x;
    }
    if (oldest == nullptr)
      return std::nullopt;
    out.push_back(oldest->next->number);
    oldest->bytes -= oldest->next->bytes;
    left -= oldest->next->bytes;
    ++oldest->next;
  }
  return out;
}

std::vector<uint64_t> ledger::excess() const {
  std::vector<item> all;
  for (const auto& [of, x] : tenants_)
    all.insert(all.end(), x.items.begin(), x.items.end());
  std::sort(all.begin(), all.end(),
            [](const item& a, const item& b) { return a.used < b.used; });
  std::vector<uint64_t> out;
  auto left = bytes_;
  for (const auto& x : all) {
    if (left <= most_.bytes && all.size() - out.size() <= most_.entries)
      break;
    left -= x.bytes;
    out.push_back(x.number);
  }
  return out;
}

} // namespace atelier::index::detail
