// SPDX-License-Identifier: Apache-2.0

// This file lists every policy in the order in which users see them: a new
// policy has its row here, even if another program makes it.

#include <atelier/core/edit_distance.hpp>
#include <atelier/planning/comparisons.hpp>
#include <atelier/planning/policies/argus/argus.hpp>
#include <atelier/planning/policies/atelier/atelier.hpp>
#include <atelier/planning/policies/diffserve/diffserve.hpp>
#include <atelier/planning/policies/fixed/fixed.hpp>
#include <atelier/planning/policies/instgenie/instgenie.hpp>
#include <atelier/planning/policies/modm/modm.hpp>
#include <atelier/planning/policies/nirvana/nirvana.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>
#include <atelier/planning/policy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace atelier::planning {

namespace {

template <class Policy>
policy_ptr one(std::string_view) {
  return std::make_shared<Policy>();
}

// Returns the policy whose rules have this name.
template <class Policy, auto all_rules>
policy_ptr by_rules(std::string_view name) {
  for (auto& rules : all_rules())
    if (rules.name == name)
      return std::make_shared<Policy>(std::move(rules));
  return nullptr;
}

constexpr auto argus_by = by_rules<argus_policy, all_argus_rules>;
constexpr auto diffserve_by = by_rules<diffserve_policy, all_diffserve_rules>;
constexpr auto instgenie_by = by_rules<instgenie_policy, all_instgenie_rules>;
constexpr auto modm_by = by_rules<modm_policy, all_modm_rules>;
constexpr auto nirvana_by = by_rules<nirvana_policy, all_nirvana_rules>;

// The papers' own comparisons are made by bench/papers.
constexpr decltype(policy_row::make) not_in_servers = nullptr;

using enum policy_kind;

constexpr auto rows = std::to_array<policy_row>({
  {system, "atelier", "plans over all the routes below at once", "",
   one<atelier_policy>},
  {system, "argus", "predicts how much approximation a prompt tolerates",
   "Argus", argus_by},
  {system, "diffserve",
   "draws with a light model, and again if a judge rejects the image",
   "DiffServe", diffserve_by},
  {system, "instgenie", "sends a masked edit where its mask costs least",
   "InstGenIE", instgenie_by},
  {system, "modm", "refines images found by small models", "MoDM", modm_by},
  {system, "nirvana", "starts from a similar prompt's latent", "Nirvana",
   nirvana_by},
  {system, "fixed", "answers by one plan, read from a file", "", nullptr},
  {system, "vanilla", "draws each request as asked, in full", "", one<vanilla>},

  {published, "argus-paper", "Argus as published", "Argus", argus_by},
  {published, "diffserve-paper", "DiffServe as published", "DiffServe",
   diffserve_by},
  {published, "instgenie-paper", "InstGenIE as published", "InstGenIE",
   instgenie_by},
  {published, "modm-paper", "MoDM as published, for throughput", "MoDM",
   modm_by},
  {published, "modm-paper-quality", "MoDM as published, for quality", "MoDM",
   modm_by},
  {published, "nirvana-paper", "Nirvana as published", "Nirvana", nirvana_by},

  {baseline, "pac", "latents by load alone", "Argus", not_in_servers},
  {baseline, "proteus", "models by load alone", "Argus", not_in_servers},
  {baseline, "sommelier", "each worker chooses its model", "Argus",
   not_in_servers},
  {baseline, "clipper-heavy", "the largest model for all", "Argus",
   not_in_servers},
  {baseline, "clipper-light", "the smallest model for all", "Argus",
   not_in_servers},
  {baseline, "diffserve-static", "one plan for all time", "DiffServe",
   not_in_servers},
  {baseline, "diffserve-peak", "one plan for all time, for the peak",
   "DiffServe", not_in_servers},
  {baseline, "diffserve-proteus", "light or heavy by chance, nothing judged",
   "DiffServe", not_in_servers},
  {baseline, "random-cascade", "a judge that decides at random", "DiffServe",
   not_in_servers},
  {baseline, "score-cascade", "PickScore judges", "DiffServe", not_in_servers},
  {baseline, "clip-cascade", "CLIP's score judges", "DiffServe",
   not_in_servers},
  {baseline, "light-aimd", "the light model for all, batches by trial",
   "DiffServe", not_in_servers},
  {baseline, "heavy-aimd", "the heavy model for all, batches by trial",
   "DiffServe", not_in_servers},
  {baseline, "request-balance", "edits to the worker with the fewest requests",
   "InstGenIE", not_in_servers},
  {baseline, "token-balance", "edits to the worker with the fewest tokens",
   "InstGenIE", not_in_servers},
  {baseline, "first-fit", "edits to the first worker with a seat", "InstGenIE",
   not_in_servers},
  {baseline, "static-batching", "batches that end together", "InstGenIE",
   not_in_servers},
  {baseline, "full-recompute", "edits compute all tokens", "InstGenIE",
   not_in_servers},
  {baseline, "gptcache", "answers with the image found, from 0.8 on", "Nirvana",
   nirvana_by},
  {baseline, "pinecone", "answers with the image found, from 0.85 on",
   "Nirvana", nirvana_by},
  {baseline, "crs", "answers with the image found, by its pixels", "Nirvana",
   nirvana_by},
  {baseline, "small-model", "a small model for all", "Nirvana", nirvana_by},

  {ablation, "argus-no-classifier", "predicts nothing", "Argus",
   not_in_servers},
  {ablation, "argus-no-shift", "levels as predicted, whatever the load",
   "Argus", not_in_servers},
  {ablation, "argus-no-switch", "never leaves cached latents", "Argus",
   not_in_servers},
  {ablation, "static-threshold", "the threshold stays", "DiffServe",
   not_in_servers},
  {ablation, "no-queueing", "execution counts twice instead of waits",
   "DiffServe", not_in_servers},
  {ablation, "no-waits", "waits do not count", "DiffServe", not_in_servers},
  {ablation, "aimd", "batches by trial", "DiffServe", not_in_servers},
  {ablation, "modm-cache-large", "keeps only images of the large model", "MoDM",
   not_in_servers},
  {ablation, "nirvana-no-predictor", "searches without asking a predictor",
   "Nirvana", nirvana_by},
});

std::string_view title(policy_kind x) {
  switch (x) {
    case system:
      break;
    case published:
      return "as published: ";
    case baseline:
      return "baselines: ";
    case ablation:
      return "ablations: ";
  }
  return "";
}

// Returns the row of a policy that no server makes; null if it has none.
const policy_row* comparison_row(std::string_view name) {
  const auto* row = std::ranges::find(rows, name, &policy_row::name);
  return row != rows.end() && row->make == nullptr && row->kind != system
         ? row
         : nullptr;
}

// Returns a paragraph for each kind, with long ones broken into lines.
std::string names(const policy_list& more) {
  constexpr size_t columns = 78;
  std::string text;
  std::string line;
  const auto add = [&](std::string_view name) {
    if (line.size() + name.size() + 3 > columns) {
      text += line + ",";
      line = fmt::format("\n    {}", name);
    } else {
      line += line.ends_with(' ') ? "" : ", ";
      line += name;
    }
  };
  const auto begin = [&](std::string_view heading) {
    text += line;
    line = fmt::format("\n  {}", heading);
  };
  std::optional<policy_kind> kind;
  for (const auto& row : rows) {
    if (row.kind != kind)
      begin(title(row.kind));
    kind = row.kind;
    add(row.name);
  }
  bool any_own = false;
  for (const auto& x : more) {
    if (comparison_row(x->name()) != nullptr)
      continue;
    if (!any_own)
      begin("the host's own: ");
    any_own = true;
    add(x->name());
  }
  return text + line;
}

/// Returns the policy whose name is at most two letters from `name`; empty:
/// none.
std::string near_name(std::string_view name, const policy_list& more) {
  std::string out;
  size_t least = 3;
  const auto consider = [&](std::string_view known) {
    if (const auto away = core::edit_distance(name, known); away < least) {
      least = away;
      out = known;
    }
  };
  for (const auto& row : rows)
    consider(row.name);
  for (const auto& x : more)
    consider(x->name());
  return out;
}

} // namespace

