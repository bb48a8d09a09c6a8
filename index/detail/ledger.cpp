// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/index/detail/ledger.hpp>

#include <algorithm>
#include <queue>

namespace atelier::index::detail {

using planning::nirvana::cached_unit;

namespace {

uint64_t number_at(const planning::nirvana::eviction_place& x) {
  return std::get<3>(x);
}

uint32_t steps_at(const planning::nirvana::eviction_place& x) {
  return std::get<2>(x);
}

} // namespace

uint64_t ledger_entry::bytes() const {
  auto out = overhead;
  for (const auto& x : parts)
    out += x.bytes;
  return out;
}

/// The units that leave, one after another. The ledger does not change.
class ledger::departure {
public:
  explicit departure(const ledger& from) : from_(from), bytes_(from.bytes_) {}

  /// Returns how many bytes leave with a unit: those of its entry, too, if it
  /// is the last one.
  uint64_t bytes_with(const place& x) const {
    const auto rest = rest_of(x);
    return rest.units == 1 ? rest.bytes : part_bytes(x);
  }

  /// Returns the same as it counts towards a floor.
  uint64_t weight_with(const place& x) const {
    const auto rest = rest_of(x);
    const auto before = from_.weight_of(rest.bytes);
    return rest.units == 1
           ? before
           : before - from_.weight_of(rest.bytes - part_bytes(x));
  }

  /// Returns whether the unit is the last one of its entry.
  bool is_last(const place& x) const {
    return rest_of(x).units == 1;
  }

  void take(const place& x) {
    const auto [at, is_first] = rest_.try_emplace(number_at(x), rest_of(x));
    const auto gone = bytes_with(x);
    ++units_;
    bytes_ -= gone;
    at->second.bytes -= gone;
    if (is_first) {
      victims_at_.emplace(number_at(x), victims_.size());
      victims_.push_back({number_at(x)});
    }
    auto& of = victims_[victims_at_.at(number_at(x))];
    of.steps.push_back(steps_at(x));
    if (--at->second.units == 0) {
      of.steps.clear();
      ++entries_gone_;
    }
  }

  /// Returns the number of units that left.
  size_t units() const {
    return units_;
  }

  /// The bytes and entries that stay.
  uint64_t bytes() const {
    return bytes_;
  }

  uint64_t entries() const {
    return from_.entries() - entries_gone_;
  }

  std::vector<victim> victims() && {
    return std::move(victims_);
  }

private:
  /// The bytes and units of an entry that stay.
  struct remainder {
    uint64_t bytes = 0;
    size_t units = 0;
  };

  remainder rest_of(const place& x) const {
    if (const auto at = rest_.find(number_at(x)); at != rest_.end())
      return at->second;
    const auto& whole = from_.by_number_.at(number_at(x));
    return {whole.bytes(), from_.is_by_payload() ? whole.parts.size() : 1};
  }

  uint64_t part_bytes(const place& x) const {
    const auto& parts = from_.by_number_.at(number_at(x)).parts;
    return std::ranges::find(parts, steps_at(x), &ledger_part::steps)->bytes;
  }

  const ledger& from_;
  uint64_t bytes_ = 0;
  uint64_t entries_gone_ = 0;
  size_t units_ = 0;
  std::unordered_map<uint64_t, remainder> rest_;
  std::vector<victim> victims_;
  std::unordered_map<uint64_t, size_t> victims_at_;
};

/// The tenants whose first units may leave, as a heap: a tenant's next unit
/// follows when its first one has left.
class ledger::queue {
public:
  explicit queue(departure& out) : out_(out) {}

  /// Adds a tenant, which keeps `floor` if it has one.
  void add(const tenant& x, uint64_t floor) {
    from_.push({x.order.begin(), &x, x.weight, x.id ? floor : 0});
  }

  /// Adds a tenant that keeps nothing, without the units before `first`.
  void add_from(const tenant& x, std::set<place>::const_iterator first) {
    if (first != x.order.end())
      from_.push({first, &x, x.weight, 0});
  }

  /// Returns the place of the next unit, or null if none may leave.
  const place* next() const {
    return from_.empty() ? nullptr : &*from_.top().first;
  }

