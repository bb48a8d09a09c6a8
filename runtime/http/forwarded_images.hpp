// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/image_service.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace atelier::runtime::http {

/// A service in front of another one: it forwards each call that it does not
/// implement itself.
/// Threads: as for the other service.
class forwarded_images : public image_service {
public:
  explicit forwarded_images(std::shared_ptr<image_service> to)
    : to_(std::move(to)) {}

  std::variant<uint64_t, failure> submit(const generation& wanted,
                                         callbacks calls) override {
    return to_->submit(wanted, std::move(calls));
  }

  bool cancel(uint64_t request) override {
    return to_->cancel(request);
  }

  engine_status status() const override {
    return to_->status();
  }

  std::vector<variant_status> variants() const override {
    return to_->variants();
  }

  atelier::result<std::vector<cache_entry>> cache_entries(
    const cache_query& which) const override {
    return to_->cache_entries(which);
  }

  atelier::result<void> host_model(const std::string& model,
                                   bool there) override {
    return to_->host_model(model, there);
  }

private:
  std::shared_ptr<image_service> to_;
};

} // namespace atelier::runtime::http
