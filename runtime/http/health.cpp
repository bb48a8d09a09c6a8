// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/cluster_json.hpp>
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

/// Returns the variants that devices could not load; reasons name files.
json unloadable_of(const engine_status& x, bool whole) {
  auto out = json::array();
  for (const auto& u : x.unloadable) {
    json one{{"device", u.device}, {"variant", u.variant}};
    if (whole)
      one["reason"] = u.reason;
    out.push_back(std::move(one));
  }
  return out;
}

json processes_of(const engine_status& x) {
  auto out = json::array();
  for (const auto& p : x.processes) {
    out.push_back({{"role", p.role},
                   {"pid", p.pid},
                   {"alive", p.alive},
                   {"ready", p.ready},
                   {"restarts", p.restarts}});
    if (!p.fault.empty())
      out.back()["fault"] = p.fault;
  }
  return out;
}

/// Returns how often each stage was left out, by name; those that never were
/// are not named.
json stages_left_out(const engine_status& x) {
  auto out = json::object();
  for (const auto& s : x.stages)
    if (s.left_out > 0)
      out[s.name] = s.left_out;
  return out;
}

/// Returns the names of the processes that do no work: killed, starting or
/// loading. The cache is among them if its disk is left out.
std::vector<std::string> parts_down(const engine_status& x) {
  std::vector<std::string> out;
  for (const auto& p : x.processes)
    if (!p.ready)
      out.push_back(p.role);
  if (x.cache && (x.cache->reads_left_out || x.cache->writes_left_out))
    out.emplace_back("cache");
  return out;
}

/// Whether a device draws, or is about to: one whose models all failed to load
/// does not.
bool draws(const worker_status& w, const engine_status& x) {
  return w.alive
      && (!w.variants.empty() || w.loading
          || std::none_of(x.unloadable.begin(), x.unloadable.end(),
                          [&](const auto& u) { return u.device == w.device; }));
}

/// Whether every request has to wait for a process that is down.
bool is_blocked(const engine_status& x) {
  constexpr std::string_view for_all = "cpu";
  return std::any_of(
    x.processes.begin(), x.processes.end(),
    [&](const auto& p) { return p.role == for_all && !p.ready; });
}

} // namespace

health::health(std::shared_ptr<const image_service> of, std::string version,
               std::function<core::time_point()> clock)
  : images_(std::move(of)),
    version_(std::move(version)),
    clock_(std::move(clock)),
    since_(clock_()) {}

void health::enter(stage x) {
  const std::lock_guard guard{mutex_};
  stage_ = x;
}

void health::end(core::time_point until) {
  const std::lock_guard guard{mutex_};
  stage_ = stage::draining;
  ends_at_ = until;
}

void health::drain(bool wanted) {
  const std::lock_guard guard{mutex_};
  draining_ = wanted;
}

bool health::draining() const {
  const std::lock_guard guard{mutex_};
  return draining_now();
}

bool health::draining_now() const {
  return draining_ || stage_ == stage::draining || stage_ == stage::stopping;
}

void health::refresh() {
  auto now = images_->status();
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
  if (draining_now())
    return "draining";
  const bool any =
    !last_.is_stale
    && std::any_of(last_.workers.begin(), last_.workers.end(),
                   [&](const worker_status& w) { return draws(w, last_); });
  return any && !is_blocked(last_) ? "ok" : "degraded";
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
            {"draining", draining_now()},
            {"down", parts_down(last_)},
            {"unloadable", unloadable_of(last_, whole)},
            {"feasible", last_.infeasible.empty()},
            {"workers", workers_of(last_, whole)}};
  if (stage_ == stage::draining && ends_at_)
    body["drain_left_s"] =
      std::round(std::max(0.0, core::to_seconds(*ends_at_ - clock_())) * 1000)
      / 1000;
  if (whole) {
    body["policy"] = last_.policy;
    body["policy_automatic"] = last_.policy_is_automatic;
    body["infeasible"] = last_.infeasible;
    const auto figures = figures_of(last_);
    body.update(detail::figures_at(core::figure_place::health, figures));
    body["processes"] = processes_of(last_);
    body["stages_left_out"] = stages_left_out(last_);
    if (auto counts = detail::figures_at(core::figure_place::status, figures);
        !counts.empty())
      body["counts"] = std::move(counts);
  }
  reply_message out;
  out.status = word == "ok" ? 200 : 503;
  if (out.status == 503)
    out.headers.emplace_back("Retry-After", "1");
  out.body = body.dump();
  return out;
}

void add_health_route(route_table& to, std::shared_ptr<const health> how) {
  to.add({"GET", "/health", scope::anyone, error_shape::openai,
          [how = std::move(how)](const std::shared_ptr<exchange>& x) {
            x->reply(how->reply(x->asked().caller));
          }});
}

} // namespace atelier::runtime::http
