// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/encoded_images.hpp>

#include <utility>

namespace atelier::runtime::http::detail {

encoded_images::text encoded_images::get(
  const std::shared_ptr<const generated_image>& of,
  const std::function<std::optional<std::string>()>& make) {
  const auto x = entry_of(of);
  const std::lock_guard guard{x->mutex};
  if (auto made = x->made.lock())
    return made;
  auto fresh = make();
  if (!fresh)
    return nullptr;
  auto out = std::make_shared<shared_text>(*std::move(fresh));
  x->made = out;
  return out;
}

std::shared_ptr<encoded_images::entry> encoded_images::entry_of(
  const std::shared_ptr<const generated_image>& of) {
  const std::lock_guard guard{mutex_};
  // The text of an entry that only the map holds is not being made.
  std::erase_if(known_, [](const auto& x) {
    if (x.second.use_count() != 1)
      return false;
    const std::lock_guard own{x.second->mutex};
    return x.second->made.expired();
  });
  auto& x = known_[of.get()];
  // An image that is gone leaves its address to another one.
  if (!x || x->of.lock() != of) {
    x = std::make_shared<entry>();
    x->of = of;
  }
  return x;
}

} // namespace atelier::runtime::http::detail
