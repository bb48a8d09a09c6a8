// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/forwarded_pictures.hpp>
#include <atelier/runtime/http/metered_pictures.hpp>

#include <utility>

namespace atelier::runtime::http {

namespace {

void count(const answer& x, metrics& into, recent_pictures* seen) {
  if (const auto* p = std::get_if<picture>(&x)) {
    into.count_picture(*p);
    if (seen != nullptr)
      seen->note(*p);
  } else {
    into.count_failure(std::get<failure>(x).code);
  }
}

class metered_pictures : public forwarded_pictures {
public:
  metered_pictures(std::shared_ptr<picture_service> from,
                   std::shared_ptr<metrics> into,
                   std::shared_ptr<recent_pictures> seen)
    : forwarded_pictures(std::move(from)),
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
    auto handed_in = forwarded_pictures::submit(wanted, std::move(calls));
    if (const auto* why = std::get_if<failure>(&handed_in))
      into_->count_refusal(why->code);
    return handed_in;
  }

private:
  std::shared_ptr<metrics> into_;
  std::shared_ptr<recent_pictures> seen_;
};

} // namespace

std::shared_ptr<picture_service> metered(
  std::shared_ptr<picture_service> from, std::shared_ptr<metrics> into,
  std::shared_ptr<recent_pictures> seen) {
  return std::make_shared<metered_pictures>(std::move(from), std::move(into),
                                            std::move(seen));
}

} // namespace atelier::runtime::http
