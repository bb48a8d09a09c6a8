// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/health.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace atelier::runtime::http {

namespace {

using json = nlohmann::ordered_json;

json workers_of(const engine_status& x, bool whole) {
  auto out = json::array();
  for (const auto& w : x.workers) {
    json one{{"device", w.device}, {"alive", w.alive}, {"running", w.running}};
    if (whole)
      one["variants"] = w.variants;
    out.push_back(std::move(one));
  }
  return out;
}

json processes_of(const engine_status& x) {
  auto out = json::array();
  for (const auto& p : x.processes)
    out.push_back({{"role", p.role},
                   {"pid", p.pid},
                   {"alive", p.alive},
                   {"restarts", p.restarts}});
  return out;
}

} // namespace

health::health(std::shared_ptr<const picture_service> of, std::string version,
               std::function<core::time_point()> clock)
  : pictures_(std::move(of)),
    version_(std::move(version)),
    clock_(std::move(clock)),
    since_(clock_()) {}

void health::enter(stage x) {
  const std::lock_guard guard{mutex_};
  stage_ = x;
}

void health::drain(bool wanted) {
  const std::lock_guard guard{mutex_};
  draining_ = wanted;
}

bool health::draining() const {
  const std::lock_guard guard{mutex_};
  return draining_;
}

void health::refresh() {
  auto now = pictures_->status();
  const std::lock_guard guard{mutex_};
  last_ = std::move(now);
}

engine_status health::last() const {
  const std::lock_guard guard{mutex_};
  return last_;
}

std::string_view health::word() const {
  const std::lock_guard guard{mutex_};
  return word_now();
}

std::string_view health::word_now() const {
  if (stage_ == stage::starting)
    return "starting";
  if (stage_ == stage::stopping)
    return "stopping";
  if (draining_)
    return "draining";
  const bool alive =
    std::any_of(last_.workers.begin(), last_.workers.end(),
                [](const worker_status& x) { return x.alive; });
  return alive ? "ok" : "degraded";
}

reply_message health::reply(scope to) const {
  const bool whole = to != scope::anyone;
  const std::lock_guard guard{mutex_};
  const auto word = word_now();
  json body{{"status", word},
            {"version", version_},
            {"uptime_s", std::round(core::to_ms(clock_() - since_)) / 1000},
            {"waiting", last_.waiting},
            {"running", last_.running},
            {"workers", workers_of(last_, whole)}};
  if (whole) {
    body["accepted"] = last_.accepted;
    body["answered"] = last_.answered;
    body["failed"] = last_.failed;
    body["cancelled"] = last_.cancelled;
    body["refused"] = last_.refused;
    body["processes"] = processes_of(last_);
  }
  reply_message out;
  out.status = word == "ok" ? 200 : 503;
  if (out.status == 503)
    out.headers.emplace_back("Retry-After", "1");
  out.body = body.dump();
  return out;
}

void add_health_route(route_table& to, std::shared_ptr<const health> how) {
  to.add({"GET", "/health", scope::anyone, error_shape::plain,
          [how = std::move(how)](const std::shared_ptr<exchange>& x) {
            x->reply(how->reply(x->asked().who));
          }});
}

} // namespace atelier::runtime::http