  /// Lets the next unit leave.
  void take() {
    auto x = from_.top();
    from_.pop();
    x.weight -= std::min(x.weight, out_.weight_with(*x.first));
    out_.take(*x.first);
    if (++x.first == x.of->order.end())
      return;
    const auto next = out_.weight_with(*x.first);
    if (x.floor == 0 || (x.weight >= next && x.weight - next >= x.floor))
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

  departure& out_;
  std::priority_queue<candidate> from_;
};

ledger::ledger(budget most) : most_(most) {
  ATELIER_EXPECTS(core::is_server_rule(most_.rule),
                  "a server's cache knows its rule");
}

bool ledger::is_by_payload() const {
  return planning::nirvana::is_by_payload(most_.rule);
}

std::vector<ledger::place> ledger::places_of(uint64_t number,
                                             const ledger_entry& x) const {
  // The numbers of entries rise.
  const auto unit_place = [&](uint32_t steps, const entry_uses& uses) {
    return planning::nirvana::place_of(
      cached_unit{number, steps, uses.saved_steps, number, uses.last},
      most_.rule);
  };
  if (!is_by_payload())
    return {unit_place(0, x.uses)};
  std::vector<place> out;
  for (const auto& part : x.parts)
    out.push_back(unit_place(part.steps, part.uses));
  return out;
}

uint64_t ledger::weight_of(uint64_t bytes) const {
  return std::max(bytes, most_.bytes / std::max<uint64_t>(most_.entries, 1));
}

uint64_t ledger::rest_of(const tenant& x) const {
  return x.weight - departure{*this}.weight_with(*x.order.begin());
}

void ledger::list(const tenant& x) {
  const auto rest = rest_of(x);
  by_rest_.emplace(rest, x.id);
  if (!x.id || rest >= floor_)
    givers_.emplace(*x.order.begin(), x.id);
}

void ledger::unlist(const tenant& x) {
  by_rest_.erase({rest_of(x), x.id});
  givers_.erase({*x.order.begin(), x.id});
}

uint64_t ledger::floors() const {
  return tenants_.size() - tenants_.count(std::nullopt);
}

void ledger::set_floor() {
  const auto floor = floor_bytes(floors());
  const auto [low, high] = std::minmax(floor, floor_);
  const auto end = by_rest_.lower_bound({high, {}});
  for (auto x = by_rest_.lower_bound({low, {}}); x != end; ++x) {
    if (!x->second)
      continue;
    const std::pair first{*tenants_.at(x->second).order.begin(), x->second};
    if (floor < floor_)
      givers_.insert(first);
    else
      givers_.erase(first);
  }
  floor_ = floor;
}

void ledger::add(uint64_t number, ledger_entry entry) {
  ATELIER_EXPECTS(!entry.parts.empty(), "an entry has a payload");
  ATELIER_EXPECTS(!by_number_.contains(number), "an entry's number is new");
  const auto [found, is_new_tenant] = tenants_.try_emplace(entry.whose);
  auto& of = found->second;
  if (is_new_tenant) {
    of.id = entry.whose;
    set_floor();
  } else {
    unlist(of);
  }
  const auto& x = by_number_.emplace(number, std::move(entry)).first->second;
  for (const auto& at : places_of(number, x))
    of.order.insert(at);
  const auto bytes = x.bytes();
  ++of.entries;
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
  for (const auto& at : places_of(number, x))
    of.order.erase(at);
  const auto before = x.bytes();
  how(x);
  const auto after = x.bytes();
  of.bytes = of.bytes - before + after;
  of.weight = of.weight - weight_of(before) + weight_of(after);
  bytes_ = bytes_ - before + after;
  for (const auto& at : places_of(number, x))
    of.order.insert(at);
  list(of);
}

void ledger::use(uint64_t number, uint64_t last) {
  change(number, [&](ledger_entry& x) { x.uses.last = last; });
}

void ledger::save(uint64_t number, uint32_t steps, uint64_t skipped) {
  change(number, [&](ledger_entry& x) {
    const auto part = std::ranges::find(x.parts, steps, &ledger_part::steps);
    if (part == x.parts.end())
      return;
    x.uses.saved_steps += skipped;
    part->uses.last = x.uses.last;
    part->uses.saved_steps += skipped;
  });
}

const ledger_entry* ledger::find(uint64_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : &found->second;
}

void ledger::remove(uint64_t number) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end())
    return;
  const auto& x = found->second;
  auto& of = tenants_.at(x.whose);
  unlist(of);
  for (const auto& at : places_of(number, x))
    of.order.erase(at);
  const auto bytes = x.bytes();
  --of.entries;
  of.bytes -= bytes;
  of.weight -= weight_of(bytes);
  bytes_ -= bytes;
  if (of.order.empty()) {
    tenants_.erase(x.whose);
    set_floor();
  } else {
    list(of);
  }
  by_number_.erase(found);
}

