// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/drained_images.hpp>
#include <atelier/runtime/http/forwarded_images.hpp>

#include <utility>

namespace atelier::runtime::http {

namespace {

/// When a client may try again: by then a load balancer has seen /health.
constexpr auto pause = std::chrono::seconds{5};

class drained_images : public forwarded_images {
public:
  drained_images(std::shared_ptr<image_service> from,
                 std::shared_ptr<const health> condition)
    : forwarded_images(std::move(from)), condition_(std::move(condition)) {}

  std::variant<uint64_t, failure> submit(const generation& wanted,
                                         callbacks calls) override {
    if (condition_->draining())
      return failure{"stopping", "the server is draining: it takes no new work",
                     pause};
    return forwarded_images::submit(wanted, std::move(calls));
  }

private:
  std::shared_ptr<const health> condition_;
};

} // namespace

std::shared_ptr<image_service> drained(
  std::shared_ptr<image_service> from,
  std::shared_ptr<const health> condition) {
  return std::make_shared<drained_images>(std::move(from),
                                          std::move(condition));
}

} // namespace atelier::runtime::http
