// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/keeper.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace atelier::ipc {

namespace {

constexpr auto all_kinds =
  std::array{slot_kind::state, slot_kind::image, slot_kind::capture};

static_assert(all_kinds.size() == slot_kinds);

constexpr size_t index_of(slot_kind kind) {
  return static_cast<size_t>(kind);
}

uint32_t& count_of(slot_census& census, slot_state state) {
  switch (state) {
    case slot_state::free:
      return census.free;
    case slot_state::granted:
      return census.granted;
    case slot_state::quarantined:
      return census.quarantined;
    case slot_state::held:
      return census.held;
  }
  return census.free;
}

} // namespace

keeper::keeper(uint32_t arena, std::array<uint32_t, slot_kinds> counts,
               uint32_t first_generation)
  : arena_(arena) {
  uint32_t places = 0;
  for (auto kind : all_kinds) {
    auto k = index_of(kind);
    first_place_[k] = std::exchange(places, places + counts[k]);
    slots_[k].resize(counts[k]);
    for (auto& x : slots_[k])
      x.generation = first_generation;
    // The last element is granted first: slot 0 at the start, later the last
    // freed.
    for (auto i = counts[k]; i > 0; --i)
      free_[k].push_back(i - 1);
    census_[k].free = counts[k];
  }
}

std::optional<granted_slots> keeper::grant(
  core::ticket writer, process_life in, std::span<const slot_kind> kinds,
  const std::array<uint32_t, slot_kinds>& reserve) {
  if (doomed(in))
    return std::nullopt;
  std::array<size_t, slot_kinds> wanted = {};
  for (auto kind : kinds)
    ++wanted[index_of(kind)];
  for (size_t k = 0; !kinds.empty() && k < slot_kinds; ++k)
    if (free_[k].size() < wanted[k] + reserve[k])
      return std::nullopt;
  std::optional<granted_slots> granted{std::in_place};
  for (auto kind : kinds) {
    auto k = index_of(kind);
    auto slot = free_[k].back();
    free_[k].pop_back();
    auto& x = slots_[k][slot];
    if (++x.generation == 0)
      x.generation = 1;
    x.writer = writer;
    x.in = in;
    link(place_of(kind, slot), x);
    move(kind, x, slot_state::granted);
    granted->push_back({arena_, slot, x.generation, kind});
  }
  return granted;
}

bool keeper::begin_read(const slot_ref& slot, core::ticket who,
                        process_life in) {
  auto* x = find(slot);
  if (x == nullptr || doomed(in))
    return false;
  reader entrant{who, in};
  if (std::find(x->readers.begin(), x->readers.end(), entrant)
      == x->readers.end())
    x->readers.push_back(entrant);
  return true;
}

void keeper::end_read(const slot_ref& slot, core::ticket who) {
  auto* x = find(slot);
  if (x == nullptr)
    return;
  std::erase_if(x->readers, [who](const reader& y) { return y.ticket == who; });
  free_if_done(slot.kind, slot.slot);
}

bool keeper::release(const slot_ref& slot, core::ticket writer) {
  auto* x = find(slot);
  if (x == nullptr || x->writer != writer)
    return false;
  if (x->state == slot_state::granted) {
    move(slot.kind, *x, slot_state::held);
    free_if_done(slot.kind, slot.slot);
  }
  return true;
}

void keeper::supersede(const slot_ref& slot) {
  auto* x = find(slot);
  if (x == nullptr)
    return;
  x->superseded = true;
  free_if_done(slot.kind, slot.slot);
}

void keeper::end_request(core::request_id request) {
  const auto first = of_request_.find(request);
  if (first == of_request_.end())
    return;
  ending_.clear();
  for (auto at = first->second; at != no_place; at = entry_at(at).next)
    ending_.push_back(at);
  // By kind and number, so that the order of grants does not decide which slot
  // is granted next.
  std::sort(ending_.begin(), ending_.end());
  for (const auto at : ending_) {
    entry_at(at).superseded = true;
    const auto kind = kind_at(at);
    free_if_done(kind, at - first_place_[index_of(kind)]);
  }
}

void keeper::suspect(process_life who) {
  doom(who);
  for (auto kind : all_kinds)
    for (auto& x : slots_[index_of(kind)])
      if (x.state == slot_state::granted && x.in == who)
        move(kind, x, slot_state::quarantined);
}

void keeper::confirm_exit(process_life who) {
  doom(who);
  for (auto kind : all_kinds) {
    auto& slots = slots_[index_of(kind)];
    for (uint32_t i = 0; i < slots.size(); ++i) {
      auto& x = slots[i];
      if (x.state == slot_state::free)
        continue;
      std::erase_if(x.readers, [who](const reader& y) { return y.in == who; });
      if (x.state != slot_state::held && x.in == who)
        move(kind, x, slot_state::held);
      free_if_done(kind, i);
    }
  }
}

