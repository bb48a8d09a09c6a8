// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/scheduler_rig.hpp"
#include <atelier/actors/ports.hpp>
#include <atelier/actors/timeline.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace atelier::test {

/// Keeps the works that are sent, or refuses them.
struct recording_workers : actors::handoff {
  /// Takes all works of type T.
  template <class T>
  std::vector<T> take() {
    std::vector<T> found;
    std::erase_if(sent, [&](const sent_work& x) {
      const auto* work = std::get_if<T>(&x.what);
      if (work != nullptr)
        found.push_back(*work);
      return work != nullptr;
    });
    return found;
  }

  core::result<void> send(const actors::worker_address& to,
                          actors::work what) override {
    if (refuses)
      return core::fail(core::ec::invalid_argument, "too large");
    sent.push_back({to, std::move(what)});
    return {};
  }

  bool refuses = false;
  std::vector<sent_work> sent;
};

/// Keeps what clients receive, and shows each answer when it leaves.
struct recording_clients : actors::gateway {
  void answered(actors::answer what) override {
    if (on_answer)
      on_answer(what);
    answers.push_back(std::move(what));
  }

  void progressed(core::request_id id, uint32_t steps_done, uint32_t steps,
                  ipc::slot_ref state) override {
    progress.push_back({id, steps_done, steps, state});
  }

  void suspected(core::request_id id, core::suspicion how,
                 bool waits) override {
    notes.push_back({id, how, waits});
  }

  std::function<void(const actors::answer&)> on_answer;
  std::vector<actors::answer> answers;
  std::vector<scheduler_rig::progress> progress;
  /// The suspicions that clients must record.
  std::vector<scheduler_rig::note> notes;
};

/// Keeps the views that the planner gets, and the processes that the supervisor
/// hears of.
struct recording_watch : actors::supervision {
  void suspect(ipc::process_life who, std::string why) override {
    suspects.emplace_back(who, std::move(why));
  }

  void request_caused(ipc::process_life who) override {
    blamed.push_back(who);
  }

  void cluster_changed(planning::cluster_view there) override {
    reports.push_back(std::move(there));
  }

  std::vector<planning::cluster_view> reports;
  std::vector<std::pair<ipc::process_life, std::string>> suspects;
  /// Processes that requests ended.
  std::vector<ipc::process_life> blamed;
};

/// Keeps the events of a timeline.
struct recording_timeline : actors::timeline {
  void add(actors::timeline_event what) override {
    all.push_back(std::move(what));
  }

  size_t count(std::string_view name) const {
    return static_cast<size_t>(std::count_if(
      all.begin(), all.end(), [&](const auto& x) { return x.name == name; }));
  }

  std::vector<actors::timeline_event> all;
};

} // namespace atelier::test
