// SPDX-License-Identifier: Apache-2.0
#include <atelier/simulation/knowledge.hpp>
#include <atelier/simulation/simulated_requests.hpp>

namespace atelier::runtime {

std::shared_ptr<core::request> simulated_requests::make(
  core::request_id id, core::time_point now) const {
  const auto& traced = of_.trace[id.value - 1];
  auto x = std::make_shared<core::request>();
  // The values drawn for a request are the same for all its images.
  x->id = core::request_id{uint64_t{traced.request} + 1};
  x->seed = id.value;
  x->arrived = now;
  if (mask_of(of_, id)) {
    x->kind = core::request_kind::edit;
    x->source = template_;
    x->px = of_.profile->variants.front().native_px;
  }
  if (of_.deadline.count() > 0)
    x->deadline = core::after(x->arrived, of_.deadline);
  if (of_.wish)
    of_.wish(*x);
  x->id = id;
  if (traced.tenant != planning::no_name)
    x->tenant = core::tenant_id{traced.tenant};
  if (traced.variant != planning::no_name) {
    x->fixed.variant = of_.profile->variants[traced.variant].name;
    x->fixed.model.reset();
  }
  if (traced.steps > 0)
    x->fixed.steps = traced.steps;
  if (traced.px.pixels() > 0)
    x->px = traced.px;
  if (traced.deadline_ms > 0)
    x->deadline =
      core::after(now, core::from_seconds(traced.deadline_ms / 1000.0));
  return x;
}

} // namespace atelier::runtime