std::span<const policy_row> policy_rows() {
  return rows;
}

const policy_list& all_policies() {
  static const auto& all = *new policy_list{[] {
    policy_list made;
    for (const auto& row : rows)
      if (row.make != nullptr)
        made.push_back(row.make(row.name));
    return made;
  }()};
  return all;
}

bool is_for_comparisons(std::string_view name) {
  return comparison_row(name) != nullptr;
}

core::result<policy_ptr> make_policy(std::string_view name,
                                     const policy_list& more) {
  for (const auto* list : {&all_policies(), &more})
    for (const auto& x : *list)
      if (x->name() == name)
        return x;
  if (name == fixed_name)
    return core::fail(core::ec::not_found,
                      "policy 'fixed' is made from a plan file");
  if (const auto* row = comparison_row(name))
    return core::fail(
      core::ec::not_found,
      "policy '{}' is {} of {}, for comparisons: 'atelier "
      "simulate' and 'atelier plan' take it in --policy, "
      "servers do not",
      name, row->kind == ablation ? "an ablation" : "a baseline", row->paper);
  const auto near = near_name(name, more);
  return core::fail(
    core::ec::not_found, "unknown policy '{}'; {} policies are{}", name,
    near.empty() ? "known" : fmt::format("did you mean {}? Known", near),
    names(more));
}

policy_ptr policy_remembering(std::string_view memory,
                              const policy_list& more) {
  for (const auto* list : {&all_policies(), &more})
    for (const auto& x : *list)
      if (!memory.empty() && x->memory_name() == memory)
        return x;
  return nullptr;
}

} // namespace atelier::planning
