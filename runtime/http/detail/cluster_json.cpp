// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/cluster_json.hpp>

namespace atelier::runtime::http::detail {

using nlohmann::json;

json workers_json(const engine_status& x) {
  json all = json::array();
  for (const auto& w : x.workers)
    all.push_back({{"device", w.device},
                   {"kind", w.kind},
                   {"variants", w.variants},
                   {"alive", w.alive},
                   {"running", w.running},
                   {"seats", w.seats},
                   {"max_batch", w.max_batch},
                   {"loading", w.loading},
                   {"slow", w.slow}});
  return all;
}

json unloadable_json(const engine_status& x) {
  json all = json::array();
  for (const auto& u : x.unloadable)
    all.push_back({{"device", u.device},
                   {"variant", u.variant},
                   {"code", u.code},
                   {"reason", u.reason}});
  return all;
}

json routes_json(const engine_status& x) {
  json all = json::array();
  for (const auto& r : x.routes) {
    all.push_back(
      {{"name", r.name}, {"stages", r.stages}, {"shares", r.shares}});
    if (r.threshold)
      all.back()["threshold"] = *r.threshold;
  }
  return all;
}

json processes_json(const engine_status& x) {
  json all = json::array();
  for (const auto& p : x.processes) {
    all.push_back({{"role", p.role},
                   {"pid", p.pid},
                   {"restarts", p.restarts},
                   {"alive", p.alive}});
    if (!p.fault.empty())
      all.back()["fault"] = p.fault;
  }
  return all;
}

} // namespace atelier::runtime::http::detail
