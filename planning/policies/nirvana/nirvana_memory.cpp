// SPDX-License-Identifier: Apache-2.0

// Plan files keep this part of nirvana's memory.

#include <atelier/planning/detail/plan_fields.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policies/nirvana/nirvana.hpp>
#include <atelier/planning/policies/nirvana/nirvana_memory.hpp>

#include <fmt/format.h>

namespace atelier::planning {

plan_reasons nirvana_policy::explain(const plan& made) const {
  const auto* memory = made.memory.as<nirvana_memory>();
  plan_reasons out;
  if (memory == nullptr)
    return out;
  std::string skips;
  for (const auto& x : memory->thresholds)
    skips += fmt::format("{}{} {}above {:.3f}", skips.empty() ? "" : ", ",
                         x.skip, skips.empty() ? "steps " : "", x.similarity);
  if (!memory->thresholds_of.empty())
    out.lines.push_back(
      fmt::format("thresholds {}: {}", memory->thresholds_of,
                  skips.empty() ? "no skip keeps the quality" : skips));
  if (!memory->images_of.empty())
    out.lines.push_back(memory->images_of);
  if (!memory->predictor_of.empty())
    out.lines.push_back("predictor of matches: " + memory->predictor_of);
  return out;
}

policy_memory nirvana_policy::kept(const policy_memory& all) const {
  nirvana_memory out;
  if (const auto* x = all.as<nirvana_memory>())
    out.asks_predictor = x->asks_predictor;
  return out;
}

std::string_view nirvana_policy::memory_name() const {
  return nirvana_memory::name;
}

std::string nirvana_policy::save(const policy_memory& kept) const {
  const auto* x = kept.as<nirvana_memory>();
  ATELIER_EXPECTS(x != nullptr, "the memory is nirvana's");
  return detail::json{{"asks_predictor", x->asks_predictor}}.dump();
}

core::result<policy_memory> nirvana_policy::restore(
  const saved_memory& from) const {
  const auto x = detail::parse_document(from.json, from.file);
  if (!x)
    return x.why();
  detail::plan_fields r{from.file, from.known};
  r.expect_keys(*x, "memory", {"asks_predictor"});
  nirvana_memory m;
  r.flag(*x, "memory", "asks_predictor", m.asks_predictor);
  if (r.faults() != 0)
    return r.why();
  return policy_memory{m};
}

} // namespace atelier::planning
