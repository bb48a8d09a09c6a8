// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/detail/ledger.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace atelier::test {

/// A model of the ledger that scans all entries each time.
struct plain_ledger {
  struct entry {
    uint64_t number = 0;
    core::tenant_id whose;
    uint64_t bytes = 0;
    uint64_t used = 0;
    uint64_t saved_steps = 0;
  };

  index::detail::budget most;
  std::vector<entry> entries = {};

  uint64_t bytes_of(core::tenant_id whose) const {
    uint64_t out = 0;
    for (const auto& x : entries)
      out += x.whose == whose ? x.bytes : 0;
    return out;
  }

  uint64_t weight_of(const entry& x) const {
    return std::max(x.bytes, most.bytes / std::max<uint64_t>(most.entries, 1));
  }

  uint64_t weight_of(core::tenant_id whose) const {
    uint64_t out = 0;
    for (const auto& x : entries)
      out += x.whose == whose ? weight_of(x) : 0;
    return out;
  }

  uint64_t count_of(core::tenant_id whose) const {
    return static_cast<uint64_t>(std::ranges::count(
      entries, whose, [](const entry& x) { return x.whose; }));
  }

  /// The same where the budget is divided.
  std::optional<std::vector<uint64_t>> room_in_part(core::tenant_id whose,
                                                    uint64_t bytes,
                                                    uint64_t beside) const {
    const auto most_bytes = most.bytes / most.parts;
    const auto most_entries = most.entries / most.parts;
    auto left = *this;
    std::vector<uint64_t> out;
    while (left.bytes_of(whose) + bytes > most_bytes
           || left.count_of(whose) >= most_entries) {
      const auto victim =
        std::ranges::find_if(left.entries, [&](const auto& x) {
          return x.whose == whose && left.is_first_of_its_tenant(x);
        });
      if (victim == left.entries.end())
        return std::nullopt;
      out.push_back(victim->number);
      left.remove(out.back());
    }
    if (left.bytes() + bytes + beside > most.bytes
        || left.entries.size() >= most.entries)
      return std::nullopt;
    return out;
  }

  uint64_t bytes() const {
    uint64_t out = 0;
    for (const auto& x : entries)
      out += x.bytes;
    return out;
  }

  bool leaves_before(const entry& a, const entry& b) const {
    switch (most.rule) {
      case core::eviction_rule::fifo:
        return a.number < b.number;
      case core::eviction_rule::lcbfu:
        if (a.saved_steps != b.saved_steps)
          return a.saved_steps < b.saved_steps;
        [[fallthrough]];
      default:
        return a.used < b.used;
    }
  }

  bool is_first_of_its_tenant(const entry& x) const {
    return std::ranges::none_of(entries, [&](const entry& y) {
      return y.whose == x.whose && leaves_before(y, x);
    });
  }

  void use(uint64_t number, uint64_t clock, uint64_t steps) {
    for (auto& x : entries)
      if (x.number == number) {
        x.used = clock;
        x.saved_steps += steps;
      }
  }

  /// Returns whether the entry existed.
  bool remove(uint64_t number) {
    return std::erase_if(entries,
                         [&](const entry& x) { return x.number == number; })
         > 0;
  }

  std::optional<std::vector<uint64_t>> room_for(core::tenant_id whose,
                                                uint64_t bytes,
                                                uint64_t beside) const {
    if (bytes + beside > most.bytes || most.entries == 0)
      return std::nullopt;
    if (most.parts > 0)
      return room_in_part(whose, bytes, beside);
    std::set<core::tenant_id> tenants{whose};
    for (const auto& x : entries)
      tenants.insert(x.whose);
    const auto floor =
      static_cast<uint64_t>(most.floor * static_cast<double>(most.bytes))
      / tenants.size();
    auto left = *this;
    std::vector<uint64_t> out;
    while (left.bytes() + bytes + beside > most.bytes
           || left.entries.size() >= most.entries) {
      const entry* victim = nullptr;
      for (const auto& x : left.entries)
        if (left.is_first_of_its_tenant(x)
            && (x.whose == whose
                || left.weight_of(x.whose) - weight_of(x) >= floor)
            && (victim == nullptr || leaves_before(x, *victim)))
          victim = &x;
      if (victim == nullptr)
        return std::nullopt;
      out.push_back(victim->number);
      left.remove(out.back());
    }
    return out;
  }
};

} // namespace atelier::test
