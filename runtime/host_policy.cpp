// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/planning/automatic.hpp>
#include <atelier/planning/comparisons.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>
#include <atelier/runtime/host_policy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace atelier::runtime {

namespace {

using planning::profile;

/// The planner's own patience.
constexpr core::timespan replan_patience = std::chrono::minutes{2};

std::string thrown_now() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

/// Runs `decide`; if that throws, logs it and returns the result of `instead`.
template <class Decide, class Instead>
auto guarded(std::string_view policy, std::string_view decision, Decide decide,
             Instead instead) -> decltype(decide()) {
  try {
    return decide();
  } catch (...) {
    core::log_warn("policy {} threw in {}: {}", policy, decision, thrown_now());
    return instead();
  }
}

const planning::vanilla& usual() {
  static const auto& x = *new planning::vanilla;
  return x;
}

void expect_variants(std::span<const core::variant_id> all,
                     const profile& known, std::string_view where) {
  for (const auto v : all)
    if (v.value >= known.variants.size())
      throw std::runtime_error{
        fmt::format("{} names variant {}, but there are {}", where, v.value,
                    known.variants.size())};
}

/// Throws if a plan refers to unknown variants, thresholds or routes, or has an
/// empty batch or stage.
void check(const planning::plan& made, const profile& known) {
  for (const auto& w : made.workers) {
    const auto where = fmt::format("worker {}", w.worker.value);
    expect_variants(w.hosting, known, where);
    expect_variants(w.leaving, known, where);
    if (w.batch == 0)
      throw std::runtime_error{where + " has a batch of 0"};
  }
  for (const auto& r : made.routes)
    for (const auto& s : r.legs) {
      const auto where = fmt::format("route '{}'", r.name);
      if (s.any_of.empty())
        throw std::runtime_error{where + " has a stage without a variant"};
      expect_variants(s.any_of, known, where);
      if (s.check && s.check->threshold >= made.thresholds.size())
        throw std::runtime_error{
          fmt::format("{} names threshold {}, but there are {}", where,
                      s.check->threshold, made.thresholds.size())};
    }
  for (const auto& row : made.share)
    if (row.size() > made.routes.size())
      throw std::runtime_error{
        fmt::format("a class has shares of {} routes, but there are {}",
                    row.size(), made.routes.size())};
}

/// Removes requests that do not wait in the queue.
void keep_waiting(std::vector<core::request_id>& of,
                  std::span<const planning::waiting> queue) {
  std::erase_if(of, [&](core::request_id id) {
    return std::none_of(queue.begin(), queue.end(),
                        [&](const auto& x) { return x.request == id; });
  });
}

} // namespace

host_policy::host_policy(planning::policy_ptr own,
                         std::shared_ptr<own_thread_calls> plans)
  : own_(std::move(own)),
    plans_(std::move(plans)),
    name_(own_->name()),
    memory_name_(own_->memory_name()) {}

planning::plan host_policy::replan(const planning::demand& asked,
                                   const planning::profile& known,
                                   const planning::cluster_view& there,
                                   const planning::plan& previous) const {
  struct planning_work {
    planning::demand asked;
    planning::profile known;
    planning::cluster_view there;
    planning::plan previous;
    planning::plan made = {};
  };

  // The policy may still read these when its caller waits no longer.
  const auto x = std::make_shared<planning_work>(
    planning_work{asked, known, there, previous});
  plans_->run(
    [x, own = own_] {
      x->made = own->replan(x->asked, x->known, x->there, x->previous);
      check(x->made, x->known);
    },
    replan_patience);
  x->made.version = previous.version + 1;
  return std::move(x->made);
}

planning::choice host_policy::choose(
  const planning::decision_context& by) const {
  try {
    return own_->choose(by);
  } catch (...) {
    return planning::refuse{core::fail(
      core::ec::internal, "policy {} chose no route: {}", name_, thrown_now())};
  }
}

