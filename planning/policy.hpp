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
#include <atelier/planning/reuse/hit_prediction.hpp>
#include <atelier/planning/reuse/needed_work.hpp>
#include <atelier/planning/route.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace atelier::planning {

/// The facts that a policy needs before it can choose.
struct need {
  bool tolerated = false;
  bool hit_likely = false;
  bool near = false;
  /// The decision that similarity makes; nothing if only the existence of a
  /// similar entry counts.
  compared by = compared::nothing;
  bool mask = false;
  /// The predictor that answers `hit_likely`, and that learns from a search for
  /// `near` work.
  predicted_from predicts = predicted_from::nothing;
  /// The similarity from which a search hits; none: the lowest from which the
  /// profile lets anything be reused.
  std::optional<double> hit_from{};
  /// What `near` work must hold. Other entries are not found.
  needed_work holds{};
  /// The stages before the route, by name, whose own facts it reads
  /// (facts::own). A policy asks for a stage once: own_facts::tried says that
  /// it did.
  std::vector<std::string> of{};

  /// Whether it wants the own facts of a stage.
  bool wants(std::string_view stage) const {
    return std::find(of.begin(), of.end(), stage) != of.end();
  }

  friend bool operator==(const need&, const need&) = default;
};

/// The route of a request.
struct go {
  core::route_id route;
  /// The index into facts::near of the origin of its first leg; none: the
  /// nearest entry with the data that the leg needs.
  std::optional<uint32_t> match{};

  friend bool operator==(const go&, const go&) = default;
};

/// The reason of a rejection, and the retry time (0: never).
struct refuse {
  core::error why;
  core::timespan retry_after{0};

  friend bool operator==(const refuse&, const refuse&) = default;
};

using choice = std::variant<need, go, refuse>;

/// The rows that a worker takes from its queues at one moment.
struct taken {
  /// The rows to dispatch, in order; at most the worker's free seats.
  std::vector<core::request_id> join;
  /// Rows too late to be worth running: dropped, or answered with the best
  /// image so far, as their routes say.
  std::vector<core::request_id> late;

  friend bool operator==(const taken&, const taken&) = default;
};

/// The inputs of a decision about one request.
struct decision_context {
  const core::request& wanted;
  const facts& known;
  const profile& costs;
  const plan& in_force;
  const cluster_view& there;
  core::philox& random;
};

/// The reasons of a plan, in its policy's terms.
struct plan_reasons {
  /// The plan's value; none: its policy does not compare plans by a number.
  std::optional<double> objective;
  /// Text for people, a line each.
  std::vector<std::string> lines;
};

/// Thresholds of similarity that a policy uses without a measurement.
struct assumed_thresholds {
  /// What happens from which similarity on.
  std::string what;
  /// How a profile says it instead.
  std::string remedy;
};

struct saved_plan;
struct saved_memory;

/// The rules that turn demand into a plan and a request into a route. Every
/// function is pure: no clock, no hidden state; time and random numbers are
/// arguments, and the plan holds the memory. Any thread may call them.
class policy {
public:
  virtual ~policy() = default;

  virtual std::string_view name() const = 0;

  /// Returns the next plan; its version is that of `previous` + 1. The policy
  /// stores its memory in the plan's `memory`, and reads it from `previous`.
  virtual plan replan(const demand& asked, const profile& known,
                      const cluster_view& there,
                      const plan& previous) const = 0;

  /// Returns the facts that the policy needs, or the route, or a rejection.
  virtual choice choose(const decision_context& by) const = 0;

  /// Returns the queue for a leg of the request.
  virtual core::queue_id place(const leg& next,
                               const decision_context& by) const = 0;

  /// Returns the rows that `worker` takes now from `queue`: rows of the queues
  /// it serves, in the order of queues::best.
  virtual taken take(const worker_view& worker, std::span<const waiting> queue,
                     const plan& in_force, core::time_point now) const = 0;

  /// Returns whether `last`, the last retrievals, oldest first, require a plan
  /// at once instead of at the end of the period. By default they do not.
  virtual bool plan_due(const plan& in_force,
                        std::span<const retrieval_sample> last) const;

