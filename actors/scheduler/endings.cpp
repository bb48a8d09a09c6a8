// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/endings.hpp>

#include <string_view>
#include <utility>

namespace atelier::actors {

namespace {

// Returns the reported facts of a row that ends.
records::ending ending_of(core::request_id id, const row& r,
                          const planning::profile& known) {
  const auto v = r.course.recipe().variant.value;
  const auto& all = known.variants;
  return {id, v < all.size() ? std::string_view{all[v].name} : "",
          r.account.steps_run()};
}

} // namespace

endings::endings(parts& of, deliveries& out, queueing& waiting, asides& beside)
  : config_(of.config),
    ports_(of.ports),
    slots_(of.slots),
    records_(of.records),
    requests_(of.requests),
    orders_(of.orders),
    workers_(of.workers),
    forecast_(of.forecast),
    questions_(of.questions),
    suspicions_(of.suspicions),
    out_(out),
    queueing_(waiting),
    asides_(beside) {}

void endings::refuse(std::shared_ptr<const core::request> what, core::error why,
                     core::timespan retry_after, core::time_point now) {
  records_.refused(*what, why, now);
  actors::answer a;
  a.request = std::move(what);
  a.failure = std::move(why);
  a.retry_after = retry_after;
  ports_.clients->answered(std::move(a));
}

void endings::turn_away(core::request_id id, row& r, core::error why,
                        core::timespan retry_after, core::time_point now) {
  close(r, row_state::failed);
  records_.turned_away(ending_of(id, r, *config_.profile), why, now);
  auto what = r.request;
  requests_.forget(id);
  refuse(std::move(what), std::move(why), retry_after, now);
}

void endings::fail(core::request_id id, row& r, row_state as, core::error why,
                   core::time_point now) {
  if (r.state() == row_state::waiting)
    queueing_.leave(id, r, now);
  const bool running = r.state() == row_state::running;
  close(r, as);
  if (running)
    cancel_order(id, r);
  if (as == row_state::cancelled)
    records_.cancelled(ending_of(id, r, *config_.profile), why, now);
  else
    records_.failed(ending_of(id, r, *config_.profile), why, now);
  slots_.end(id);
  actors::answer a;
  a.request = r.request;
  a.failure = std::move(why);
  a.recipe = r.course.recipe();
  if (r.course.has_route())
    a.route = r.course.route().name;
  r.account.close(a, r.request->arrived, now);
  requests_.forget(id);
  ports_.clients->answered(std::move(a));
}

void endings::answer(core::request_id id, row& r, core::time_point now) {
  if (!r.held[planning::held::encoded] || !r.course.known().file)
    return fail(
      id, r, row_state::failed,
      core::fail(core::ec::internal, "no stage encoded the answer's image"),
      now);
  records_.encoded(now);
  close(r, row_state::answered);
  records_.answered(ending_of(id, r, *config_.profile), now);
  forecast_.answered(now);
  asides_.remember(id, r, now);
  slots_.answer(id, r.held);
  const auto& v = config_.profile->variants[r.course.recipe().variant.value];
  actors::answer a;
  a.request = r.request;
  a.image = r.held[planning::held::encoded];
  a.bytes = r.course.known().file->bytes;
  a.sha256 = r.course.known().file->sha256;
  if (r.course.known().tolerated && !r.course.known().tolerated->empty())
    a.tolerated = r.course.known().tolerated;
  a.recipe = r.course.recipe();
  a.px = a.recipe.scaled_to != core::extent{} ? a.recipe.scaled_to
                                              : r.course.px(r.held);
  a.model = v.model;
  a.variant = v.name;
  a.route = r.course.route().name;
  r.account.close_with_image(a, r.request->arrived, now);
  ports_.clients->answered(std::move(a));
}

void endings::close(row& r, row_state as) {
  forecast_.uncount(r.request->id);
  questions_.forget(r.request->id);
  suspicions_.forget(r.request->id);
  requests_.end(r, as);
  if (requests_.open() == 0)
    records_.rest();
}

void endings::cancel_order(core::request_id id, const row& r) {
  const auto* x = orders_.find({id, r.attempt()});
  if (x == nullptr)
    return;
  if (const auto* w = workers_.find(x->worker))
    out_.tell(*w, cancel_work{{id, r.attempt()}});
}

} // namespace atelier::actors
