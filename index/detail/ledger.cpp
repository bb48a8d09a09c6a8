// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/index/detail/ledger.hpp>

#include <algorithm>
#include <queue>

namespace atelier::index::detail {

using planning::nirvana::cached_entry;

namespace {

uint64_t number_at(const planning::nirvana::eviction_place& x) {
  return std::get<3>(x);
}

} // namespace

/// The tenants whose first entries may leave, as a heap: a tenant's next entry
/// follows when its first one has left.
class ledger::leaving {
public:
  /// Adds a tenant, which keeps `floor`.
  void add(const tenant& x, uint64_t floor) {
    from_.push({x.order.begin(), &x, x.weight, floor});
  }

  /// Adds a tenant that keeps nothing, without the entries before `first`.
  void add_from(const tenant& x, std::set<place>::const_iterator first) {
    if (first != x.order.end())
      from_.push({first, &x, x.weight, 0});
  }

  /// Returns the place of the next entry, or null if none may leave.
  const place* next() const {
    return from_.empty() ? nullptr : &*from_.top().first;
  }

  /// Lets the next entry leave.
  void take(const ledger& from) {
    auto x = from_.top();
    from_.pop();
    x.weight -= from.weight_at(*x.first);
    if (++x.first != x.of->order.end()
        && x.weight - from.weight_at(*x.first) >= x.floor)
      from_.push(x);
  }

private:
  struct candidate {
    std::set<place>::const_iterator first;
    const tenant* of = nullptr;
    uint64_t weight = 0;
    uint64_t floor = 0;

    friend bool operator<(const candidate& a, const candidate& b) {
      return *a.first > *b.first;
    }
  };

  std::priority_queue<candidate> from_;
};

ledger::ledger(budget most) : most_(most) {
  ATELIER_EXPECTS(core::is_server_rule(most_.rule),
                  "a server's cache knows its rule");
}

ledger::place ledger::place_of(uint64_t number, const item& x) const {
  // The numbers of entries rise.
  return planning::nirvana::place_of(
    cached_entry{number, x.uses.saved_steps, number, x.uses.last}, most_.rule);
}

uint64_t ledger::bytes_at(const place& x) const {
  return by_number_.at(number_at(x)).bytes;
}

uint64_t ledger::weight_of(uint64_t bytes) const {
  return std::max(bytes, most_.bytes / std::max<uint64_t>(most_.entries, 1));
}

uint64_t ledger::weight_at(const place& x) const {
  return weight_of(bytes_at(x));
}

uint64_t ledger::rest_of(const tenant& x) const {
  return x.weight - weight_at(*x.order.begin());
}

void ledger::list(const tenant& x) {
  const auto rest = rest_of(x);
  by_rest_.emplace(rest, x.id);
  if (rest >= floor_)
    givers_.emplace(*x.order.begin(), x.id);
}

void ledger::unlist(const tenant& x) {
  by_rest_.erase({rest_of(x), x.id});
  givers_.erase({*x.order.begin(), x.id});
}

void ledger::set_floor() {
  const auto floor = floor_bytes(tenants_.size());
  const auto [low, high] = std::minmax(floor, floor_);
  const auto end = by_rest_.lower_bound({high, {}});
  for (auto x = by_rest_.lower_bound({low, {}}); x != end; ++x) {
    const std::pair first{*tenants_.at(x->second).order.begin(), x->second};
    if (floor < floor_)
      givers_.insert(first);
    else
      givers_.erase(first);
  }
  floor_ = floor;
}

void ledger::add(uint64_t number, core::tenant_id whose, uint64_t bytes,
                 entry_uses uses) {
  const auto [at, is_new] =
    by_number_.emplace(number, item{whose, bytes, uses});
  ATELIER_EXPECTS(is_new, "an entry's number is new");
  const auto [found, is_new_tenant] = tenants_.try_emplace(whose);
  auto& of = found->second;
  if (is_new_tenant) {
    of.id = whose;
    set_floor();
  } else {
    unlist(of);
  }
  of.order.insert(place_of(number, at->second));
  of.bytes += bytes;
  of.weight += weight_of(bytes);
  bytes_ += bytes;
  list(of);
}

template <class Change>
void ledger::change(uint64_t number, Change how) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end())
    return;
  auto& x = found->second;
  auto& of = tenants_.at(x.whose);
  unlist(of);
  auto node = of.order.extract(place_of(number, x));
  how(x.uses);
  node.value() = place_of(number, x);
  of.order.insert(std::move(node));
  list(of);
}

