// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/forecast.hpp>
#include <atelier/planning/demand/request_work.hpp>
#include <atelier/planning/kinds.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace atelier::actors {

forecast::forecast(std::shared_ptr<const planning::profile> profile)
  : profile_(std::move(profile)),
    current_(profile_),
    tables_(*profile_),
    backlog_(profile_->variants.size()),
    pace_(profile_->variants.size()),
    costs_(profile_->variants.size(), planning::measured_by_batch(*profile_)) {}

// -- the devices' work --------------------------------------------------------

void forecast::see(const planning::cluster_view& there) {
  backlog_.see(there);
}

void forecast::came(const std::string& kind) {
  kinds_.insert(kind);
}

void forecast::count(core::request_id request, const core::recipe& how,
                     uint32_t steps_left, core::tenant_id whose) {
  auto& counted = counted_[request];
  backlog_.remove(counted.variant, counted.time, counted.whose);
  const auto variant = how.variant;
  const auto on = [&](std::string_view kind) {
    const auto& x = tables_.of(variant, kind);
    return pace_.corrected(
      variant, kind,
      planning::device_work(x.costs, x.steps, planning::work_of(x.costs, how),
                            steps_left, backlog_.batch_of(variant)));
  };
  const auto& hosts = backlog_.hosts_of(variant);
  core::timespan work{0};
  if (hosts.size() < 2) {
    work = on(hosts.empty() ? std::string_view{} : hosts.front().kind);
  } else {
    std::vector<planning::device_time> times;
    for (const auto& g : hosts)
      times.push_back({static_cast<double>(g.count), on(g.kind)});
    work = planning::mean_time(times);
  }
  backlog_.add(variant, work, whose);
  counted = {variant, whose, work};
}

void forecast::uncount(core::request_id request) {
  const auto i = counted_.find(request);
  if (i == counted_.end())
    return;
  backlog_.remove(i->second.variant, i->second.time, i->second.whose);
  counted_.erase(i);
}

core::timespan forecast::work_of(core::request_id request) const {
  const auto i = counted_.find(request);
  return i == counted_.end() ? core::timespan{0} : i->second.time;
}

core::timespan forecast::work() const {
  return backlog_.work();
}

// -- predictions --------------------------------------------------------------

bool forecast::knows_pace(core::variant_id variant) const {
  return pace_.known(variant);
}

bool forecast::several_kinds() const {
  return kinds_.size() > 1;
}

void forecast::follow(const planning::plan& plan,
                      const planning::cluster_view& there) {
  planned_by_guess_ = uses_guess(plan, there);
}

bool forecast::guesses(const planning::plan& plan,
                       const planning::cluster_view& there) const {
  return planned_by_guess_ || uses_guess(plan, there);
}

bool forecast::uses_guess(const planning::plan& plan,
                          const planning::cluster_view& there) const {
  const auto& known = *current_;
  const auto guessed = [&](core::variant_id v) {
    if (known.kinds.empty())
      return known.variants.at(v.value).guessed;
    // The cost of a variant that a kind of device never runs may be a guess
    // there.
    return std::any_of(
      there.workers.begin(), there.workers.end(), [&](const auto& w) {
        return guessed_on(known, v, w.device_kind)
            && (w.may_host.empty()
                || std::find(w.may_host.begin(), w.may_host.end(), v)
                     != w.may_host.end());
      });
  };
  for (const auto& route : plan.routes)
    for (const auto& leg : route.legs)
      if (std::any_of(leg.any_of.begin(), leg.any_of.end(), guessed))
        return true;
  return false;
}

core::timespan forecast::least(const work_left& x) const {
  const auto& hosts = backlog_.hosts_of(x.recipe.variant);
  if (x.phase == core::phase::finishing || hosts.empty())
    return least_on(x, {});
  auto out = least_on(x, hosts.front().kind);
  for (size_t i = 1; i < hosts.size(); ++i)
    out = std::min(out, least_on(x, hosts[i].kind));
  return out;
}

core::timespan forecast::least_on(const work_left& x,
                                  std::string_view kind) const {
  auto needs = profile_->finish;
  if (x.phase == core::phase::finishing)
    return needs;
  const auto& table = tables_.of(x.recipe.variant, kind);
  const auto work = planning::work_of(table.costs, x.recipe);
  needs +=
    pace_.corrected(x.recipe.variant, kind,
                    planning::time_beside_steps(table.costs, work)
                      + table.steps.at_rows(work.rows, work.px) * x.steps);
  if (x.phase == core::phase::preparing)
    needs += planning::prepare_time(*profile_, x.request);
  return needs;
}

