// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/detail/ledger.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace atelier::test {

/// Returns an entry of the ledger with one payload and that many bytes, which
/// was last used at `last`.
inline index::detail::ledger_entry sole_payload(index::detail::finder whose,
                                                uint64_t bytes, uint64_t last,
                                                uint64_t saved_steps = 0) {
  index::detail::ledger_entry out;
  out.whose = whose;
  out.uses = {last, saved_steps};
  out.parts = {{5, bytes, out.uses}};
  return out;
}

/// A model of the ledger that scans all units each time.
struct plain_ledger {
  using victims = std::vector<index::detail::victim>;

  index::detail::budget most;
  std::map<uint64_t, index::detail::ledger_entry> entries = {};

  /// An entry, or a payload of it.
  struct unit {
    uint64_t number = 0;
    index::detail::finder whose;
    uint32_t steps = 0;
    std::tuple<uint64_t, uint64_t, uint64_t> order;

    friend auto operator<=>(const unit& a, const unit& b) {
      return std::tie(a.order, a.number) <=> std::tie(b.order, b.number);
    }
  };

  bool is_by_payload() const {
    return most.rule == core::eviction_rule::lcbfu;
  }

  uint64_t bytes() const {
    uint64_t out = 0;
    for (const auto& [number, x] : entries)
      out += x.bytes();
    return out;
  }

  uint64_t weight_of(index::detail::finder whose) const {
    uint64_t out = 0;
    for (const auto& [number, x] : entries)
      if (x.whose == whose)
        out +=
          std::max(x.bytes(), most.bytes / std::max<uint64_t>(most.entries, 1));
    return out;
  }

  uint64_t bytes_of(core::tenant_id whose) const {
    uint64_t out = 0;
    for (const auto& [number, x] : entries)
      out += x.whose == whose ? x.bytes() : 0;
    return out;
  }

  uint64_t count_of(core::tenant_id whose) const {
    return static_cast<uint64_t>(std::ranges::count_if(
      entries, [&](const auto& x) { return x.second.whose == whose; }));
  }

  bool has(uint64_t number, uint32_t steps) const {
    const auto at = entries.find(number);
    return at != entries.end()
        && std::ranges::count(at->second.parts, steps,
                              &index::detail::ledger_part::steps)
             > 0;
  }

  /// Returns the unit of each tenant that leaves first.
  std::map<index::detail::finder, unit> first_units() const {
    std::map<index::detail::finder, unit> out;
    const auto consider = [&](const unit& x) {
      const auto [at, is_new] = out.emplace(x.whose, x);
      if (!is_new && x < at->second)
        at->second = x;
    };
    for (const auto& [number, x] : entries)
      if (is_by_payload())
        for (const auto& part : x.parts)
          consider({number,
                    x.whose,
                    part.steps,
                    {part.uses.saved_steps, part.uses.last, part.steps}});
      else if (most.rule == core::eviction_rule::fifo)
        consider({number, x.whose, 0, {}});
      else
        consider({number, x.whose, 0, {x.uses.last, 0, 0}});
    return out;
  }

  void use(uint64_t number, uint64_t clock) {
    if (const auto at = entries.find(number); at != entries.end())
      at->second.uses.last = clock;
  }

  void save(uint64_t number, uint32_t steps, uint64_t skipped) {
    if (!has(number, steps))
      return;
    auto& x = entries.at(number);
    x.uses.saved_steps += skipped;
    for (auto& part : x.parts)
      if (part.steps == steps)
        part.uses = {x.uses.last, part.uses.saved_steps + skipped};
  }

  void take(const unit& x, victims& out) {
    auto of = std::ranges::find(out, x.number, &index::detail::victim::number);
    if (of == out.end())
      of = out.insert(out.end(), {x.number});
    of->steps.push_back(x.steps);
    auto& parts = entries.at(x.number).parts;
    if (is_by_payload())
      std::erase_if(parts, [&](const auto& y) { return y.steps == x.steps; });
    if (is_by_payload() && !parts.empty())
      return;
    of->steps.clear();
    entries.erase(x.number);
  }

  /// Lets everything leave that `which` names.
  void leave(const victims& which) {
    for (const auto& x : which)
      if (x.steps.empty())
        entries.erase(x.number);
      else
        for (const auto steps : x.steps)
          std::erase_if(entries.at(x.number).parts,
                        [&](const auto& y) { return y.steps == steps; });
  }

  std::optional<victims> room_for(core::tenant_id whose, uint64_t bytes,
                                  uint64_t beside) const {
    if (bytes + beside > most.bytes || most.entries == 0)
      return std::nullopt;
    if (most.parts > 0)
      return room_in_part(whose, bytes, beside);
    std::set<core::tenant_id> tenants{whose};
    for (const auto& [number, x] : entries)
      if (x.whose)
        tenants.insert(*x.whose);
    const auto floor =
      static_cast<uint64_t>(most.floor * static_cast<double>(most.bytes))
      / tenants.size();
    auto left = *this;
    victims out;
    while (left.bytes() + bytes + beside > most.bytes
           || left.entries.size() >= most.entries) {
      std::optional<unit> next;
      for (const auto& [tenant, x] : left.first_units()) {
        auto without = left;
        victims ignored;
        without.take(x, ignored);
        if ((!tenant || tenant == whose || without.weight_of(tenant) >= floor)
            && (!next || x < *next))
          next = x;
      }
      if (!next)
        return std::nullopt;
      left.take(*next, out);
    }
    return out;
  }

  /// The same where the budget is divided.
  std::optional<victims> room_in_part(core::tenant_id whose, uint64_t bytes,
                                      uint64_t beside) const {
    auto left = *this;
    victims out;
    while (left.bytes_of(whose) + bytes > most.bytes / most.parts
           || left.count_of(whose) >= most.entries / most.parts) {
      const auto firsts = left.first_units();
      const auto own = firsts.find(whose);
      if (own == firsts.end())
        return std::nullopt;
      left.take(own->second, out);
    }
    if (left.bytes() + bytes + beside > most.bytes
        || left.entries.size() >= most.entries)
      return std::nullopt;
    return out;
  }
};

} // namespace atelier::test
