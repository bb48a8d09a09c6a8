// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policy.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

namespace atelier::runtime {

/// Durations of a policy's decisions by the real clock, and their results for
/// edits.
struct decision_times {
  std::vector<float> plans_ms;
  std::vector<float> routes_us;
  /// Masked share of edits whose route starts from their template's records.
  std::unordered_map<core::request_id, double> masked;
  /// Called for each route that is taken; may be empty.
  std::function<void(core::request_id, const planning::route&,
                     const planning::facts&, const planning::go&)>
    taken;
  /// The next plan fails: a scripted fault.
  bool solver_fails = false;
};

/// A policy whose decisions are timed by the real clock; otherwise unchanged.
class measured_policy : public planning::policy {
public:
  measured_policy(std::shared_ptr<const planning::policy> what,
                  std::shared_ptr<decision_times> into)
    : what_(std::move(what)), into_(std::move(into)) {}

  std::string_view name() const override {
    return what_->name();
  }

  planning::plan replan(const planning::demand& asked,
                        const planning::profile& known,
                        const planning::cluster_view& there,
                        const planning::plan& previous) const override {
    if (into_->solver_fails)
      throw std::runtime_error("failed by script");
    const auto begin = clock::now();
    auto made = what_->replan(asked, known, there, previous);
    into_->plans_ms.push_back(since<std::milli>(begin));
    return made;
  }

  planning::choice choose(const planning::decision_context& by) const override {
    const auto begin = clock::now();
    auto chosen = what_->choose(by);
    into_->routes_us.push_back(since<std::micro>(begin));
    const auto& routes = by.in_force.routes;
    if (const auto* at = std::get_if<planning::go>(&chosen);
        at != nullptr && into_->taken && at->route.value < routes.size())
      into_->taken(by.wanted.id, routes[at->route.value], by.known, *at);
    if (by.wanted.source)
      note_edit(by.wanted.id, by.known, by.in_force, chosen);
    return chosen;
  }

  core::queue_id place(const planning::leg& next,
                       const planning::decision_context& by) const override {
    return what_->place(next, by);
  }

  planning::taken take(const planning::worker_view& worker,
                       std::span<const planning::waiting> queue,
                       const planning::plan& in_force,
                       core::time_point now) const override {
    return what_->take(worker, queue, in_force, now);
  }

  bool plan_due(
    const planning::plan& in_force,
    std::span<const planning::retrieval_sample> last) const override {
    return what_->plan_due(in_force, last);
  }

  core::class_id admission_class(
    const core::request& wanted, const planning::facts& known,
    const planning::profile& costs,
    const planning::plan& in_force) const override {
    return what_->admission_class(wanted, known, costs, in_force);
  }

private:
  void note_edit(core::request_id id, const planning::facts& known,
                 const planning::plan& in_force,
                 const planning::choice& chosen) const {
    const auto* at = std::get_if<planning::go>(&chosen);
    if (at == nullptr || !known.mask
        || at->route.value >= in_force.routes.size())
      return;
    const auto& legs = in_force.routes[at->route.value].legs;
    if (!legs.empty() && legs.front().from == planning::origin::template_image
        && !legs.front().record)
      into_->masked[id] = known.mask->ratio;
  }

  using clock = std::chrono::steady_clock;

  template <class Unit>
  static float since(clock::time_point begin) {
    return std::chrono::duration<float, Unit>(clock::now() - begin).count();
  }

  std::shared_ptr<const planning::policy> what_;
  std::shared_ptr<decision_times> into_;
};

} // namespace atelier::runtime
