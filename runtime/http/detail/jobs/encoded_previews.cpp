// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/detail/jobs/encoded_previews.hpp>
#include <atelier/runtime/http/detail/replies.hpp>

#include <algorithm>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

/// Previews whose texts are kept: listeners of one job ask one after the other.
constexpr size_t most_known = 16;

} // namespace

void encoded_previews::get(const std::shared_ptr<const preview>& of,
                           std::string_view format, receiver then) {
  std::shared_ptr<entry> x;
  bool fresh = false;
  {
    const std::lock_guard guard{mutex_};
    const auto i =
      std::find_if(known_.begin(), known_.end(), [&](const auto& y) {
        return y->of == of && y->format == format;
      });
    fresh = i == known_.end();
    x = fresh ? std::make_shared<entry>() : *i;
    if (fresh) {
      x->of = of;
      x->format = format;
      known_.push_back(x);
      if (known_.size() > most_known)
        known_.pop_front();
    }
  }
  std::unique_lock guard{x->mutex};
  if (x->done) {
    guard.unlock();
    return then(x->encoded);
  }
  x->waiting.push_back(std::move(then));
  guard.unlock();
  if (!fresh)
    return;
  const bool runs = run_([x] {
    x->finish(std::make_shared<const std::string>(
      to_base64(encode_preview(*x->of, x->format))));
  });
  if (!runs)
    x->finish(nullptr);
}

void encoded_previews::entry::finish(text x) {
  std::vector<receiver> all;
  {
    const std::lock_guard guard{mutex};
    done = true;
    encoded = std::move(x);
    all.swap(waiting);
  }
  for (const auto& then : all)
    then(encoded);
}

} // namespace atelier::runtime::http::detail
