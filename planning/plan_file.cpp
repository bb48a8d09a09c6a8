// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/comparisons.hpp>
#include <atelier/planning/detail/plan_reader.hpp>
#include <atelier/planning/plan_file.hpp>

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

json stage_json(const leg& x, const profile& known) {
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
  for (const auto& s : x.legs)
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

json memory_json(const policy_memory& x, const policy_list& more) {
  const auto by = x ? policy_remembering(x.of(), more) : nullptr;
  if (!by)
    return nullptr;
  json out{{"of", x.of()}};
  out.update(json::parse(by->save(x)));
  return out;
}

/// Writes a list with a line for each element, so that users can edit it.
std::string lines_of(const json& list) {
  std::string out = "[";
  for (const auto& x : list)
    out += (out.size() > 1 ? ",\n    " : "\n    ") + x.dump();
  return out + (list.empty() ? "]" : "\n  ]");
}

} // namespace

saved_plan saved(const plan& of, std::string_view policy,
                 const policy_list& more) {
  saved_plan out;
  out.policy = policy;
  for (const auto& a : of.workers) {
    worker_group g{1, a.hosting, a.batch, a.level, a.join, {}, a.batch_time};
    for (const auto queue : a.also_serves)
      if (!worker_of(queue))
        g.also_serves.emplace_back(queue.value);
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
  // The admitted part of the demand is never below 0.
  for (const double rate : of.admitted_rates)
    out.admitted_rates.push_back(std::max(rate, 0.0));
  out.saturated = of.saturated;
  out.retry_after = of.retry_after;
  if (const auto by =
        of.memory ? policy_remembering(of.memory.of(), more) : nullptr)
    out.memory = by->kept(of.memory);
  return out;
}

std::string to_json(const saved_plan& x, const profile& known,
                    const policy_list& more) {
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
    lines_of(routes), lines_of(detail::rows_json(x.share)));
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
  if (const auto memory = memory_json(x.memory, more); !memory.is_null())
    add("memory", memory);
  return out + "\n}\n";
}

core::result<saved_plan> parse_plan(std::string_view text,
                                    std::string_view where,
                                    const profile& known,
                                    const policy_list& more) {
  const auto document = detail::parse_document(text, where, most_plan_bytes);
  if (!document)
    return document.why();
  return detail::read_plan(*document, where, known, more);
}

bool plan_is_for_comparisons(std::string_view plan_json) {
  const auto x = detail::parse_document(plan_json, "plan", most_plan_bytes);
  if (!x)
    return false;
  const auto by = x->find("policy");
  return by != x->end() && by->is_string()
      && is_for_comparisons(by->get_ref<const std::string&>());
}

} // namespace atelier::planning
