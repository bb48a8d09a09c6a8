// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/pass_cache.hpp>

#include <algorithm>
#include <utility>

namespace atelier::gpu::detail {

kept_pass& pass_cache::find(const std::shared_ptr<const model>& of,
                            const pass_key& key) {
  std::erase_if(entries_, [](const kept_pass& x) { return x.of.expired(); });
  const auto at =
    std::find_if(entries_.begin(), entries_.end(), [&](const kept_pass& x) {
      return x.key == key && x.of.lock() == of;
    });
  if (at != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, at);
    return with_results(entries_.front());
  }
  kept_pass made;
  made.of = of;
  made.key = key;
  made.inputs = of->make_inputs(key);
  made.conditions.resize(static_cast<size_t>(key.places));
  entries_.push_front(std::move(made));
  if (entries_.size() > most_entries)
    entries_.pop_back();
  return with_results(entries_.front());
}

// Rows whose texts differ in length take several passes in each step, one after
// another.
bool pass_cache::in_turn(const kept_pass& x) const {
  return finds_ - x.used <= 2 * most_entries;
}

// The pass in use may keep what the others leave, at least an equal share of
// all. Passes that are no longer used leave first, and wholly. Passes that take
// turns with it keep a share each: if they left wholly, each would compute all
// of its results in every turn.
kept_pass& pass_cache::with_results(kept_pass& x) {
  x.used = ++finds_;
  x.inputs.kept = &x.results;
  const auto turns = static_cast<uint64_t>(
    std::ranges::count_if(entries_, [&](const auto& e) { return in_turn(e); }));
  // A pass alone leaves the others half, so that a pass that waits for a long
  // turn of other rows has its results still.
  const auto share = most_result_bytes / std::max<uint64_t>(turns, 2);
  auto others = result_bytes() - x.results.bytes();
  for (const bool remain : {false, true})
    for (auto at = entries_.rbegin();
         at != entries_.rend() && others > most_result_bytes - share; ++at) {
      if (&*at == &x || in_turn(*at) != remain)
        continue;
      others -= at->results.bytes();
      at->results.limit(remain ? share : 0);
      others += at->results.bytes();
    }
  x.results.limit(most_result_bytes - others);
  return x;
}

void pass_cache::forget_results(std::span<const uint64_t> conditions) {
  for (auto& x : entries_)
    if (std::ranges::find_first_of(x.conditions, conditions)
        != x.conditions.end())
      x.results.clear();
}

uint64_t pass_cache::result_bytes() const {
  uint64_t out = 0;
  for (const auto& x : entries_)
    out += x.results.bytes();
  return out;
}

} // namespace atelier::gpu::detail
