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

// The pass in use may keep what the others leave. The others, the one that was
// used longest ago first, leave at least half of all.
kept_pass& pass_cache::with_results(kept_pass& x) {
  x.inputs.kept = &x.results;
  auto others = result_bytes() - x.results.bytes();
  for (auto at = entries_.rbegin();
       at != entries_.rend() && others > most_result_bytes / 2; ++at)
    if (&*at != &x) {
      others -= at->results.bytes();
      at->results.clear();
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
