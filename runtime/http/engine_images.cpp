// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/engine_images.hpp>

#include <chrono>
#include <mutex>
#include <string>
#include <utility>

namespace atelier::runtime::http {

void engine_images::attach(std::unique_ptr<engine> x) {
  const std::unique_lock guard{mutex_};
  engine_ = std::move(x);
}

std::variant<uint64_t, failure> engine_images::submit(const generation& wanted,
                                                      callbacks calls) {
  const auto x = get();
  if (x == nullptr)
    return starting_failure();
  auto handed_in = x->submit(wanted, std::move(calls));
  if (auto* refusal = std::get_if<failure>(&handed_in))
    return std::move(*refusal);
  return std::get<submission>(handed_in).request;
}

bool engine_images::cancel(uint64_t request) {
  const auto x = get();
  return x != nullptr && x->cancel(request);
}

engine_status engine_images::status() const {
  const auto x = get();
  if (x != nullptr)
    return x->status();
  engine_status none;
  none.is_stale = true;
  return none;
}

std::vector<variant_status> engine_images::variants() const {
  const auto x = get();
  return x == nullptr ? std::vector<variant_status>{} : x->variants();
}

atelier::result<std::vector<cache_entry>> engine_images::cache_entries(
  const cache_query& which) const {
  const auto x = get();
  if (x == nullptr)
    return starting_failure();
  return x->cache_entries(which);
}

atelier::result<void> engine_images::host_model(const std::string& model,
                                                bool there) {
  const auto x = get();
  if (x == nullptr)
    return starting_failure();
  return x->host_model(model, there);
}

bool engine_images::stop(std::chrono::nanoseconds grace) {
  const auto x = get();
  return x == nullptr || x->stop(grace);
}

std::shared_ptr<engine> engine_images::get() const {
  const std::shared_lock guard{mutex_};
  return engine_;
}

} // namespace atelier::runtime::http
