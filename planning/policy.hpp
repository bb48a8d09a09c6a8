// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/policy_memory.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/route.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace atelier::planning {

/// Facts that a policy wants before it can choose.
struct need {
  bool tolerated = false;
  bool hit_likely = false;
  bool near = false;
  /// What similarity decides; nothing where it counts only that something is
  /// near.
  compared by = compared::nothing;
  bool mask = false;

  friend bool operator==(const need&, const need&) = default;
};

/// The route that a request takes.
struct go {
  core::route_id route;
  /// Index into facts::near of what its first leg starts from; none: its
  /// nearest that has what the leg needs.
  std::optional<uint32_t> match{};

  friend bool operator==(const go&, const go&) = default;
};

/// Why a request is not taken, and when to come back (0: never).
struct refuse {
  core::error why;
  core::timespan retry_after{0};

  friend bool operator==(const refuse&, const refuse&) = default;
};

using choice = std::variant<need, go, refuse>;

/// What a worker takes from its lanes at one moment.
struct taken {
  /// To dispatch, in order; at most the worker's free seats.
  std::vector<core::request_id> join;
  /// Too late to be worth running: dropped, or answered with the best so far,
  /// as their routes say.
  std::vector<core::request_id> late;

  friend bool operator==(const taken&, const taken&) = default;
};

/// What a decision about one request goes by.
struct decision_context {
  const core::request& wanted;
  const facts& known;
  const profile& costs;
  const plan& in_force;
  const cluster_view& there;
  core::philox& random;
};

/// Why a plan is as it is, in its policy's terms.
struct plan_reasons {
  /// What it reaches; none: its policy compares no plans by a number.
  std::optional<double> objective;
  /// For people, a line each.
  std::vector<std::string> lines;
};

struct saved_plan;
struct saved_memory;

/// The rule set that turns demand into a plan and a request into a route.
/// Every function is pure: no clock, no hidden state; time and randomness come
/// in as arguments, memory lives in the plan. Any thread may call them.
class policy {
public:
  virtual ~policy() = default;

  virtual std::string_view name() const = 0;

  /// Returns the next plan; its version is that of `previous` + 1. What the
  /// policy remembers goes into its `memory`, and comes back in `previous`.
  virtual plan replan(const demand& asked, const profile& known,
                      const cluster_view& there,
                      const plan& previous) const = 0;

  /// Returns what the policy needs to know, or the route, or a refusal.
  virtual choice choose(const decision_context& by) const = 0;

  /// Returns the lane that a leg of the request waits in.
  virtual core::lane_id place(const leg& next,
                              const decision_context& by) const = 0;

  /// Returns what `worker` takes now from `queue`: rows of the lanes it serves,
  /// in the order of lanes::best.
  virtual taken take(const worker_view& worker, std::span<const waiting> queue,
                     const plan& in_force, core::time_point now) const = 0;

  /// Whether `last`, the last retrievals, oldest first, call for a plan at once
  /// instead of at the end of the period. By default they do not.
  virtual bool plan_due(const plan& in_force,
                        std::span<const retrieval_sample> last) const;

  /// Returns the row of plan::admitted_rates by which a request is counted. By
  /// default class_of.
  virtual core::class_id admission_class(const core::request& wanted,
                                         const facts& known,
                                         const profile& costs,
                                         const plan& in_force) const;

  // -- for who looks at plans, and keeps them --------------------------------

  /// Returns what a plan says of itself. By default nothing.
  virtual plan_reasons explain(const plan& made) const;

  /// Returns the name of the memory that its plan files keep; empty, as by
  /// default: they keep none.
  virtual std::string_view memory_name() const;

  /// Returns what of a memory `choose` reads: what a plan file keeps. By
  /// default all of it.
  virtual policy_memory kept(const policy_memory& all) const;

  /// Writes a memory that `kept` returned as a JSON object. By default "{}".
  virtual std::string save(const policy_memory& kept) const;

  /// Reads what `save` wrote.
  /// Errors: ec::bad_payload with every fault, a line each; by default that
  ///         there is nothing to read.
  virtual core::result<policy_memory> restore(const saved_memory& from) const;

  /// Whether `choose` may take a route that no class has a share of. By default
  /// it does not.
  virtual bool may_take(core::route_id route, const policy_memory& kept) const;

  /// Returns what a similarity is of that `choose` compares with thresholds,
  /// where it asks for what is near: a server that cannot compare so does not
  /// start. By default nothing: it compares none.
  virtual compared compares(const profile& known) const;
};

using policy_ptr = std::shared_ptr<const policy>;
using policy_list = std::vector<policy_ptr>;

/// Why a policy is there.
enum class policy_kind : uint8_t {
  /// To serve with.
  system,
  /// A system as its paper has it, where the one to serve with differs.
  published,
  /// What a paper compares its system with.
  baseline,
  /// A system without one of its parts.
  ablation,
};

/// A policy as users find it in lists.
struct policy_row {
  policy_kind kind = policy_kind::system;
  std::string_view name;
  std::string_view does;
  /// The paper that has it, or that it comes from; empty: none.
  std::string_view paper;
  /// Null: it is made from a plan file.
  policy_ptr (*make)(std::string_view name) = nullptr;
};

/// Returns every policy there is, those to serve with first.
std::span<const policy_row> policy_rows();

/// Returns every policy that is made by its name, in that order.
const policy_list& all_policies();

/// Returns the policy of that name, one of all_policies or of `more`.
/// Errors: ec::not_found; the text lists the names there are.
core::result<policy_ptr> make_policy(std::string_view name,
                                     const policy_list& more = {});

/// Returns the first policy whose plan files keep memories of that name; null:
/// none does.
policy_ptr policy_remembering(std::string_view memory,
                              const policy_list& more = {});

/// Returns the row of `share` that a request belongs to; shared by all.
core::class_id class_of(const core::request& wanted, const facts& known,
                        const plan& in_force);

/// Returns the lane that only `worker` serves.
core::lane_id lane_of(core::worker_id worker);

/// Returns the lane that every worker hosting `variant` serves.
core::lane_id lane_of(core::variant_id variant);

/// Returns the worker whose own lane that is, if it is one.
std::optional<core::worker_id> worker_of(core::lane_id lane);

/// Returns the lanes that a worker serves: its own, then those of its hosting.
std::vector<core::lane_id> lanes_of(const worker_view& worker);

/// Returns how a leg runs on `variant`: the leg's word, then the client's
/// pins, then the variant's defaults.
core::recipe recipe_of(const core::request& wanted, const leg& runs,
                       core::variant_id variant, const profile& known);

/// Returns how a leg runs from an image that is at hand, where `how` is how it
/// runs without: the first steps, as many as it is to leave out, are not run.
/// Nothing changes where the leg leaves none out.
core::recipe refining(core::recipe how, const leg& runs);

} // namespace atelier::planning
