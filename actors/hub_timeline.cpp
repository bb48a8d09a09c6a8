// SPDX-License-Identifier: Apache-2.0

// What the hub sees, drawn for people: decides nothing.

#include <atelier/actors/hub.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

/// Rows that one event names.
constexpr size_t most_rows = 64;

using kind = timeline_event::kind;

std::string_view name_of(phase x) {
  switch (x) {
    case phase::preparing:
      return "preprocess";
    case phase::denoising:
      return "denoise";
    case phase::finishing:
      return "postprocess";
  }
  return "unknown";
}

core::time_point at(int64_t ns) {
  return core::time_point{core::timespan{ns}};
}

timeline_event on_request(kind what, std::string_view name,
                          core::request_id id) {
  timeline_event e;
  e.what = what;
  e.name = name;
  e.request = id;
  return e;
}

timeline_track track_of(const worker_address& where,
                        const std::string& device) {
  return {where.what, where.what == role::denoise_step ? 0 : where.index,
          device};
}

/// Of a worker's own clock and the hub's: what lies outside is not shown.
timeline_event within(timeline_event e, core::time_point from,
                      core::time_point to) {
  e.from = std::clamp(e.from, from, to);
  e.to = std::clamp(e.to, e.from, to);
  return e;
}

} // namespace

std::string to_string(const timeline_track& x) {
  if (!x.device.empty())
    return x.device;
  return fmt::format("{} {}", to_string(x.what), x.index);
}

void hub::draw_entry(const row& r) {
  if (!ports_.drawing)
    return;
  const auto& x = *r.what;
  auto e = on_request(kind::accepted, "request", x.id);
  e.from = e.to = x.arrived;
  e.texts.emplace_back("priority", core::to_string(x.prio));
  if (x.deadline != core::never)
    e.numbers.emplace_back("deadline_ms", (x.deadline - x.arrived)
                                            / std::chrono::milliseconds{1});
  if (!x.trace.empty())
    e.texts.emplace_back("trace", x.trace);
  ports_.drawing->add(std::move(e));
}

void hub::draw_refusal(const core::request& what, const core::error& why,
                       core::time_point now) {
  if (!ports_.drawing)
    return;
  timeline_event e;
  e.what = kind::instant;
  e.name = "refused";
  e.from = e.to = now;
  e.numbers.emplace_back("request", static_cast<int64_t>(what.id.value));
  e.texts.emplace_back("why", core::to_string(why));
  if (!what.trace.empty())
    e.texts.emplace_back("trace", what.trace);
  ports_.drawing->add(std::move(e));
}

void hub::draw_end(core::request_id id, const row& r, std::string_view how,
                   const core::error& why, core::time_point now) {
  if (!ports_.drawing)
    return;
  auto e = on_request(kind::ended, "request", id);
  e.from = e.to = now;
  e.texts.emplace_back("outcome", how);
  if (why.code != core::ec::none)
    e.texts.emplace_back("why", core::to_string(why));
  if (r.how.variant.value < config_.profile->variants.size())
    e.texts.emplace_back("variant",
                         config_.profile->variants[r.how.variant.value].name);
  e.numbers.emplace_back("steps_run", r.steps_run);
  ports_.drawing->add(std::move(e));
}

void hub::draw_wait(core::request_id id, const row& r, core::time_point now) {
  if (!ports_.drawing)
    return;
  auto e = on_request(kind::span, "queue", id);
  e.from = r.waiting_since;
  e.to = now;
  e.texts.emplace_back("for", name_of(r.at));
  ports_.drawing->add(std::move(e));
}

void hub::draw_dispatch(core::request_id id, const dispatched& x,
                        const core::error& why, core::time_point now) {
  if (!ports_.drawing)
    return;
  auto e = on_request(kind::span, name_of(x.at), id);
  e.from = x.since;
  e.to = now;
  if (const auto w = workers_.find(x.worker); w != workers_.end())
    e.texts.emplace_back(
      "worker", to_string(track_of(w->second.where, w->second.device)));
  if (why.code != core::ec::none)
    e.texts.emplace_back("failed", core::to_string(why));
  ports_.drawing->add(std::move(e));
}

void hub::draw_inside(core::ticket who, const dispatched& x,
                      const denoised& told, core::time_point now) {
  if (!ports_.drawing)
    return;
  const auto part = [&](std::string_view name, int64_t from_ns,
                        core::timespan took) {
    auto e = on_request(kind::span, name, who.id);
    e.from = at(from_ns);
    e.to = core::after(e.from, took);
    ports_.drawing->add(within(std::move(e), x.since, now));
  };
  if (told.first_step_ns != 0 && told.text.count() > 0)
    part("text", told.first_step_ns - told.text.count(), told.text);
  if (told.decoded_ns != 0)
    part("decode", told.decoded_ns - told.decode.count(), told.decode);
}

void hub::draw_work(core::worker_id id, std::string_view name, core::ticket who,
                    int64_t began_ns, core::timespan took) {
  const auto w = workers_.find(id);
  if (!ports_.drawing || w == workers_.end() || began_ns == 0)
    return;
  timeline_event e;
  e.name = name;
  e.from = at(began_ns);
  e.to = core::after(e.from, took);
  e.where = track_of(w->second.where, w->second.device);
  // Steps run between the parts of a picture.
  if (!e.where->device.empty())
    e.where->device += " pictures";
  e.rows.push_back(who.id);
  ports_.drawing->add(std::move(e));
}

void hub::draw_steps(const worker& w, const stepped& x) {
  if (!ports_.drawing || x.ended_ns == 0)
    return;
  const auto add = [&](std::string_view name, core::time_point from,
                       core::timespan took) {
    timeline_event e;
    e.name = name;
    e.from = from;
    e.to = core::after(from, took);
    e.where = track_of(w.where, w.device);
    e.numbers.emplace_back("batch", x.batch);
    if (x.steps > 0)
      e.numbers.emplace_back("steps", x.steps);
    for (const auto who : w.batch)
      if (e.rows.size() < most_rows)
        e.rows.push_back(who.id);
    ports_.drawing->add(std::move(e));
  };
  const auto began = at(x.ended_ns) - x.took;
  if (x.opening.count() > 0)
    add("open", began - x.opening, x.opening);
  if (x.steps > 0)
    add("steps", began, x.took);
}

void hub::draw_death(const worker& w, core::time_point now) {
  // Those that leave at the end did not die.
  if (!ports_.drawing || stopping_)
    return;
  timeline_event e;
  e.what = kind::instant;
  e.name = "died";
  e.from = e.to = now;
  e.where = track_of(w.where, w.device);
  for (const auto who : w.has)
    if (e.rows.size() < most_rows)
      e.rows.push_back(who.id);
  ports_.drawing->add(std::move(e));
}

void hub::draw_fall_back(core::request_id id, const row& r, bool resumes,
                         const core::error& why, core::time_point now) {
  if (!ports_.drawing)
    return;
  auto e = on_request(kind::instant, resumes ? "resumed" : "begun again", id);
  e.from = e.to = now;
  e.numbers.emplace_back("steps_done", r.steps_done);
  e.texts.emplace_back("why", core::to_string(why));
  ports_.drawing->add(std::move(e));
}

} // namespace atelier::actors
