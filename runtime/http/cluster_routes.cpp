// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/json_text.hpp>
#include <atelier/core/version.hpp>
#include <atelier/runtime/http/cluster_routes.hpp>
#include <atelier/runtime/http/detail/cluster_json.hpp>

#include <nlohmann/json.hpp>

#include <utility>

namespace atelier::runtime::http {

namespace {

using nlohmann::json;

double seconds(std::chrono::nanoseconds x) {
  return std::chrono::duration<double>(x).count();
}

json variants_json(const image_service& from) {
  json all = json::array();
  for (const auto& v : from.variants())
    all.push_back({{"name", v.name},
                   {"model", v.model},
                   {"steps", v.steps},
                   {"guidance", v.guidance},
                   {"sampler", v.sampler},
                   {"karras", v.karras},
                   {"width", v.width},
                   {"height", v.height},
                   {"native_only", v.native_only}});
  return {{"data", std::move(all)}};
}

json recent_json(const recent_images& recent) {
  const auto now = recent.now();
  json all = json::array();
  for (const auto& x : recent.all())
    all.push_back({{"age_s", seconds(now - x.time)},
                   {"seconds", seconds(x.took)},
                   {"variant", x.variant},
                   {"route", x.route}});
  return all;
}

json cluster_json(const engine_status& e, const recent_images& recent) {
  json out{{"version", version()},
           {"quick_build", core::is_quick_build()},
           {"policy", e.policy},
           {"policy_automatic", e.policy_is_automatic},
           {"plan_version", e.plan_version},
           {"routes", detail::routes_json(e)},
           {"thresholds", e.thresholds},
           {"saturated", e.saturated},
           {"infeasible", e.infeasible},
           {"batches", e.batches},
           {"workers", detail::workers_json(e)},
           {"unloadable", detail::unloadable_json(e)},
           {"processes", detail::processes_json(e)},
           {"recent", recent_json(recent)}};
  const auto figures = detail::grouped_figures(figures_of(e));
  // GET /v1/admin/caches has those of the cache.
  for (const auto& [group, x] : figures.items())
    if (group != "earlier_work" && group != "predictor")
      out[group] = x;
  return out;
}

route get(std::string pattern, scope needs, handler answer) {
  route x;
  x.method = "GET";
  x.pattern = std::move(pattern);
  x.needs = needs;
  x.answer = std::move(answer);
  return x;
}

void reply_json(exchange& with, const json& body) {
  reply_message reply;
  reply.body = core::json_text(body);
  with.reply(std::move(reply));
}

} // namespace

void add_cluster_routes(route_table& to, const cluster_context& with) {
  to.add(get("/v1/variants", scope::user,
             [from = with.images](const std::shared_ptr<exchange>& x) {
               reply_json(*x, variants_json(*from));
             }));
  to.add(get(
    "/v1/cluster", scope::admin, [with](const std::shared_ptr<exchange>& x) {
      reply_json(*x, cluster_json(with.condition->last(), *with.recent));
    }));
  to.add(
    get("/metrics", scope::admin, [with](const std::shared_ptr<exchange>& x) {
      metrics_snapshot now;
      now.engine = with.condition->last();
      if (with.all) {
        now.open_jobs = with.all->open();
        now.kept = with.all->kept();
      }
      reply_message reply;
      reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
      reply.body = with.counted->exposition(now);
      x->reply(std::move(reply));
    }));
}

} // namespace atelier::runtime::http
