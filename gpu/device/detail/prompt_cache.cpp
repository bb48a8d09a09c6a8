// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/prompt_cache.hpp>

#include <algorithm>

namespace atelier::gpu::detail {

const condition& prompt_cache::find(
  const std::shared_ptr<const gpu::model>& model, const prompt_text& asked) {
  const auto at =
    std::find_if(entries_.begin(), entries_.end(), [&](const entry& x) {
      return x.text == asked && x.model.lock() == model;
    });
  if (at != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, at);
    return entries_.front().condition;
  }
  entries_.push_front({model, asked, model->encode(asked)});
  tokens_ += entries_.front().condition.tokens;
  while (entries_.size() > most_entries
         || (tokens_ > most_tokens && entries_.size() > 1)) {
    tokens_ -= entries_.back().condition.tokens;
    entries_.pop_back();
  }
  return entries_.front().condition;
}

} // namespace atelier::gpu::detail
