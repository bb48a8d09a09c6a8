// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/device_kind.hpp>
#include <atelier/config/load.hpp>
#include <atelier/core/log_control.hpp>
#include <atelier/planning/automatic.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/http/admin_routes.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/cache_entries.hpp>
#include <atelier/runtime/http/detail/cluster_json.hpp>
#include <atelier/runtime/http/detail/field_reader.hpp>
#include <atelier/runtime/http/detail/replies.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace atelier::runtime::http {

namespace {

using detail::json_reply;
using detail::reply_json;
using exchange_ptr = std::shared_ptr<exchange>;

constexpr auto shape = error_shape::openai;

struct admin_api {
  admin_context context;

  void plan(const exchange_ptr& x) const;
  void profile(const exchange_ptr& x) const;
  void workers(const exchange_ptr& x) const;
  void topology(const exchange_ptr& x) const;
  void caches(const exchange_ptr& x) const;
  void cache_entries(const exchange_ptr& x) const;
  void look_at_drain(const exchange_ptr& x) const;
  void drain(const exchange_ptr& x) const;
  void end_drain(const exchange_ptr& x) const;
  void look_at_log(const exchange_ptr& x) const;
  void set_log(const exchange_ptr& x) const;
  void load(const exchange_ptr& x) const;
  void unload(const exchange_ptr& x) const;
  void host(const exchange_ptr& x, bool there) const;
};

void admin_api::plan(const exchange_ptr& x) const {
  const auto now = context.condition->last();
  auto workers = reply_json::array();
  for (const auto& w : now.workers)
    workers.push_back({{"device", w.device},
                       {"kind", w.kind},
                       {"variants", w.variants},
                       {"max_batch", w.max_batch},
                       {"loading", w.loading},
                       {"slow", w.slow}});
  x->reply(json_reply({{"policy", now.policy},
                       {"policy_automatic", now.policy_is_automatic},
                       {"version", now.plan_version},
                       {"routes", detail::routes_json(now)},
                       {"thresholds", now.thresholds},
                       {"deferred", now.deferred},
                       {"admitted_rates", now.admitted_rates},
                       {"reasons", now.reasons},
                       {"objective", now.objective ? reply_json(*now.objective)
                                                   : reply_json(nullptr)},
                       {"saturated", now.saturated},
                       {"infeasible", now.infeasible},
                       {"wanted", now.wanted},
                       {"sent_away", now.sent_away},
                       {"workers", workers}}));
}

void admin_api::profile(const exchange_ptr& x) const {
  const auto now = context.condition->last();
  if (now.profiles.empty())
    return x->reply(
      error_reply(shape, 503, "unavailable",
                  "the scheduler has not reported its profile yet"));
  const auto asked = find_field(x->asked().query, "kind");
  const auto found =
    asked.empty()
      ? now.profiles.begin()
      : std::find_if(now.profiles.begin(), now.profiles.end(),
                     [&](const auto& p) { return p.kind == asked; });
  if (found == now.profiles.end())
    return x->reply(error_reply(
      shape, 404, "not_found",
      fmt::format("kind: no device of kind '{}' has costs of its own", asked)));
  reply_message r;
  r.body = *found->text;
  x->reply(std::move(r));
}

void admin_api::workers(const exchange_ptr& x) const {
  const auto now = context.condition->last();
  x->reply(json_reply({{"workers", detail::workers_json(now)},
                       {"unloadable", detail::unloadable_json(now)},
                       {"processes", detail::processes_json(now)}}));
}

/// Returns the settings without the paths of keys and certificates, which only
/// those with access to the machine may know.
config::settings without_secrets(config::settings x) {
  x.http.keys.clear();
  x.http.certificate.clear();
  x.http.private_key.clear();
  return x;
}

void admin_api::topology(const exchange_ptr& x) const {
  const auto& s = context.settings;
  auto devices = reply_json::array();
  for (const auto& d : s.devices)
    devices.push_back({{"name", d.name},
                       {"kind", config::device_kind(d)},
                       {"executor", d.executor},
                       {"variants", d.variants},
                       {"max_batch", d.max_batch},
                       {"seats", d.seats}});
  const bool split = s.processes.mode == config::process_mode::split;
  const auto in_use = context.condition->last().policy;
  x->reply(
    json_reply({{"processes", split ? "split" : "single"},
                {"devices", devices},
                {"preprocess_workers", s.preprocess.workers},
                {"postprocess_workers", s.postprocess.workers},
                {"policy", in_use.empty() ? s.policy.name : in_use},
                {"policy_automatic", s.policy.name == planning::automatic_name},
                {"toml", config::to_toml(without_secrets(s))}}));
}

void admin_api::caches(const exchange_ptr& x) const {
  const auto kept = context.all->kept();
  const auto& http = context.settings.http;
  reply_json all{{"results",
                  {{"jobs", kept.jobs},
                   {"bytes", kept.bytes},
                   {"most_bytes", http.results_bytes},
                   {"disk_bytes", kept.disk_bytes},
                   {"most_disk_bytes", http.results_disk_bytes},
                   {"kept_s", core::to_seconds(http.results)}}}};
  if (const auto now = context.condition->last(); now.cache) {
    const auto figures = detail::grouped_figures(figures_of(now));
    auto& cache = all["earlier_work"];
    for (const auto& [name, value] : figures.at("earlier_work").items()) {
      cache[name] = value;
      if (name == "spent")
        cache["eviction"] = context.settings.cache.eviction;
      if (name == "evicted_payloads")
        cache["compares"] = now.cache->compares;
    }
    cache["predictor"] = figures.at("predictor");
  }
  x->reply(json_reply(all));
}

void admin_api::cache_entries(const exchange_ptr& x) const {
  auto page = detail::read_cache_query(x->asked());
  if (!page)
    return x->reply(
      error_reply(shape, 400, core::to_string(page.why().code), page.why().text,
                  page.why().text.substr(0, page.why().text.find(' '))));
  const auto most = page->most;
  // One more, to know whether there are others.
  ++page->most;
  detail::run_unless_gone(
    context.calls, x, shape, [x, page = *page, most, with = context] {
      auto found = with.images->cache_entries(page);
      if (!found)
        return x->reply(detail::failure_reply(shape, found.why()));
      auto& entries = found.value();
      const bool has_more = entries.size() > most;
      if (has_more)
        entries.pop_back();
      const auto names = detail::names_by_tenant(
        with.callers ? with.callers->names() : std::vector<std::string>{});
      const auto now = with.calls.wall
                       ? with.calls.wall()
                       : std::chrono::system_clock::time_point{};
      x->reply(
        json_reply(detail::cache_entries_json(entries, has_more, names, now)));
    });
}

void admin_api::look_at_drain(const exchange_ptr& x) const {
  const auto now = context.condition->last();
  x->reply(json_reply({{"draining", context.condition->draining()},
                       {"open_jobs", context.all->open()},
                       {"waiting", now.waiting},
                       {"running", now.running}}));
}

void admin_api::drain(const exchange_ptr& x) const {
  context.condition->drain(true);
  look_at_drain(x);
}

void admin_api::end_drain(const exchange_ptr& x) const {
  context.condition->drain(false);
  look_at_drain(x);
}

void admin_api::look_at_log(const exchange_ptr& x) const {
  x->reply(json_reply({{"level", core::to_string(core::log_threshold())}}));
}

void admin_api::set_log(const exchange_ptr& x) const {
  auto object = detail::parse_object(x->asked().body);
  if (!object)
    return x->reply(error_reply(shape, 400, core::to_string(object.why().code),
                                object.why().text));
  detail::field_reader r{*object};
  const auto level =
    r.choice("level", {"trace", "debug", "info", "warn", "error", "off"});
  if (!level)
    r.refuse("level", "level is missing");
  r.no_others();
  if (!r.good())
    return x->reply(detail::fault_reply(shape, r.why()));
  // A log that was off at the start cannot be turned on. The server has not
  // failed, so the status is not 5xx.
  if (auto done = core::set_log_threshold(*level); !done)
    return x->reply(error_reply(shape, 409, "conflict", done.why().text));
  look_at_log(x);
}

void admin_api::load(const exchange_ptr& x) const {
  host(x, true);
}

void admin_api::unload(const exchange_ptr& x) const {
  host(x, false);
}

void admin_api::host(const exchange_ptr& x, bool there) const {
  const std::string name{find_field(x->asked().parts, "name")};
  const auto done = context.images->host_model(name, there);
  // The devices follow with the next plan; the workers' route shows the result.
  if (done)
    return x->reply(
      json_reply({{"model", name}, {"wanted", there ? "there" : "away"}}, 202));
  const auto& why = done.why();
  const auto status = why.code == "not_found"        ? 404u
                    : why.code == "out_of_resources" ? 409u
                                                     : 503u;
  x->reply(error_reply(shape, status, why.code, why.text));
}

} // namespace

