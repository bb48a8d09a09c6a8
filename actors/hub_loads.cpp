// SPDX-License-Identifier: Apache-2.0

// Variants that devices could not load. A device hosts the others; requests
// that only such a variant can serve end with the reason, and attempts to load
// it follow at growing pauses.

#include <atelier/actors/hub.hpp>
#include <atelier/core/log.hpp>
#include <atelier/core/not_loaded.hpp>
#include <atelier/planning/hosting_rules.hpp>
#include <atelier/planning/walk.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

bool has(const std::vector<core::variant_id>& all, core::variant_id v) {
  return std::find(all.begin(), all.end(), v) != all.end();
}

device_place device_at(const worker& w) {
  return {w.address.process.process, w.address.index};
}

} // namespace

void hub::load_failed(const worker& w, core::variant_id v, core::error why,
                      core::time_point now) {
  if (v.value >= config_.profile->variants.size())
    return;
  const auto text = core::to_string(why);
  if (failed_loads_.failed({device_at(w), v}, std::move(why), now))
    core::log_error("device {} cannot load {}: {}", w.device,
                    config_.profile->variants[v.value].name, text);
}

void hub::note_loads(worker& w, const std::vector<gpu::load_failure>& failed,
                     core::time_point now) {
  for (const auto& x : failed)
    load_failed(w, x.variant, x.why, now);
  for (const auto v : w.view.hosting)
    if (failed_loads_.loaded({device_at(w), v}))
      core::log_info("device {} has loaded {}", w.device,
                     config_.profile->variants[v.value].name);
  show_unloadable(w);
}

std::vector<gpu::load_failure> hub::failures_of(const adopted& x,
                                                const worker& w) {
  auto out = x.failed;
  // A report that names none is about all that the worker was to load.
  if (x.failure.code != core::ec::none && x.failure.code != core::ec::cancelled)
    for (const auto v : w.view.becoming)
      if (!w.beside || !has(w.view.hosting, v))
        out.push_back({v, x.failure});
  return out;
}

void hub::note_death_while_loading(worker& w, death cause,
                                   core::time_point now) {
  if (!blames_load(w, cause))
    return;
  const auto at = device_at(w);
  auto loaded = w.view.becoming;
  std::erase_if(loaded, [&](auto v) { return has(w.view.hosting, v); });
  // A variant that failed before is loaded again only when the others are
  // there.
  auto tried = loaded;
  std::erase_if(tried, [&](auto v) { return !failed_loads_.knows({at, v}); });
  const auto& suspects = tried.empty() ? loaded : tried;
  const auto why =
    core::fail(core::ec::unavailable, "the process {} while it loaded models",
               to_string(cause));
  if (suspects.size() == 1)
    return load_failed(w, suspects.front(), why, now);
  for (const auto v : suspects)
    if (failed_loads_.doubted({at, v}, why, now))
      core::log_warn("device {} loads {} alone: {}", w.device,
                     config_.profile->variants[v.value].name, why.text);
}

bool hub::blames_load(const worker& w, death cause) {
  return (w.loading || w.beside)
      && (cause == death::crash || cause == death::memory);
}

std::vector<gpu::load_failure> hub::failures_at(const worker& w) const {
  std::vector<gpu::load_failure> out;
  for (const auto& [which, x] : failed_loads_.all())
    if (which.first == device_at(w))
      out.push_back({which.second, x.why});
  return out;
}

void hub::show_unloadable(worker& w) {
  w.view.unloadable.clear();
  for (const auto& [which, x] : failed_loads_.all())
    if (which.first == device_at(w) && x.due != core::never)
      w.view.unloadable.push_back(which.second);
  hosting_changed();
}

std::vector<core::variant_id> hub::loadable(
  const std::vector<core::variant_id>& hosting, const worker& w) const {
  const auto at = device_at(w);
  const auto& will = w.view.becoming;
  std::optional<core::variant_id> next;
  const auto first = [&](auto v) {
    return !has(w.view.unloadable, v)
        && (has(will, v) || !failed_loads_.knows({at, v}));
  };
  const bool loads = w.loading || w.beside || w.next_hosting;
  if (!loads && std::all_of(hosting.begin(), hosting.end(), [&](auto v) {
        return has(will, v) || !first(v);
      }))
    next = failed_loads_.next_try(at, hosting);
  auto out = hosting;
  std::erase_if(out, [&](auto v) { return !first(v) && v != next; });
  return out;
}

void hub::retry_loads(core::time_point now) {
  const auto due = failed_loads_.due(now);
  if (due.empty())
    return;
  for (auto& [id, w] : workers_.all()) {
    if (!w.on_device())
      continue;
    const auto before = w.view.unloadable.size();
    show_unloadable(w);
    if (w.view.unloadable.size() == before)
      continue;
    // The plan in force may assign the variant to this worker still.
    for (const auto& x : plan_->workers)
      if (x.worker == id
          && std::any_of(due.begin(), due.end(), [&](const auto& which) {
               return which.first == device_at(w)
                   && has(x.hosting, which.second);
             }))
        apply(x, w, now);
  }
  ports_.watch->cluster_changed(cluster());
}

void hub::on(const wish_hosting& x, core::time_point now) {
  if (!x.there)
    return;
  for (const auto v : x.variants)
    failed_loads_.hurry(v, now);
  retry_loads(now);
  settle(now);
}

std::optional<core::error> hub::unloadable(core::variant_id v) const {
  const auto* failed = failed_loads_.paused_anywhere(v);
  if (failed == nullptr)
    return std::nullopt;
  for (const auto& [id, w] : workers_.all())
    if (w.on_device() && !w.suspected
        && (has(w.view.hosting, v) || has(w.view.becoming, v)
            || w.does_serve(planning::lane_of(v))
            || planning::may_host(w.view, {v}, *config_.profile)))
      return std::nullopt;
  return core::fail(core::ec::unavailable, "{}{}{}",
                    config_.profile->variants[v.value].name, core::not_loaded,
                    failed->why.text);
}

std::optional<core::error> hub::unloadable(const planning::leg& x) const {
  std::optional<core::error> first;
  for (const auto v : x.any_of) {
    auto why = unloadable(v);
    if (!why)
      return std::nullopt;
    if (!first)
      first = std::move(why);
  }
  return first;
}

std::optional<core::error> hub::unloadable(const planning::route& x) const {
  std::optional<core::error> first;
  for (const auto& leg : x.legs) {
    // Such a leg follows only an image of an earlier one.
    if (leg.from == planning::origin::stage_image)
      continue;
    auto why = unloadable(leg);
    if (!why)
      return std::nullopt;
    if (!first)
      first = std::move(why);
  }
  return first;
}

bool hub::end_unloadable(core::lane_id lane, core::time_point now) {
  if (!failed_loads_.waits())
    return false;
  std::vector<std::pair<core::request_id, core::error>> over;
  for (const auto id : queues_.of(lane)) {
    const auto& r = requests_.at(id);
    if (auto why = unloadable(*r.course.running_leg()))
      over.emplace_back(id, std::move(*why));
  }
  for (auto& [id, why] : over)
    leg_failed(id, requests_.at(id), std::move(why), now);
  return !over.empty();
}

void hub::leg_failed(core::request_id id, row& r, core::error why,
                     core::time_point now) {
  r.course.end_leg(why.code);
  if (std::holds_alternative<planning::give_up>(r.course.next()))
    return end_row(id, r, row_state::failed, std::move(why), now);
  leave_lane(id, r, now);
  forecast_.uncount(id);
  slots_.drop_start(r.held);
  advance(id, r, now);
}

} // namespace atelier::actors
