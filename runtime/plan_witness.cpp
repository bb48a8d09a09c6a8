// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/plan_witness.hpp>

#include <utility>

namespace atelier::runtime {

namespace {

/// One is in force, one is on its way; the rest were late.
constexpr size_t most_seen = 8;

class watched_policy : public planning::policy {
public:
  watched_policy(std::shared_ptr<const planning::policy> what,
                 std::shared_ptr<plan_witness> by)
    : what_(std::move(what)), by_(std::move(by)) {}

  std::string_view name() const override {
    return what_->name();
  }

  planning::plan replan(const planning::demand& asked,
                        const planning::profile& known,
                        const planning::cluster_view& there,
                        const planning::plan& previous) const override {
    auto made = what_->replan(asked, known, there, previous);
    by_->note(made);
    return made;
  }

  planning::choice choose(const core::request& wanted,
                          const planning::facts& known,
                          const planning::profile& costs,
                          const planning::plan& in_force,
                          const planning::cluster_view& there,
                          core::philox& random) const override {
    return what_->choose(wanted, known, costs, in_force, there, random);
  }

  core::lane_id place(const core::request& wanted, const planning::stage& next,
                      const planning::plan& in_force,
                      const planning::cluster_view& there,
                      core::philox& random) const override {
    return what_->place(wanted, next, in_force, there, random);
  }

  core::lane_id place_knowing(const core::request& wanted,
                              const planning::stage& next,
                              const planning::facts& known,
                              const planning::profile& costs,
                              const planning::plan& in_force,
                              const planning::cluster_view& there,
                              core::philox& random) const override {
    return what_->place_knowing(wanted, next, known, costs, in_force, there,
                                random);
  }

  planning::taken take(const planning::worker_view& worker,
                       std::span<const planning::waiting> queue,
                       const planning::plan& in_force,
                       core::time_point now) const override {
    return what_->take(worker, queue, in_force, now);
  }

private:
  std::shared_ptr<const planning::policy> what_;
  std::shared_ptr<plan_witness> by_;
};

} // namespace

std::shared_ptr<const planning::policy> plan_witness::watch(
  std::shared_ptr<const planning::policy> what,
  std::shared_ptr<plan_witness> by) {
  return std::make_shared<watched_policy>(std::move(what), std::move(by));
}

void plan_witness::note(const planning::plan& x) {
  auto kept = x;
  kept.memory = {};
  const std::lock_guard guard{mutex_};
  seen_.insert_or_assign(x.version, std::move(kept));
  while (seen_.size() > most_seen)
    seen_.erase(seen_.begin());
}

std::optional<planning::plan> plan_witness::find(uint64_t version) const {
  const std::lock_guard guard{mutex_};
  const auto i = seen_.find(version);
  return i == seen_.end() ? std::nullopt : std::optional{i->second};
}

} // namespace atelier::runtime
