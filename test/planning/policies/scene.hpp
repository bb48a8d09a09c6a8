// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning/every_policy.hpp"
#include "planning/full_profile.hpp"
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

#include <numeric>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace atelier::test {

/// A policy with its profile, its workers and the plan in force.
struct scene {
  std::shared_ptr<const planning::policy> sut;
  planning::profile known = full_profile();
  planning::cluster_view there;
  planning::demand asked;
  planning::plan now;

  explicit scene(std::string_view name, size_t workers = 8) {
    sut = any_policy(name);
    for (uint32_t i = 0; i < workers; ++i) {
      planning::worker_view w;
      w.worker = core::worker_id{i};
      w.device_kind = "cuda";
      w.hosting = {core::variant_id{0}};
      w.max_batch = 4;
      w.seats_free = 4;
      there.workers.push_back(w);
    }
  }

  /// Adds a window of a minute with `rate` arrivals a second.
  planning::demand_window& window(double rate) {
    planning::demand_window w;
    w.begin = asked.now;
    w.length = std::chrono::minutes{1};
    w.arrived = static_cast<uint64_t>(rate * 60);
    asked.now += w.length;
    asked.windows.push_back(w);
    return asked.windows.back();
  }

  void replan() {
    now = sut->replan(asked, known, there, now);
  }

  /// Makes every worker host the variants of the plan.
  void load() {
    for (size_t i = 0; i < there.workers.size(); ++i) {
      there.workers[i].hosting = now.workers[i].hosting;
      there.workers[i].level = now.workers[i].level;
    }
  }

  size_t hosting(uint32_t variant) const {
    size_t n = 0;
    for (const auto& a : now.workers)
      for (const auto v : a.hosting)
        n += v.value == variant ? 1u : 0u;
    return n;
  }

  planning::choice choose(const planning::facts& facts,
                          core::request wanted = {}, uint64_t id = 0) const {
    auto random = random_of(id);
    return sut->choose({wanted, facts, known, now, there, random});
  }

  /// Returns the chosen route; fails if the choice is not a route.
  const planning::route& route(const planning::facts& facts,
                               core::request wanted = {},
                               uint64_t id = 0) const {
    const auto c = choose(facts, std::move(wanted), id);
    const auto* go = std::get_if<planning::go>(&c);
    BOOST_REQUIRE(go != nullptr);
    return now.routes.at(go->route.value);
  }

  core::queue_id place(const planning::leg& next, const planning::facts& facts,
                       uint64_t id = 0) const {
    auto random = random_of(id);
    const core::request wanted;
    return sut->place(next, {wanted, facts, known, now, there, random});
  }
};

/// Returns facts with predicted levels for both ladders.
inline planning::facts tolerates(uint32_t level) {
  planning::facts f;
  f.tolerated = std::vector<uint32_t>{level, level};
  return f;
}

/// Returns facts with one match.
inline planning::facts near_one(double similarity,
                                std::vector<uint32_t> stored) {
  planning::facts f;
  planning::match m;
  m.similarity = similarity;
  m.stored = std::move(stored);
  f.near = std::vector<planning::match>{m};
  return f;
}

} // namespace atelier::test
