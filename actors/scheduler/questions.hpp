// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/policy.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace atelier::actors {

/// Holds the questions of requests that have no route yet: what each asks for,
/// the stages that look for it, and when it continues without their answers.
/// This part of the scheduler knows requests and stages by their numbers; it
/// has no row, no worker and no slot.
///
/// Invariants (see check): a question that is open is found by its time; one
/// for which no stage looks is not open.
/// Threads: one at a time.
class questions {
public:
  /// Counts a question of a request's policy. Returns false if the policy has
  /// asked so often that it would never choose.
  bool count_question(core::request_id id);

  /// Begins the next question of a request, whose last one is over.
  void begin(core::request_id id, const planning::need& wanted,
             core::time_point now);

  /// Notes that a stage looks for an answer, and how long the request waits for
  /// it.
  /// @pre the question has begun
  void looks(core::request_id id, size_t stage, core::time_point until);

  /// Returns the number of a request's question, which its answers name; 0
  /// before the first one of its policy.
  uint32_t number(core::request_id id) const;

  /// Whether a stage looks for the answer to a request's question.
  bool is_open(core::request_id id) const;

  /// Notes that a stage answered, or cannot answer. Returns whether that
  /// belongs to a request's open question.
  bool answered(core::request_id id, uint32_t number, size_t stage);

  /// Notes a search that found near earlier work.
  /// @param took its time, without any wait for its worker
  /// @pre the question has begun
  void found_near(core::request_id id, core::timespan took);

  /// A question that is over.
  struct ended {
    planning::need wanted;
    core::timespan took{0};
    /// The time of the search that found near earlier work; none: none did.
    std::optional<core::timespan> search;
    /// The stages that have not answered.
    std::vector<size_t> late;
  };

  /// Ends a request's question, whoever still looks for its answer.
  /// @pre the question has begun
  ended end(core::request_id id, core::time_point now);

  /// Forgets a request.
  void forget(core::request_id id);

  /// Returns the request that continues first without answers, if it does now.
  std::optional<core::request_id> late(core::time_point now) const;

  /// Whether any question is open.
  bool any() const;

  /// Returns the first invariant that does not hold; empty if all hold.
  std::string check() const;

  /// Calls f(id) for every request of which it knows anything, for checks.
  template <class F>
  void each_request(const F& f) const {
    for (const auto& [id, known] : all_)
      f(id);
  }

private:
  struct question {
    uint32_t number = 0;
    planning::need wanted;
    core::time_point since;
    core::time_point until;
    std::vector<size_t> stages;
    std::optional<core::timespan> search;
  };

  void close(core::request_id id, question& x);

  std::unordered_map<core::request_id, question> all_;
  /// The open ones.
  std::set<std::pair<core::time_point, core::request_id>> times_;
};

} // namespace atelier::actors