  /// Returns the row of plan::admitted_rates that counts a request; by default,
  /// class_of.
  virtual core::class_id admission_class(const core::request& wanted,
                                         const facts& known,
                                         const profile& costs,
                                         const plan& in_force) const;

  // -- for code that shows plans, and stores them -----------------------------

  /// Returns the explanation of a plan; by default nothing.
  virtual plan_reasons explain(const plan& made) const;

  /// Returns the name of the memory that its plan files keep; empty, the
  /// default, if they keep none.
  virtual std::string_view memory_name() const;

  /// Returns the part of a memory that `choose` reads and a plan file keeps; by
  /// default all of it.
  virtual policy_memory kept(const policy_memory& all) const;

  /// Writes a memory that `kept` returned as a JSON object. By default "{}".
  virtual std::string save(const policy_memory& kept) const;

  /// Reads what `save` wrote.
  /// Errors: ec::bad_payload with every fault, a line each; by default that
  ///         there is nothing to read.
  virtual core::result<policy_memory> restore(const saved_memory& from) const;

  /// Returns whether `choose` may take a route without a share in any class; by
  /// default it may not.
  virtual bool may_take(core::route_id route, const policy_memory& kept) const;

  /// Returns the kind of similarity that `choose` compares with thresholds, if
  /// it asks for similar work: a server that cannot compare in this way does
  /// not start. By default nothing: the policy compares none.
  virtual compared compares(const profile& known) const;

  /// Returns the thresholds that `choose` uses for lack of any in the profile,
  /// although they were published for the vectors of text encoders: a server
  /// that compares prompts by their words does not start with them. By default
  /// none.
  virtual std::optional<assumed_thresholds> assumes(const profile& known) const;
};

using policy_ptr = std::shared_ptr<const policy>;
using policy_list = std::vector<policy_ptr>;

/// The purpose of a policy.
enum class policy_kind : uint8_t {
  /// For serving.
  system,
  /// A system exactly as in its paper, if the serving policy differs.
  published,
  /// A paper's baseline.
  baseline,
  /// A system without one of its parts.
  ablation,
};

/// A policy as lists show it to users.
struct policy_row {
  policy_kind kind = policy_kind::system;
  std::string_view name;
  std::string_view does;
  /// The paper that describes it, or that it comes from; empty: none.
  std::string_view paper;
  /// Null: a plan file makes it, or bench/papers does (comparisons.hpp).
  policy_ptr (*make)(std::string_view name) = nullptr;
};

/// Returns all policies, those for serving first.
std::span<const policy_row> policy_rows();

/// Returns all policies that are made by name, in the same order.
const policy_list& all_policies();

/// Returns the policy of that name, from all_policies or `more`.
/// Errors: ec::not_found; the text lists the known names.
core::result<policy_ptr> make_policy(std::string_view name,
                                     const policy_list& more = {});

/// Returns the first policy whose plan files keep memories of that name; null
/// if none does.
policy_ptr policy_remembering(std::string_view memory,
                              const policy_list& more = {});

/// Returns the row of `share` that a request belongs to; shared by all.
core::class_id class_of(const core::request& wanted, const facts& known,
                        const plan& in_force);

/// Returns the queue that only `worker` serves.
core::queue_id queue_of(core::worker_id worker);

/// Returns the queue that every worker hosting `variant` serves.
core::queue_id queue_of(core::variant_id variant);

/// Returns the worker whose own queue that is, if it is one.
std::optional<core::worker_id> worker_of(core::queue_id queue);

/// Returns the queues that a worker serves: its own, then those of its hosting.
std::vector<core::queue_id> queues_of(const worker_view& worker);

/// Returns the parameters of a leg on `variant`: the leg's own, then the
/// client's pins, then the variant's defaults.
core::recipe recipe_of(const core::request& wanted, const leg& runs,
                       core::variant_id variant, const profile& known);

/// Returns the parameters of a leg that starts from an available image, where
/// `how` has its parameters without one: the first steps, as many as the leg
/// skips, do not run. Nothing changes if the leg skips none.
core::recipe refining(core::recipe how, const leg& runs);

} // namespace atelier::planning
