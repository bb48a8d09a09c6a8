// SPDX-License-Identifier: Apache-2.0

// Plan files keep this part of argus' memory.

#include <atelier/planning/detail/plan_fields.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policies/argus/argus.hpp>
#include <atelier/planning/policies/argus/argus_memory.hpp>

#include <algorithm>

namespace atelier::planning {

namespace {

constexpr detail::words<argus::switch_phase, 4> phases{
  {"latents", "leaving", "models", "returning"}};

} // namespace

std::string_view argus_policy::memory_name() const {
  return argus_memory::name;
}

policy_memory argus_policy::kept(const policy_memory& all) const {
  argus_memory out;
  if (const auto* x = all.as<argus_memory>()) {
    out.change.phase = x->change.phase;
    out.first_route = x->first_route;
    out.levels = x->levels;
  }
  return out;
}

std::string argus_policy::save(const policy_memory& kept) const {
  const auto* x = kept.as<argus_memory>();
  ATELIER_EXPECTS(x != nullptr, "the memory is argus'");
  return detail::json{{"phase", phases(x->change.phase)},
                      {"first_route", x->first_route},
                      {"levels", x->levels}}
    .dump();
}

core::result<policy_memory> argus_policy::restore(
  const saved_memory& from) const {
  const auto x = detail::parse_document(from.json, from.file);
  if (!x)
    return x.why();
  const std::string at = "memory";
  const auto& routes = from.of.routes;
  detail::plan_fields r{from.file, from.known};
  r.expect_keys(*x, at, {"phase", "first_route", "levels"});
  argus_memory m;
  r.word(*x, at, "phase", phases, m.change.phase, true);
  r.whole(*x, at, "levels", 0, detail::most_numbers, m.levels);
  const auto last = std::max<size_t>(routes.size(), 1) - 1;
  r.whole(*x, at, "first_route", 0, last, m.first_route);
  if (m.levels > 0 && m.first_route < routes.size()
      && routes[m.first_route].legs.empty())
    r.complain("memory.first_route",
               fmt::format("{} is a route without stages", m.first_route));
  if (r.faults() != 0)
    return r.why();
  return policy_memory{m};
}

} // namespace atelier::planning