void ledger::remove(uint64_t number, std::span<const uint32_t> steps) {
  change(number, [&](ledger_entry& x) {
    for (const auto each : steps)
      std::erase_if(x.parts,
                    [&](const auto& part) { return part.steps == each; });
    ATELIER_EXPECTS(!x.parts.empty(), "an entry keeps a payload");
  });
}

uint64_t ledger::floor_bytes(uint64_t tenants) const {
  const auto reserved =
    static_cast<uint64_t>(most_.floor * static_cast<double>(most_.bytes));
  return reserved / std::max<uint64_t>(tenants, 1);
}

std::optional<std::vector<victim>> ledger::room_for(core::tenant_id whose,
                                                    uint64_t bytes,
                                                    uint64_t beside) const {
  if (most_.entries == 0 || beside > most_.bytes
      || bytes > most_.bytes - beside)
    return std::nullopt;
  const auto most_others = most_.bytes - beside - bytes;
  departure out{*this};
  const auto fits = [&] {
    return out.bytes() <= most_others && out.entries() < most_.entries;
  };
  const auto own = tenants_.find(whose);
  if (most_.parts > 0) {
    if (bytes > most_.bytes / most_.parts || most_.entries < most_.parts)
      return std::nullopt;
    if (own != tenants_.end())
      leave_in_part(own->second, bytes, 1, out);
    return fits() ? std::optional{std::move(out).victims()} : std::nullopt;
  }
  if (fits())
    return std::move(out).victims();
  queue from{out};
  auto floor = floor_;
  if (own != tenants_.end()) {
    from.add(own->second, 0);
  } else {
    floor = floor_bytes(floors() + 1);
    // These give only beside the new tenant; what no tenant can find gives
    // anyway.
    const auto end = by_rest_.lower_bound({floor_, {}});
    for (auto x = by_rest_.lower_bound({floor, {}}); x != end; ++x)
      if (x->second)
        from.add(tenants_.at(x->second), floor);
  }
  auto giver = givers_.begin();
  while (!fits()) {
    // The next giver joins when its first unit may be the next to leave.
    const auto* next = from.next();
    for (; giver != givers_.end() && (next == nullptr || giver->first < *next);
         ++giver)
      if (giver->second != whose) {
        from.add(tenants_.at(giver->second), floor);
        next = from.next();
      }
    if (next == nullptr)
      return std::nullopt;
    from.take();
  }
  return std::move(out).victims();
}

void ledger::leave_in_part(const tenant& own, uint64_t bytes, uint64_t entries,
                           departure& out) const {
  const auto most_bytes = most_.bytes / most_.parts - bytes;
  const auto most_entries = most_.entries / most_.parts - entries;
  auto left = own.bytes;
  auto count = own.entries;
  for (auto x = own.order.begin(); left > most_bytes || count > most_entries;
       ++x) {
    left -= out.bytes_with(*x);
    count -= out.is_last(*x) ? 1u : 0u;
    out.take(*x);
  }
}

std::vector<victim> ledger::excess() const {
  departure out{*this};
  queue from{out};
  for (const auto& [id, x] : tenants_) {
    auto first = x.order.begin();
    if (most_.parts > 0) {
      const auto before = out.units();
      leave_in_part(x, 0, 0, out);
      std::advance(first, out.units() - before);
    }
    from.add_from(x, first);
  }
  while (out.bytes() > most_.bytes || out.entries() > most_.entries)
    from.take();
  return std::move(out).victims();
}

} // namespace atelier::index::detail