std::optional<slot_state> keeper::state_of(const slot_ref& slot) const {
  const auto* x = find(slot);
  if (x == nullptr)
    return std::nullopt;
  return x->state;
}

const slot_census& keeper::census(slot_kind kind) const {
  return census_[index_of(kind)];
}

uint32_t keeper::count(slot_kind kind) const {
  return static_cast<uint32_t>(slots_[index_of(kind)].size());
}

std::string keeper::check() const {
  size_t linked = 0;
  for (const auto& [request, first] : of_request_)
    for (auto at = first; at != no_place; at = entry_at(at).next, ++linked)
      if (entry_at(at).writer.id != request)
        return fmt::format("request {} is linked to another request's slot",
                           request.value);
  for (auto kind : all_kinds) {
    auto k = index_of(kind);
    slot_census counted;
    for (uint32_t i = 0; i < slots_[k].size(); ++i) {
      const auto& x = slots_[k][i];
      ++count_of(counted, x.state);
      auto listed = std::count(free_[k].begin(), free_[k].end(), i);
      if (listed != (x.state == slot_state::free ? 1 : 0))
        return fmt::format("{} slot {} is {} times in the free list",
                           to_string(kind), i, listed);
      if (x.state == slot_state::free) {
        if (!x.readers.empty() || x.superseded)
          return fmt::format("{} slot {} is free and used", to_string(kind), i);
        continue;
      }
      if (x.generation == 0)
        return fmt::format("{} slot {} has generation 0", to_string(kind), i);
      if (x.state == slot_state::granted && doomed(x.in))
        return fmt::format("{} slot {} is granted to a doomed process",
                           to_string(kind), i);
      if (x.state == slot_state::held && x.superseded && x.readers.empty())
        return fmt::format("{} slot {} is lost", to_string(kind), i);
    }
    if (counted != census_[k])
      return fmt::format("the census of {} slots is wrong", to_string(kind));
    linked -= counted.granted + counted.quarantined + counted.held;
  }
  if (linked != 0)
    return "the used slots are not those of the requests";
  return {};
}

const keeper::entry* keeper::find(const slot_ref& slot) const {
  auto k = index_of(slot.kind);
  if (slot.arena != arena_ || k >= slot_kinds || slot.slot >= slots_[k].size())
    return nullptr;
  const auto& x = slots_[k][slot.slot];
  if (x.state == slot_state::free || x.generation != slot.generation)
    return nullptr;
  return &x;
}

keeper::entry* keeper::find(const slot_ref& slot) {
  return const_cast<entry*>(std::as_const(*this).find(slot));
}

uint32_t keeper::place_of(slot_kind kind, uint32_t index) const {
  return first_place_[index_of(kind)] + index;
}

slot_kind keeper::kind_at(uint32_t place) const {
  size_t k = 0;
  while (place - first_place_[k] >= slots_[k].size())
    ++k;
  return all_kinds[k];
}

const keeper::entry& keeper::entry_at(uint32_t place) const {
  const auto k = index_of(kind_at(place));
  return slots_[k][place - first_place_[k]];
}

keeper::entry& keeper::entry_at(uint32_t place) {
  return const_cast<entry&>(std::as_const(*this).entry_at(place));
}

void keeper::link(uint32_t place, entry& x) {
  auto& first = of_request_.try_emplace(x.writer.id, no_place).first->second;
  x.previous = no_place;
  x.next = std::exchange(first, place);
  if (x.next != no_place)
    entry_at(x.next).previous = place;
}

void keeper::unlink(const entry& x) {
  if (x.next != no_place)
    entry_at(x.next).previous = x.previous;
  if (x.previous != no_place)
    entry_at(x.previous).next = x.next;
  else if (x.next != no_place)
    of_request_[x.writer.id] = x.next;
  else
    of_request_.erase(x.writer.id);
}

void keeper::move(slot_kind kind, entry& x, slot_state to) {
  auto& census = census_[index_of(kind)];
  --count_of(census, x.state);
  ++count_of(census, to);
  x.state = to;
}

void keeper::free_if_done(slot_kind kind, uint32_t index) {
  auto k = index_of(kind);
  auto& x = slots_[k][index];
  if (x.state != slot_state::held || !x.superseded || !x.readers.empty())
    return;
  move(kind, x, slot_state::free);
  unlink(x);
  x.superseded = false;
  x.writer = {};
  x.in = {};
  free_[k].push_back(index);
}

void keeper::doom(process_life who) {
  if (doomed_.size() <= who.process.value)
    doomed_.resize(who.process.value + size_t{1});
  auto& last = doomed_[who.process.value];
  last = std::max(last.value_or(who.life), who.life);
}

bool keeper::doomed(process_life who) const {
  if (doomed_.size() <= who.process.value)
    return false;
  const auto& last = doomed_[who.process.value];
  return last && who.life <= *last;
}

} // namespace atelier::ipc