void add_admin_routes(route_table& to, admin_context with) {
  const auto api =
    std::make_shared<const admin_api>(admin_api{std::move(with)});
  const auto add = [&](const char* method, const char* pattern,
                       void (admin_api::*answer)(const exchange_ptr&) const) {
    to.add({method, pattern, scope::admin, shape,
            [api, answer](const exchange_ptr& x) { ((*api).*answer)(x); },
            method == std::string_view{"PUT"}});
  };
  add("GET", "/v1/admin/plan", &admin_api::plan);
  add("GET", "/v1/admin/profile", &admin_api::profile);
  add("GET", "/v1/admin/workers", &admin_api::workers);
  add("GET", "/v1/admin/topology", &admin_api::topology);
  add("GET", "/v1/admin/caches", &admin_api::caches);
  add("GET", "/v1/admin/caches/entries", &admin_api::cache_entries);
  add("GET", "/v1/admin/drain", &admin_api::look_at_drain);
  add("POST", "/v1/admin/drain", &admin_api::drain);
  add("DELETE", "/v1/admin/drain", &admin_api::end_drain);
  add("GET", "/v1/admin/log", &admin_api::look_at_log);
  add("PUT", "/v1/admin/log", &admin_api::set_log);
  add("POST", "/v1/admin/models/{name}/load", &admin_api::load);
  add("POST", "/v1/admin/models/{name}/unload", &admin_api::unload);
}

} // namespace atelier::runtime::http
