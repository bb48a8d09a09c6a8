// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/drained_pictures.hpp>
#include <atelier/runtime/http/forwarded_pictures.hpp>

#include <utility>

namespace atelier::runtime::http {

namespace {

/// When a client may try again: by then a load balancer has seen /health.
constexpr auto pause = std::chrono::seconds{5};

class drained_pictures : public forwarded_pictures {
public:
  drained_pictures(std::shared_ptr<picture_service> from,
                   std::shared_ptr<const health> condition)
    : forwarded_pictures(std::move(from)), condition_(std::move(condition)) {}

  std::variant<uint64_t, failure> submit(const generation& wanted,
                                         callbacks calls) override {
    if (condition_->draining())
      return failure{"stopping", "the server is draining: it takes no new work",
                     pause};
    return forwarded_pictures::submit(wanted, std::move(calls));
  }

private:
  std::shared_ptr<const health> condition_;
};

} // namespace

std::shared_ptr<picture_service> drained(
  std::shared_ptr<picture_service> from,
  std::shared_ptr<const health> condition) {
  return std::make_shared<drained_pictures>(std::move(from),
                                            std::move(condition));
}

} // namespace atelier::runtime::http