core::queue_id host_policy::place(const planning::leg& next,
                                  const planning::decision_context& by) const {
  return guarded(
    name_, "place", [&] { return own_->place(next, by); },
    [&] { return usual().place(next, by); });
}

planning::taken host_policy::take(const planning::worker_view& worker,
                                  std::span<const planning::waiting> queue,
                                  const planning::plan& in_force,
                                  core::time_point now) const {
  auto out = guarded(
    name_, "take", [&] { return own_->take(worker, queue, in_force, now); },
    [&] { return usual().take(worker, queue, in_force, now); });
  keep_waiting(out.join, queue);
  keep_waiting(out.late, queue);
  return out;
}

bool host_policy::plan_due(
  const planning::plan& in_force,
  std::span<const planning::retrieval_sample> last) const {
  return guarded(
    name_, "plan_due", [&] { return own_->plan_due(in_force, last); },
    [] { return false; });
}

core::class_id host_policy::admission_class(
  const core::request& wanted, const planning::facts& known,
  const planning::profile& costs, const planning::plan& in_force) const {
  return guarded(
    name_, "admission_class",
    [&] { return own_->admission_class(wanted, known, costs, in_force); },
    [&] { return planning::class_of(wanted, known, in_force); });
}

planning::plan_reasons host_policy::explain(const planning::plan& made) const {
  return guarded(
    name_, "explain", [&] { return own_->explain(made); },
    [] { return planning::plan_reasons{}; });
}

planning::policy_memory host_policy::kept(
  const planning::policy_memory& all) const {
  return guarded(
    name_, "kept", [&] { return own_->kept(all); }, [&] { return all; });
}

std::string host_policy::save(const planning::policy_memory& kept) const {
  return guarded(
    name_, "save", [&] { return own_->save(kept); },
    [] { return std::string{"{}"}; });
}

core::result<planning::policy_memory> host_policy::restore(
  const planning::saved_memory& from) const {
  try {
    return own_->restore(from);
  } catch (...) {
    return core::fail(core::ec::bad_payload, "{}: plan.memory: {}", from.file,
                      thrown_now());
  }
}

bool host_policy::may_take(core::route_id route,
                           const planning::policy_memory& kept) const {
  return guarded(
    name_, "may_take", [&] { return own_->may_take(route, kept); },
    [] { return true; });
}

planning::compared host_policy::compares(const planning::profile& known) const {
  return guarded(
    name_, "compares", [&] { return own_->compares(known); },
    [] { return planning::compared::nothing; });
}

core::result<planning::policy_list> host_policies(
  const planning::policy_list& own,
  const std::shared_ptr<own_thread_calls>& plans) {
  planning::policy_list out;
  std::string faults;
  const auto complain = [&](size_t i, std::string_view what) {
    faults += fmt::format("{}extensions::policies[{}]: {}",
                          faults.empty() ? "" : "\n", i, what);
  };
  const auto taken = [&](std::string_view name) {
    const auto has_it = [&](const auto& x) {
      return x.name == name && !planning::is_for_comparisons(name);
    };
    const auto is_it = [&](const auto& x) { return x->name() == name; };
    const auto rows = planning::policy_rows();
    return name == planning::automatic_name
        || std::any_of(rows.begin(), rows.end(), has_it)
        || std::any_of(out.begin(), out.end(), is_it);
  };
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] == nullptr) {
      complain(i, "is null");
      continue;
    }
    try {
      auto made = std::make_shared<const host_policy>(own[i], plans);
      if (made->name().empty())
        complain(i, "has no name");
      else if (taken(made->name()))
        complain(i, fmt::format("policy '{}' already exists", made->name()));
      else
        out.push_back(std::move(made));
    } catch (...) {
      complain(i, fmt::format("has no name: {}", thrown_now()));
    }
  }
  if (!faults.empty())
    return core::fail(core::ec::bad_config, "{}", faults);
  return out;
}

} // namespace atelier::runtime
