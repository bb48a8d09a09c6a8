// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/byte_shares.hpp>

#include <algorithm>
#include <utility>

namespace atelier::runtime::http::detail {

byte_shares::limits byte_shares::limits_of(uint64_t all, uint64_t largest) {
  return {all, std::max(all / 8, largest)};
}

byte_shares::part::part(part&& x) noexcept
  : of_(std::exchange(x.of_, nullptr)),
    caller_(std::move(x.caller_)),
    within_(x.within_),
    bytes_(std::exchange(x.bytes_, 0)) {}

byte_shares::part& byte_shares::part::operator=(part&& x) noexcept {
  std::swap(of_, x.of_);
  std::swap(caller_, x.caller_);
  std::swap(within_, x.within_);
  std::swap(bytes_, x.bytes_);
  return *this;
}

bool byte_shares::part::grow(uint64_t bytes) {
  if (of_ == nullptr || bytes == 0)
    return true;
  const std::lock_guard guard{of_->mutex_};
  const auto i = of_->by_caller_.find(caller_);
  const auto own = (i == of_->by_caller_.end() ? 0 : i->second) + bytes;
  const auto kept = own > within_.share ? within_.all / 4 : 0;
  if (of_->held_ > 0 && of_->held_ + bytes > within_.all - kept)
    return false;
  of_->add(caller_, bytes);
  bytes_ += bytes;
  return true;
}

void byte_shares::part::must_grow(uint64_t bytes) {
  if (of_ == nullptr || bytes == 0)
    return;
  const std::lock_guard guard{of_->mutex_};
  of_->add(caller_, bytes);
  bytes_ += bytes;
}

void byte_shares::part::shrink(uint64_t bytes) {
  if (of_ == nullptr || bytes == 0)
    return;
  const std::lock_guard guard{of_->mutex_};
  of_->remove(caller_, bytes);
  bytes_ -= bytes;
}

void byte_shares::part::clear() {
  if (of_ == nullptr)
    return;
  const std::lock_guard guard{of_->mutex_};
  of_->remove(caller_, std::exchange(bytes_, 0));
}

uint64_t byte_shares::part::bytes() const {
  if (of_ == nullptr)
    return 0;
  const std::lock_guard guard{of_->mutex_};
  return bytes_;
}

uint64_t byte_shares::held() const {
  const std::lock_guard guard{mutex_};
  return held_;
}

size_t byte_shares::callers() const {
  const std::lock_guard guard{mutex_};
  return by_caller_.size();
}

void byte_shares::add(const std::string& caller, uint64_t bytes) {
  by_caller_[caller] += bytes;
  held_ += bytes;
}

void byte_shares::remove(const std::string& caller, uint64_t bytes) {
  const auto i = by_caller_.find(caller);
  if (i == by_caller_.end())
    return;
  held_ -= bytes;
  if ((i->second -= bytes) == 0)
    by_caller_.erase(i);
}

} // namespace atelier::runtime::http::detail
