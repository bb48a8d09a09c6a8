// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/generation_fields.hpp>
#include <atelier/runtime/http/detail/jobs/caller_accounts.hpp>

namespace atelier::runtime::http::detail {

std::variant<job_charge, failure> caller_accounts::take(
  const std::string& owner, uint64_t images, uint64_t steps) const {
  if (!of_.take)
    return job_charge{};
  if (auto why = of_.take(owner, images, steps))
    return std::move(*why);
  return job_charge{images, steps};
}

void caller_accounts::give_back(const std::string& owner,
                                job_charge& from) const {
  const auto x = std::exchange(from, {});
  if (x.images > 0 && of_.give_back)
    of_.give_back(owner, x.images, x.steps);
}

uint64_t caller_accounts::steps_of(const std::vector<generation>& images,
                                   const image_service& from) const {
  if (!of_.take)
    return 0;
  const auto known = from.variants();
  uint64_t steps = 0;
  for (const auto& image : images)
    steps += steps_that_run(known, image);
  return steps;
}

void caller_accounts::sign(std::vector<generation>& images,
                           const std::string& owner) const {
  const auto share = of_.share ? of_.share(owner) : 1;
  for (auto& image : images) {
    image.tenant = owner;
    image.share = share;
  }
}

} // namespace atelier::runtime::http::detail