core::timespan forecast::at(const work_left& x,
                            const planning::worker_view& worker) const {
  const auto& table = tables_.of(x.recipe.variant, worker.device_kind);
  return pace_.corrected(x.recipe.variant, worker.device_kind,
                         planning::predicted_completion(
                           table.costs, table.steps,
                           planning::work_of(table.costs, x.recipe), x.steps,
                           worker, {}))
       + profile_->finish;
}

core::timespan forecast::silence(const work_left& x,
                                 const planning::worker_view& worker,
                                 uint32_t run_steps) const {
  switch (x.phase) {
    case core::phase::preparing:
      return planning::prepare_time(*profile_, x.request);
    case core::phase::finishing:
      return profile_->finish;
    case core::phase::denoising:
      break;
  }
  const auto& table = tables_.of(x.recipe.variant, worker.device_kind);
  // A small image is not decoded in proportion to its pixels: a watch must not
  // count on it.
  const auto work = planning::work_of(table.costs, x.recipe);
  return table.steps.at(worker.max_batch, x.recipe.px) * run_steps
       + std::max(planning::time_beside_steps(table.costs, work),
                  table.costs.text + table.costs.decode);
}

std::optional<core::timespan> forecast::wait_beyond(
  core::variant_id variant, core::timespan most, core::tenant_id whose) const {
  const auto wait = backlog_.wait(variant);
  if (!wait || !pace_.known(variant) || *wait <= most
      || backlog_.grants(variant, whose, most))
    return std::nullopt;
  return wait;
}

core::timespan forecast::come_back(uint64_t most_requests,
                                   core::timespan least) const {
  // The work is predicted, or, before anything was measured, assumed to end at
  // the rate of answers.
  constexpr double share = 0.1;
  const auto wait = backlog_.longest_wait();
  bool measured = false;
  for (uint32_t v = 0; v < profile_->variants.size(); ++v)
    measured = measured || pace_.known(core::variant_id{v});
  if (measured && wait)
    return std::max(least, planning::come_back_after(*wait, share));
  const auto most = static_cast<double>(most_requests);
  const auto paced = core::from_seconds(seconds_per_end_ * most * share);
  return std::clamp<core::timespan>(
    std::max(paced, least), std::chrono::seconds{1}, std::chrono::hours{1});
}

core::timespan forecast::finishing() const {
  return finishing_;
}

double forecast::extra_work(core::variant_id variant,
                            const core::request& wanted) const {
  return planning::relative_work(tables_.of(variant), wanted) - 1;
}

double forecast::extra_pixels(core::variant_id variant,
                              const core::request& wanted) const {
  return planning::relative_pixels(tables_.of(variant).costs, wanted) - 1;
}

double forecast::rows_of(const core::recipe& how) const {
  return planning::rows_at(tables_.of(how.variant).costs, how.guidance);
}

// -- what was measured --------------------------------------------------------

void forecast::ran(const steps_run& x, core::time_point now) {
  const auto& kind = x.worker.device_kind;
  const auto predicted =
    tables_.shared_step(x.variants, kind, x.rows > 0 ? x.rows : x.batch, x.px)
    * x.steps;
  auto each = x.variants;
  std::sort(each.begin(), each.end());
  each.erase(std::unique(each.begin(), each.end()), each.end());
  for (const auto v : each)
    pace_.note(v, kind, predicted, x.took);
  // A step computes only the masked part of an edit.
  if (!x.whole)
    return;
  slow_.ran(x.worker.worker, {x.weights, x.batch, x.px.pixels(), kind},
            x.took / x.steps, now);
  // The times of a slow worker are not those of the variants.
  if (!x.slow)
    for (const auto v : each)
      costs_.ran(v, kind, x.batch, predicted, x.took);
}

void forecast::ended(core::variant_id variant, std::string_view kind,
                     core::timespan text, core::timespan decode,
                     core::timespan encode) {
  costs_.ended(variant, kind, text, decode, encode);
}

void forecast::loaded(core::variant_id variant, std::string_view kind,
                      core::timespan took) {
  costs_.loaded(variant, kind, took);
}

void forecast::finished(core::timespan took) {
  finishing_ += (took - finishing_) / 16;
}

void forecast::answered(core::time_point now) {
  if (last_end_ != core::time_point{}) {
    const auto gap = core::to_seconds(now - last_end_);
    seconds_per_end_ += (gap - seconds_per_end_) / 16;
  }
  last_end_ = now;
}

void forecast::gone(core::worker_id worker) {
  slow_.gone(worker);
}

std::optional<std::vector<core::worker_id>> forecast::slow_news(
  core::time_point now) {
  return slow_.news(now);
}

std::optional<std::vector<planning::kind_costs>> forecast::cost_news() {
  auto news = costs_.news();
  if (news)
    current_ = std::make_shared<const planning::profile>(
      planning::with_costs(*profile_, *news));
  return news;
}

const std::shared_ptr<const planning::profile>& forecast::profile() const {
  return current_;
}

} // namespace atelier::actors
