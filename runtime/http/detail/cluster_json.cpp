// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/cluster_json.hpp>

#include <string>

namespace atelier::runtime::http::detail {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

// NaN becomes null.
ordered_json value_json(const figure_value& x) {
  return std::visit([](auto value) { return ordered_json(value); }, x);
}

} // namespace

ordered_json grouped_figures(std::span<const shown_figure> all) {
  auto out = ordered_json::object();
  for (const auto& x : all)
    if (x.is.shown != core::figure_place::metrics)
      out[std::string{x.is.group}][std::string{x.is.name}] =
        value_json(x.value);
  return out;
}

ordered_json figures_at(core::figure_place where,
                        std::span<const shown_figure> all) {
  auto out = ordered_json::object();
  for (const auto& x : all)
    if (x.is.shown == where)
      out[std::string{x.is.name}] = value_json(x.value);
  return out;
}

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
