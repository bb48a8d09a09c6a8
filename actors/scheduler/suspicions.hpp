// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/suspicion.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace atelier::actors {

/// Tracks which requests may have ended their workers' processes, and what they
/// lost. A suspect runs alone, so that a second death proves that it was to
/// blame:
///
///   suspect --two deaths alone, nothing gained--> poison
///   suspect --its phase ends--> like any other request
///
/// This part of the scheduler knows requests by their numbers; it has no row,
/// no worker and no queue. A request has an entry here from its first
/// loss or delay on, or if its client records suspicions.
/// Threads: one at a time.
class suspicions {
public:
  /// Where a request is: its phase, its leg, and the steps that it has.
  struct place {
    core::phase phase = core::phase::preparing;
    uint32_t leg = 0;
    uint32_t steps = 0;
  };

  // -- entering ---------------------------------------------------------------

  /// Notes what an earlier server recorded against a request. It applies when
  /// the request gets where it was then.
  /// @param records its client records suspicions: a trial waits for that
  void accept(core::request_id id, const core::suspicion& held, bool records);

  /// Ends the suspicion against a request whose stage is over. Returns what its
  /// client must record of that, if anything.
  std::optional<core::suspicion> leave(core::request_id id, const place& at);

  /// A request begins a stage: its losses begin anew, and a suspicion that was
  /// held for this place applies.
  /// @param ends_processes work of this stage can end a worker's process
  void enter(core::request_id id, const place& at, bool ends_processes);

  void forget(core::request_id id);

  // -- trials -----------------------------------------------------------------

  /// Whether a request is a suspect, which runs alone.
  bool is_alone(core::request_id id) const;

  /// Returns the deaths alone that gained no step.
  uint32_t strikes(core::request_id id) const;

  /// Why a trial may not begin yet.
  enum class permission : uint8_t {
    granted,
    /// The client must record it first, and does not know that yet.
    wanted,
    /// The client was asked to record it.
    awaited,
  };

  /// Asks whether a suspect may be tried. If the answer is `wanted`, the client
  /// must record what `next_record` returns.
  permission ask_for_trial(core::request_id id);

  /// The client recorded the trial. Returns whether that was awaited.
  bool recorded(core::request_id id);

  /// A trial begins.
  void begin(core::request_id id);

  /// Returns the suspicion with a trial that is about to begin.
  core::suspicion next_record(core::request_id id, const place& at);

  /// Returns the suspicion without a trial that will not be finished, if the
  /// client recorded one.
  std::optional<core::suspicion> take_trial_back(core::request_id id,
                                                 const place& at);

  /// Makes the suspicion apply again where a leg begins anew.
  void hold(core::request_id id, uint32_t leg);

  // -- losses -----------------------------------------------------------------

  /// An order that ended without its result.
  struct loss {
    /// Its process ended while it worked on the request, or lost its orders.
    bool suspicious = false;
    /// The request ran alone.
    bool was_alone = false;
    /// It has more steps than at any such end before.
    bool gained = false;
  };

  struct verdict {
    /// Losses since the last gain, with this one.
    uint32_t losses = 0;
    /// The request ended too many processes.
    bool is_poison = false;
    /// What its client must record.
    std::optional<core::suspicion> record;
  };

  /// @param at where it is, with the steps that it keeps
  verdict lost(core::request_id id, const loss& how, const place& at);

  /// Returns the highest number of steps that a request had at such an end.
  uint32_t reached(core::request_id id) const;

  /// Counts an order of this stage that was lost, or whose answer was; returns
  /// their number.
  uint32_t count_unanswered(core::request_id id);

  /// Counts a leg that must begin anew because its state is lost. Returns false
  /// if that was often enough.
  bool count_restart(core::request_id id);

  /// Whether a request has caused so many deaths that it is not tried again.
  bool is_poison(core::request_id id) const;

  /// Returns the error of such a request.
  /// @param last how the last process ended
  core::error poison_of(core::request_id id, const place& at,
                        std::string_view last) const;

  // -- delays -----------------------------------------------------------------

  /// A death that another request caused delays a request. Returns false if one
  /// had already delayed it.
  bool note_delay(core::request_id id);

  /// Whether a request was delayed so, and is not a suspect itself.
  bool is_held_up(core::request_id id) const;

  /// Calls f(id) for every request of which it knows anything, for checks.
  template <class F>
  void each_request(const F& f) const {
    for (const auto& [id, known] : all_)
      f(id);
  }

private:
  /// Whether the client recorded that a suspect is about to be tried.
  enum class trial : uint8_t { unasked, asked, noted };

  struct history {
    bool alone = false;
    uint32_t strikes = 0;
    uint32_t reached = 0;
    /// The suspicion that applies at its place.
    core::suspicion held;
    bool records = false;
    trial next_trial = trial::unasked;
    /// The client recorded a suspicion.
    bool noted = false;
    bool delayed = false;
    uint32_t losses = 0;
    uint32_t restarts = 0;
    uint32_t unanswered = 0;
  };

  const history* find(core::request_id id) const;
  history* find(core::request_id id);

  static core::suspicion record(history& x, const place& at, uint32_t trials);
  static std::optional<core::suspicion> forgive(history& x, const place& at);

  std::unordered_map<core::request_id, history> all_;
};

/// Number of deaths alone, without progress, after which a request is poison.
inline constexpr uint32_t most_strikes = 2;

/// Number of times that a request's legs begin anew because a state was lost.
inline constexpr uint32_t most_restarts = 3;

} // namespace atelier::actors
