// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/detail/hot_payloads.hpp>

#include <algorithm>

namespace atelier::index::detail {

hot_payloads::hot_payloads(uint64_t most_bytes) : most_(most_bytes) {}

payload hot_payloads::find(uint64_t entry, uint32_t steps) {
  const auto at = by_name_.find({entry, steps});
  if (at == by_name_.end())
    return nullptr;
  copies_.splice(copies_.begin(), copies_, at->second);
  return at->second->second;
}

void hot_payloads::put(uint64_t entry, uint32_t steps, payload bytes) {
  const name of{entry, steps};
  if (const auto at = by_name_.find(of); at != by_name_.end())
    take_out(at);
  const uint64_t size = bytes->size();
  if (size > most_)
    return;
  while (bytes_ > most_ - size)
    take_out(by_name_.find(copies_.back().first));
  copies_.emplace_front(of, std::move(bytes));
  by_name_.emplace(of, copies_.begin());
  bytes_ += size;
}

void hot_payloads::drop(uint64_t entry) {
  auto at = by_name_.lower_bound({entry, 0});
  while (at != by_name_.end() && at->first.first == entry)
    at = take_out(at);
}

void hot_payloads::drop(uint64_t entry, uint32_t steps) {
  if (const auto at = by_name_.find({entry, steps}); at != by_name_.end())
    take_out(at);
}

hot_payloads::place hot_payloads::take_out(place at) {
  bytes_ -= at->second->second->size();
  copies_.erase(at->second);
  return by_name_.erase(at);
}

hot_shelves::hot_shelves(uint64_t most_bytes, uint64_t parts)
  : most_(most_bytes), parts_(parts) {}

hot_payloads* hot_shelves::shelf_of(std::string_view tenant) {
  if (parts_ == 0)
    tenant = {};
  if (const auto own = shelves_.find(tenant); own != shelves_.end())
    return &own->second;
  const auto most = std::max<uint64_t>(parts_, 1);
  if (shelves_.size() == most)
    return nullptr;
  return &shelves_.emplace(std::string{tenant}, most_ / most).first->second;
}

bool hot_shelves::holds(std::string_view tenant, uint64_t entry,
                        uint32_t steps) const {
  const auto own = shelves_.find(parts_ == 0 ? std::string_view{} : tenant);
  return own != shelves_.end() && own->second.holds(entry, steps);
}

void hot_shelves::drop(std::string_view tenant, uint64_t entry) {
  change(tenant, [&](hot_payloads& x) { x.drop(entry); });
}

void hot_shelves::drop(std::string_view tenant, uint64_t entry,
                       uint32_t steps) {
  change(tenant, [&](hot_payloads& x) { x.drop(entry, steps); });
}

template <class How>
void hot_shelves::change(std::string_view tenant, How how) {
  const auto own = shelves_.find(parts_ == 0 ? std::string_view{} : tenant);
  if (own == shelves_.end())
    return;
  how(own->second);
  if (own->second.bytes() == 0)
    shelves_.erase(own);
}

} // namespace atelier::index::detail
