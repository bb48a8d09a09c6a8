// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/detail/plan_reader.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace atelier::planning {

namespace {

using detail::json;
using detail::ms_of;

json names_of(std::span<const core::variant_id> variants,
              const profile& known) {
  auto out = json::array();
  for (const auto v : variants)
    out.push_back(known.variants.at(v.value).name);
  return out;
}

/// The routes that have a share, by index.
json row_of(std::span<const double> share) {
  auto out = json::object();
  for (size_t r = 0; r < share.size(); ++r)
    if (share[r] != 0)
      out[std::to_string(r)] = share[r];
  return out;
}

json rows_of(std::span<const std::vector<double>> share) {
  auto out = json::array();
  for (const auto& row : share)
    out.push_back(row_of(row));
  return out;
}

json group_json(const worker_group& x, const profile& known) {
  json out{{"count", x.count},
           {"hosting", names_of(x.hosting, known)},
           {"batch", x.batch}};
  if (x.level != 0)
    out["level"] = x.level;
  out["join"] = detail::joinings(x.join);
  if (!x.also_serves.empty())
    out["also_serves"] = names_of(x.also_serves, known);
  if (x.batch_time.count() != 0)
    out["batch_time_ms"] = ms_of(x.batch_time);
  return out;
}

json stage_json(const stage& x, const profile& known) {
  json out{{"any_of", names_of(x.any_of, known)}};
  if (x.from != origin::noise)
    out["from"] = detail::origins(x.from);
  if (x.skip != 0)
    out["skip"] = x.skip;
  if (x.steps != 0)
    out["steps"] = x.steps;
  if (x.skip_of != 0)
    out["skip_of"] = x.skip_of;
  if (x.level_of_worker)
    out["level_of_worker"] = true;
  if (!x.capture.empty())
    out["capture"] = x.capture;
  if (x.record)
    out["record"] = true;
  if (x.check)
    out["gate"] = {{"judge", x.check->judge},
                   {"threshold", x.check->threshold}};
  return out;
}

json route_json(size_t index, const route& x, const profile& known) {
  json out{{"route", index}, {"name", x.name}};
  out["stages"] = json::array();
  for (const auto& s : x.stages)
    out["stages"].push_back(stage_json(s, known));
  if (x.from != origin::noise)
    out["from"] = detail::origins(x.from);
  if (x.store.latents || x.store.image) {
    out["store"] = json::array();
    if (x.store.latents)
      out["store"].push_back("latents");
    if (x.store.image)
      out["store"].push_back("image");
  }
  if (x.late != late_rule::drop)
    out["late"] = detail::late_rules(x.late);
  return out;
}

struct memory_writer {
  json operator()(const std::monostate&) const {
    return nullptr;
  }

  json operator()(const argus_memory& x) const {
    return {{"of", "argus"},
            {"phase", detail::phases(x.change.phase)},
            {"first_route", x.first_route},
            {"levels", x.levels}};
  }

  json operator()(const diffserve_memory&) const {
    return {{"of", "diffserve"}};
  }

  json operator()(const modm_memory&) const {
    return {{"of", "modm"}};
  }

  json operator()(const nirvana_memory& x) const {
    return {{"of", "nirvana"}, {"asks_predictor", x.asks_predictor}};
  }

  json operator()(const unified_memory& x) const {
    auto searches = json::array();
    for (const char s : x.searches)
      searches.push_back(s != 0);
    return {{"of", "atelier"},
            {"first_route", x.first_route},
            {"labels", x.classes.labels},
            {"ladder", x.classes.ladder},
            {"skips", x.classes.skips},
            {"classes", x.classes.of},
            {"edits", x.classes.edits},
            {"searches", std::move(searches)},
            {"blind", rows_of(x.blind)}};
  }
};

/// A list with a line for each element, so that people can change it.
std::string lines_of(const json& list) {
  std::string out = "[";
  for (const auto& x : list)
    out += (out.size() > 1 ? ",\n    " : "\n    ") + x.dump();
  return out + (list.empty() ? "]" : "\n  ]");
}

/// What of a policy's memory its choice of a route reads.
struct choosing_part {
  policy_memory operator()(const argus_memory& x) const {
    argus_memory out;
    out.change.phase = x.change.phase;
    out.first_route = x.first_route;
    out.levels = x.levels;
    return out;
  }

  policy_memory operator()(const diffserve_memory&) const {
    return diffserve_memory{};
  }

  policy_memory operator()(const modm_memory&) const {
    return modm_memory{};
  }

  policy_memory operator()(const unified_memory& x) const {
    unified_memory out;
    out.classes = x.classes;
    out.first_route = x.first_route;
    out.searches = x.searches;
    out.blind = x.blind;
    return out;
  }

  template <class Memory>
  policy_memory operator()(const Memory& x) const {
    return x;
  }
};

} // namespace

saved_plan saved(const plan& of, std::string_view policy) {
  saved_plan out;
  out.policy = policy;
  for (const auto& a : of.workers) {
    worker_group g{1, a.hosting, a.batch, a.level, a.join, {}, a.batch_time};
    for (const auto lane : a.also_serves)
      if (!worker_of(lane))
        g.also_serves.emplace_back(lane.value);
    const auto same =
      std::find_if(out.workers.begin(), out.workers.end(), [&](auto& other) {
        g.count = other.count;
        return other == g;
      });
    if (same != out.workers.end()) {
      ++same->count;
    } else {
      g.count = 1;
      out.workers.push_back(std::move(g));
    }
  }
  out.routes = of.routes;
  out.share = of.share;
  out.thresholds = of.thresholds;
  // Of all that is asked, nothing less than none is left.
  for (const double rate : of.admitted_rates)
    out.admitted_rates.push_back(std::max(rate, 0.0));
  out.saturated = of.saturated;
  out.retry_after = of.retry_after;
  out.memory = std::visit(choosing_part{}, of.memory);
  return out;
}

std::string to_json(const saved_plan& x, const profile& known) {
  auto workers = json::array();
  for (const auto& g : x.workers)
    workers.push_back(group_json(g, known));
  auto routes = json::array();
  for (size_t r = 0; r < x.routes.size(); ++r)
    routes.push_back(route_json(r, x.routes[r], known));
  auto out = fmt::format(
    "{{\n  \"format\": \"{}\",\n  \"version\": 1,\n  \"policy\": {},\n"
    "  \"workers\": {},\n  \"routes\": {},\n  \"share\": {}",
    detail::plan_format, json(x.policy).dump(), lines_of(workers),
    lines_of(routes), lines_of(rows_of(x.share)));
  const auto add = [&](const char* key, const json& value) {
    out += fmt::format(",\n  \"{}\": {}", key, value.dump());
  };
  if (!x.thresholds.empty())
    add("thresholds", x.thresholds);
  if (!x.admitted_rates.empty())
    add("admitted_rates", x.admitted_rates);
  if (x.saturated)
    add("saturated", true);
  if (x.retry_after.count() != 0)
    add("retry_after_ms", ms_of(x.retry_after));
  if (const auto memory = std::visit(memory_writer{}, x.memory);
      !memory.is_null())
    add("memory", memory);
  return out + "\n}\n";
}

core::result<saved_plan> parse_plan(std::string_view text,
                                    std::string_view where,
                                    const profile& known) {
  const auto document = detail::parse_document(text, where, most_plan_bytes);
  if (!document)
    return document.why();
  return detail::read_plan(*document, where, known);
}

} // namespace atelier::planning
