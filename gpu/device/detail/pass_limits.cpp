// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/pass_limits.hpp>

#include <algorithm>

namespace atelier::gpu::detail {

group_size& pass_limits::find(const std::shared_ptr<const model>& of,
                              pass_key key) {
  key.places = 0;
  std::erase_if(entries_, [](const entry& x) { return x.of.expired(); });
  const auto at =
    std::find_if(entries_.begin(), entries_.end(), [&](const entry& x) {
      return x.key == key && x.of.lock() == of;
    });
  if (at != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, at);
  } else {
    entries_.push_front({of, key, {}});
    if (entries_.size() > most_entries)
      entries_.pop_back();
  }
  return entries_.front().size;
}

} // namespace atelier::gpu::detail
