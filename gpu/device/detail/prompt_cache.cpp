// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/prompt_cache.hpp>

#include <algorithm>

namespace atelier::gpu::detail {

const condition& prompt_cache::find(
  const std::shared_ptr<const gpu::model>& model, const std::string& text,
  bool negative) {
  const auto at =
    std::find_if(entries_.begin(), entries_.end(), [&](const entry& x) {
      return x.negative == negative && x.text == text
          && x.model.lock() == model;
    });
  if (at != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, at);
    return entries_.front().condition;
  }
  entries_.push_front({model, text, negative, model->encode(text, negative)});
  if (entries_.size() > most_entries)
    entries_.pop_back();
  return entries_.front().condition;
}

} // namespace atelier::gpu::detail
