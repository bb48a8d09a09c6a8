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
    return entries_.front();
  }
  kept_pass made;
  made.of = of;
  made.key = key;
  made.inputs = of->make_inputs(key);
  made.conditions.resize(static_cast<size_t>(key.places));
  entries_.push_front(std::move(made));
  if (entries_.size() > most_entries)
    entries_.pop_back();
  return entries_.front();
}

} // namespace atelier::gpu::detail
