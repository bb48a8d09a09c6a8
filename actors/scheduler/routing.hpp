// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/parts.hpp>

#include <optional>
#include <variant>

namespace atelier::actors {

/// Chooses the route of a row by the policy, the plan and what fits, and says
/// who is not accepted.
/// Threads: one at a time.
class routing {
public:
  /// @pre the parts outlive it
  explicit routing(parts& of);

  /// Why a request is not accepted, and when it may be tried again.
  struct refusal {
    core::error why;
    core::timespan retry_after{0};
  };

  /// The row has its route now; `found`: that of an image which was found.
  struct chosen {
    bool found = false;
  };

  using choice = std::variant<planning::need, chosen, refusal>;

  /// Chooses for a row, or says what the policy asks.
  choice choose(core::request_id id, row& r, core::time_point now);

  /// Returns after which time a request beyond the bounds may be tried again.
  core::timespan retry_after() const;

  /// Counts what a row's choice leaves out.
  void count_choice(row& r);

  /// Notes the earlier work that the first leg starts from, or that is the
  /// answer; the client reads it.
  void note_reuse(row& r);

private:
  /// Returns why a row has no place on a route now, or is not admitted by the
  /// plan; if it is admitted, the plan counts it.
  std::optional<refusal> admit(const row& r, const planning::route& along,
                               core::time_point now);

  const scheduler_config& config_;
  const slots& slots_;
  records& records_;
  rules& rules_;
  const requests& requests_;
  workers& workers_;
  const hosting& hosting_;
  forecast& forecast_;
  questions& questions_;
  views& views_;
  const matching& matching_;
};

} // namespace atelier::actors
