// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/forwarded_images.hpp>
#include <atelier/runtime/http/metered_images.hpp>

#include <utility>

namespace atelier::runtime::http {

namespace {

void count(const answer& x, metrics& into, recent_images* seen) {
  if (const auto* p = std::get_if<generated_image>(&x)) {
    into.count_image(*p);
    if (seen != nullptr)
      seen->note(*p);
  } else {
    into.count_failure(std::get<failure>(x).code);
  }
}

class metered_images : public forwarded_images {
public:
  metered_images(std::shared_ptr<image_service> from,
                 std::shared_ptr<metrics> into,
                 std::shared_ptr<recent_images> seen)
    : forwarded_images(std::move(from)),
      into_(std::move(into)),
      seen_(std::move(seen)) {}

  std::variant<uint64_t, failure> submit(const generation& wanted,
                                         callbacks calls) override {
    calls.answered = [into = into_, seen = seen_,
                      then = std::move(calls.answered)](const answer& x) {
      count(x, *into, seen.get());
      if (then)
        then(x);
    };
    auto handed_in = forwarded_images::submit(wanted, std::move(calls));
    if (const auto* why = std::get_if<failure>(&handed_in))
      into_->count_refusal(why->code);
    return handed_in;
  }

private:
  std::shared_ptr<metrics> into_;
  std::shared_ptr<recent_images> seen_;
};

} // namespace

std::shared_ptr<image_service> metered(std::shared_ptr<image_service> from,
                                       std::shared_ptr<metrics> into,
                                       std::shared_ptr<recent_images> seen) {
  return std::make_shared<metered_images>(std::move(from), std::move(into),
                                          std::move(seen));
}

} // namespace atelier::runtime::http
