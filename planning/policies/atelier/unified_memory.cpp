// SPDX-License-Identifier: Apache-2.0

// Plan files keep this part of atelier's memory, and other parts of the program
// can read it.

#include <atelier/planning/detail/plan_fields.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policies/atelier/atelier.hpp>
#include <atelier/planning/policies/atelier/unified_memory.hpp>

#include <algorithm>
#include <utility>

namespace atelier::planning {

namespace {

/// Returns the gain of one more device: fewer refusals if some are unavoidable,
/// otherwise quality.
std::string worth_of(const explanation& why) {
  constexpr double least = 1e-6;
  if (why.bound.refused > least)
    return fmt::format("{:.4f} requests/s fewer refused", why.helps_by);
  if (why.bound.shortfall > least)
    return fmt::format("{:.4f}/s less quality missing", why.helps_by);
  return fmt::format("{:.4f} quality/s more", why.helps_by);
}

/// Reports contradictions between a memory and its plan.
void check(const unified_memory& m, const saved_memory& from,
           detail::plan_fields& r) {
  const auto& map = m.classes;
  r.rising(map.skips, "memory.skips");
  const auto has = [&](const char* key, size_t there, size_t wanted) {
    if (there != wanted)
      r.complain(fmt::format("memory.{}", key),
                 fmt::format("has {} entries, not {}", there, wanted));
  };
  if (map.skips.empty() || map.skips.front() != 0)
    r.complain("memory.skips", "does not begin with 0");
  has("classes", map.of.size(), map.labels * map.skips.size());
  has("searches", m.searches.size(), map.labels);
  has("blind", m.blind.size(), map.labels);
  if (!map.edits.empty())
    has("edits", map.edits.size(), unified::edit_bins);
  const auto& routes = from.of.routes;
  for (size_t v = 0; v < from.known.variants.size(); ++v)
    if (m.first_route + v >= routes.size()
        || routes[m.first_route + v].legs.empty()) {
      r.complain("memory.first_route",
                 fmt::format("{} does not begin {} routes with stages",
                             m.first_route, from.known.variants.size()));
      break;
    }
}

} // namespace

std::string_view atelier_policy::memory_name() const {
  return unified_memory::name;
}

policy_memory atelier_policy::kept(const policy_memory& all) const {
  unified_memory out;
  if (const auto* x = all.as<unified_memory>()) {
    out.classes = x->classes;
    out.first_route = x->first_route;
    out.searches = x->searches;
    out.blind = x->blind;
  }
  return out;
}

std::string atelier_policy::save(const policy_memory& kept) const {
  const auto* x = kept.as<unified_memory>();
  ATELIER_EXPECTS(x != nullptr, "the memory is atelier's");
  auto searches = detail::json::array();
  for (const char s : x->searches)
    searches.push_back(s != 0);
  return detail::json{
    {"first_route", x->first_route},   {"labels", x->classes.labels},
    {"ladder", x->classes.ladder},     {"skips", x->classes.skips},
    {"classes", x->classes.of},        {"edits", x->classes.edits},
    {"searches", std::move(searches)}, {"blind", detail::rows_json(x->blind)}}
    .dump();
}

core::result<policy_memory> atelier_policy::restore(
  const saved_memory& from) const {
  using namespace detail;
  const auto x = parse_document(from.json, from.file);
  if (!x)
    return x.why();
  const std::string at = "memory";
  plan_fields r{from.file, from.known};
  r.expect_keys(*x, at,
                {"first_route", "labels", "ladder", "skips", "classes", "edits",
                 "searches", "blind"});
  unified_memory m;
  auto& map = m.classes;
  const auto last_class = std::max<size_t>(from.of.share.size(), 1) - 1;
  r.whole(*x, at, "first_route", 0, most_routes, m.first_route);
  r.whole(*x, at, "labels", 1, most_classes, map.labels);
  r.whole(*x, at, "ladder", 0, most_numbers, map.ladder);
  map.skips = r.wholes(*x, at, "skips", most_steps, true);
  map.of = r.wholes(*x, at, "classes", last_class, true);
  map.edits = r.wholes(*x, at, "edits", last_class);
  if (const auto* all = r.list(*x, at, "searches", true, 0, most_classes))
    for (const auto& s : *all) {
      if (!s.is_boolean())
        r.complain("memory.searches", "is not a list of true and false");
      m.searches.push_back(s == true ? 1 : 0);
    }
  m.blind = r.rows(*x, at, "blind", true, from.of.routes);
  if (r.faults() == 0)
    check(m, from, r);
  if (r.faults() != 0)
    return r.why();
  return policy_memory{std::move(m)};
}

bool atelier_policy::may_take(core::route_id route,
                              const policy_memory& kept) const {
  const auto* x = kept.as<unified_memory>();
  return x != nullptr
      && std::any_of(x->blind.begin(), x->blind.end(), [&](const auto& row) {
           return route.value < row.size() && row[route.value] > 0;
         });
}

core::class_id atelier_policy::admission_class(const core::request& wanted,
                                               const facts& known,
                                               const profile& costs,
                                               const plan& in_force) const {
  const auto* memory = in_force.memory.as<unified_memory>();
  if (memory == nullptr)
    return class_of(wanted, known, in_force);
  const auto& map = memory->classes;
  if (wanted.source && !map.edits.empty() && known.mask)
    return core::class_id{map.edits[unified::edit_bin(known.mask->ratio)]};
  uint32_t label = 0;
  if (known.tolerated && map.ladder < known.tolerated->size())
    label = std::min((*known.tolerated)[map.ladder], map.labels - 1);
  const uint32_t skip =
    known.near ? unified::allowed_by(costs, *known.near) : 0;
  return core::class_id{unified::class_in(map, label, skip)};
}

plan_reasons atelier_policy::explain(const plan& made) const {
  const auto* memory = made.memory.as<unified_memory>();
  if (memory == nullptr)
    return {};
  const auto& why = memory->why;
  plan_reasons out;
  out.objective = why.values.gain;
  out.lines.push_back(fmt::format(
    "refused {:.3f} requests/s, missing quality {:.3f}/s, "
    "gain {:.3f} quality/s (no plan exceeds {:.3f})",
    why.values.refused, why.values.shortfall, why.values.gain, why.bound.gain));
  out.lines.push_back(
    "quality/s: the answers of a second, each counted by its quality");
  if (!why.helps_most.empty())
    out.lines.push_back(
      fmt::format("one more device '{}': {}", why.helps_most, worth_of(why)));
  return out;
}

} // namespace atelier::planning