void ledger::use(uint64_t number, uint64_t last) {
  change(number, [&](entry_uses& x) { x.last = last; });
}

void ledger::save(uint64_t number, uint64_t steps) {
  change(number, [&](entry_uses& x) { x.saved_steps += steps; });
}

const entry_uses* ledger::uses_of(uint64_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : &found->second.uses;
}

void ledger::remove(uint64_t number) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end())
    return;
  const auto& x = found->second;
  auto& of = tenants_.at(x.whose);
  unlist(of);
  of.order.erase(place_of(number, x));
  of.bytes -= x.bytes;
  of.weight -= weight_of(x.bytes);
  bytes_ -= x.bytes;
  if (of.order.empty()) {
    tenants_.erase(x.whose);
    set_floor();
  } else {
    list(of);
  }
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
  if (most_.parts > 0) {
    auto own = room_in_part(whose, bytes);
    if (!own)
      return std::nullopt;
    out = std::move(*own);
    for (const auto x : out)
      left -= by_number_.at(x).bytes;
    return fits() ? std::optional{std::move(out)} : std::nullopt;
  }
  if (fits())
    return out;
  leaving from;
  auto floor = floor_;
  if (const auto own = tenants_.find(whose); own != tenants_.end()) {
    from.add(own->second, 0);
  } else {
    floor = floor_bytes(tenants_.size() + 1);
    const auto end = by_rest_.lower_bound({floor_, {}});
    for (auto x = by_rest_.lower_bound({floor, {}}); x != end; ++x)
      from.add(tenants_.at(x->second), floor);
  }
  auto giver = givers_.begin();
  while (!fits()) {
    // The next giver joins when its first entry may be the next to leave.
    const auto* next = from.next();
    for (; giver != givers_.end() && (next == nullptr || giver->first < *next);
         ++giver)
      if (giver->second != whose) {
        from.add(tenants_.at(giver->second), floor);
        next = from.next();
      }
    if (next == nullptr)
      return std::nullopt;
    out.push_back(number_at(*next));
    left -= bytes_at(*next);
    from.take(*this);
  }
  return out;
}

std::optional<std::vector<uint64_t>> ledger::room_in_part(
  core::tenant_id whose, uint64_t bytes) const {
  const auto most_bytes = most_.bytes / most_.parts;
  const auto most_entries = most_.entries / most_.parts;
  if (bytes > most_bytes || most_entries == 0)
    return std::nullopt;
  std::vector<uint64_t> out;
  const auto found = tenants_.find(whose);
  if (found == tenants_.end())
    return out;
  const auto& own = found->second;
  auto left = own.bytes;
  for (auto x = own.order.begin();
       left > most_bytes - bytes
       || own.order.size() - out.size() >= most_entries;
       ++x) {
    left -= bytes_at(*x);
    out.push_back(number_at(*x));
  }
  return out;
}

std::vector<uint64_t> ledger::excess() const {
  std::vector<uint64_t> out;
  auto left = bytes_;
  leaving from;
  for (const auto& [id, x] : tenants_) {
    auto first = x.order.begin();
    if (most_.parts > 0)
      for (auto own = x.bytes, count = uint64_t{x.order.size()};
           own > most_.bytes / most_.parts
           || count > most_.entries / most_.parts;
           ++first, --count) {
        own -= bytes_at(*first);
        left -= bytes_at(*first);
        out.push_back(number_at(*first));
      }
    from.add_from(x, first);
  }
  while (left > most_.bytes || entries() - out.size() > most_.entries) {
    const auto* const next = from.next();
    out.push_back(number_at(*next));
    left -= bytes_at(*next);
    from.take(*this);
  }
  return out;
}

} // namespace atelier::index::detail
