// SPDX-License-Identifier: Apache-2.0
#pragma once

// This header defines the stages of a request's path. A host's own stage
// includes nothing else.

#include <atelier/core/enum_count.hpp>
#include <atelier/core/guarded.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/core/typed_body.hpp>
#include <atelier/ipc/slot_ref.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/route.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace atelier::planning {

/// The place where a stage's work runs.
enum class place : uint8_t {
  /// Workers of the CPU process.
  cpu_pool,
  /// A worker in the process of each device: the work runs on the device's own
  /// thread, between two runs of steps.
  device,
  /// The batches of the devices, which run the steps of a leg.
  batch,
  /// Workers of the control process, beside the scheduler: for work on
  /// remembered requests.
  background,
};

/// The time when a stage is due on a request's path.
enum class hook : uint8_t {
  /// Before a route is chosen: it finds facts, and moves nothing.
  before_route,
  /// In each leg of the route, in the pipeline's order.
  each_leg,
  /// Once the route has its image, before the answer.
  before_answer,
  /// After the answer, which never waits for it.
  after_answer,
};

/// What happens to a request whose stage failed or was late.
enum class if_failed : uint8_t {
  /// The request fails with the stage's error.
  fail,
  /// The request continues as if the stage had had nothing to do.
  go_on,
  /// The policy chooses a route again, without the earlier work that the row
  /// started from. If the row started from none, or has an image already, it
  /// continues.
  choose_again,
};

/// The things that a request can hold in slots, by name.
enum class held : uint8_t {
  /// The request's input files.
  files,
  /// The decoded image, and perhaps mask, at which a leg starts.
  source,
  /// The state of the request's run.
  state,
  /// The pixels of an image.
  pixels,
  /// The encoded file of the answer.
  encoded,
  /// A state kept for later requests.
  capture,
};

inline constexpr size_t held_names = core::enum_count<held>;

constexpr std::string_view to_string(held x) {
  constexpr std::array<std::string_view, held_names> names{
    "files", "source", "state", "pixels", "encoded", "capture"};
  return names[static_cast<size_t>(x)];
}

/// Returns the kind of slot that holds it.
constexpr ipc::slot_kind kind_of(held x) {
  switch (x) {
    case held::state:
      return ipc::slot_kind::state;
    case held::capture:
      return ipc::slot_kind::capture;
    default:
      return ipc::slot_kind::image;
  }
}

enum class access : uint8_t {
  reads,
  /// A new slot is granted, and the row holds it afterwards.
  writes,
  /// A new slot is granted in place of the slot that is read: afterwards the
  /// row holds only the new slot.
  replaces,
};

/// One thing that a stage reads or writes.
struct slot_use {
  held name = held::pixels;
  access mode = access::reads;
  /// Returns whether the stage uses it in a leg of a request; null: always. The
  /// function is pure and called often; an exception counts as yes.
  /// @param in the leg; null if the route has none
  /// @param brings_image the request has a source image
  bool (*when)(const leg* in, bool brings_image) = nullptr;

  bool applies(const leg* in, bool brings_image) const {
    try {
      return when == nullptr || when(in, brings_image);
    } catch (...) {
      return true;
    }
  }
};

/// A stage as data.
struct stage_row {
  std::string_view name;
  /// The version of the stage's orders and outcomes: processes whose pipelines
  /// have different versions do not work together.
  uint16_t version = 1;
  planning::place place = planning::place::cpu_pool;
  planning::hook hook = planning::hook::before_answer;
  std::span<const slot_use> slots = {};
  /// The stage may take at most this time, and at most `share` of the time left
  /// until the request's deadline. Only before_route stages have this limit;
  /// `takes` watches the others.
  core::timespan budget = core::timespan::max();
  double budget_share = 1;
  if_failed otherwise = if_failed::fail;
  /// A before_route stage sets this to run only when a policy asks for its
  /// facts.
  bool on_demand = false;
};

/// Slots by the name under which a request holds them; invalid: none.
struct slot_set {
  std::array<ipc::slot_ref, held_names> slots = {};
  /// All states kept for later requests; `held::capture` names the first.
  std::vector<ipc::slot_ref> captures = {};

  ipc::slot_ref& operator[](held x) {
    return slots[static_cast<size_t>(x)];
  }

  const ipc::slot_ref& operator[](held x) const {
    return slots[static_cast<size_t>(x)];
  }

  friend bool operator==(const slot_set&, const slot_set&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, slot_set& x) {
    return std::apply([&](auto&... slot) { return f(slot..., x.captures); },
                      x.slots);
  }
};

/// What a stage sees of a request when it decides whether it has work to do.
struct row_view {
  const core::request& wanted;
  const facts& known;
  const profile& costs;
  /// The policy's questions; empty once a route is chosen.
  need asked = {};
  /// Null before a route is chosen.
  const planning::route* route = nullptr;
  /// The leg that runs; null before a route is chosen, if the route has no
  /// legs, and after the last leg.
  const planning::leg* leg = nullptr;
  /// How the leg runs, or how the image of the answer was drawn.
  const core::recipe* recipe = nullptr;
  /// The earlier work at which the leg, or the answer, starts, and the number
  /// of its steps that are skipped.
  const match* from = nullptr;
  uint32_t skip = 0;
  /// How the row's pixels were drawn; null if the row holds none.
  const core::recipe* drawn = nullptr;
  /// The size of the row's pixels: that in which they were drawn, unless a
  /// stage changed it. Empty if the row holds none.
  core::extent px = {};
  /// The request's slots, by name; the files are present only if the request
  /// has some.
  std::array<bool, held_names> holds = {};
  /// The notes for the client.
  std::span<const core::note> notes = {};
};

/// The slots, clock and notes that a stage works with.
struct worker_context {
  ipc::slot_store& slots;
  /// The slots that the stage's row names and that the request holds: those
  /// with something to read, and new ones to write. What the stage replaces is
  /// in both.
  slot_set reads;
  slot_set writes;
  /// The steady clock of the worker's actor.
  std::function<core::time_point()> now;
  /// Notes for the client, a sentence each.
  std::vector<core::note>& notes;
  /// The scheduler does not wait for the outcome after this time.
  core::time_point until = core::never;
  /// Name of the device on whose thread the work runs, such as "cuda:0"; empty
  /// for work on none.
  std::string_view device = {};
};

/// A stage: one row of data and four functions. `work` and `done` name their
/// fields by `inspect`, as they may cross processes.
/// - begin: returns the order, or none if there is nothing to do for the
/// request. It runs on the scheduler's thread: it is pure and short.
/// - takes: predicts the duration of the work, for watching and for
/// simulations; a profile that measured the stage counts instead.
/// - run: does the work, on a worker. An error is reported unchanged; an
/// exception becomes ec::internal.
/// - end: enters the outcome into the facts. It runs on the scheduler's thread:
/// it is pure and short. An error counts as an error of `run`.
/// A stage may have two more functions, which are pure and short:
/// - is_short(w): whether the work takes at most about 30 microseconds, so that
/// waking another thread for it would cost more.
/// - px(w): the size of the pixels that it writes, if that is another one than
/// that of the pixels it replaces. A size that exceeds an image slot fails the
/// stage before it runs.
/// Threads: its functions are const and called from several threads.
template <class S>
concept stage_type = requires(const S& s, const row_view& row, facts& known,
                              const profile& costs, worker_context& here,
                              const typename S::work& w,
                              const typename S::done& d) {
  { s.row() } -> std::convertible_to<const stage_row&>;
  { s.begin(row) } -> std::same_as<std::optional<typename S::work>>;
  { s.takes(w, costs) } -> std::same_as<core::timespan>;
  { s.run(w, here) } -> std::same_as<core::result<typename S::done>>;
  { s.end(d, known) } -> std::same_as<core::result<void>>;
};

/// A stage with its types erased. An exception of its functions becomes an
/// error, or means that there is nothing to do.
/// Threads: any.
class any_stage {
public:
  virtual ~any_stage() = default;

  virtual const stage_row& row() const = 0;

  /// Returns the order; an empty one if there is nothing to do.
  /// Errors: ec::internal if the stage threw.
  virtual core::result<std::optional<core::typed_body>> begin(
    const row_view& row) const = 0;

  /// Returns 0 if the order is another stage's.
  virtual core::timespan takes(const core::typed_body& order,
                               const profile& costs) const = 0;

  /// Returns whether the work is so short that another thread is not worth
  /// waking.
  virtual bool is_short(const core::typed_body& order) const = 0;

  /// Returns the size of the pixels that the work writes; empty if it does not
  /// change that.
  /// Errors: those of another stage's order, and of an exception.
  virtual core::result<core::extent> px(const core::typed_body&) const {
    return core::extent{};
  }

  /// Errors: those of the stage; ec::bad_payload for another stage's order;
  /// ec::out_of_resources, ec::internal if it threw.
  virtual core::result<core::typed_body> run(const core::typed_body& order,
                                             worker_context& here) const = 0;

  /// Errors: those of the stage; ec::bad_payload for another stage's outcome;
  /// ec::internal if it threw.
  virtual core::result<void> end(const core::typed_body& outcome,
                                 facts& known) const = 0;
};

using stage_ptr = std::shared_ptr<const any_stage>;

namespace detail {

template <stage_type S>
class held_stage final : public any_stage {
public:
  /// Throws the exceptions of the stage's row().
  explicit held_stage(S stage) : stage_(std::move(stage)), row_(stage_.row()) {}

  const stage_row& row() const override {
    return row_;
  }

  core::result<std::optional<core::typed_body>> begin(
    const row_view& row) const override {
    using wanted = core::result<std::optional<core::typed_body>>;
    return core::guarded("stage", row_.name, "begin", [&]() -> wanted {
      auto order = stage_.begin(row);
      if (!order)
        return std::optional<core::typed_body>{};
      return std::optional{core::typed_body::of(std::move(*order))};
    });
  }

  core::timespan takes(const core::typed_body& order,
                       const profile& costs) const override {
    const auto said = core::guarded(
      "stage", row_.name, "takes", [&]() -> core::result<core::timespan> {
        const auto what = order.as<typename S::work>();
        if (!what)
          return what.why();
        return stage_.takes(**what, costs);
      });
    return said ? std::max(*said, core::timespan{0}) : core::timespan{0};
  }

  bool is_short(const core::typed_body& order) const override {
    if constexpr (requires(const typename S::work& w) {
                    { stage_.is_short(w) } -> std::same_as<bool>;
                  }) {
      const auto said = core::guarded(
        "stage", row_.name, "is_short", [&]() -> core::result<bool> {
          const auto what = order.as<typename S::work>();
          return what && stage_.is_short(**what);
        });
      return said && *said;
    } else {
      return false;
    }
  }

  core::result<core::extent> px(const core::typed_body& order) const override {
    if constexpr (requires(const typename S::work& w) {
                    { stage_.px(w) } -> std::same_as<core::extent>;
                  }) {
      return core::guarded("stage", row_.name, "px",
                           [&]() -> core::result<core::extent> {
                             const auto what = order.as<typename S::work>();
                             if (!what)
                               return what.why();
                             return stage_.px(**what);
                           });
    } else {
      return core::extent{};
    }
  }

  core::result<core::typed_body> run(const core::typed_body& order,
                                     worker_context& here) const override {
    return core::guarded("stage", row_.name, "run",
                         [&]() -> core::result<core::typed_body> {
                           const auto what = order.as<typename S::work>();
                           if (!what)
                             return what.why();
                           auto made = stage_.run(**what, here);
                           if (!made)
                             return made.why();
                           return core::typed_body::of(std::move(*made));
                         });
  }

  core::result<void> end(const core::typed_body& outcome,
                         facts& known) const override {
    return core::guarded("stage", row_.name, "end",
                         [&]() -> core::result<void> {
                           const auto what = outcome.as<typename S::done>();
                           if (!what)
                             return what.why();
                           return stage_.end(**what, known);
                         });
  }

private:
  S stage_;
  /// The row that the stage declares; the stage may compute it.
  stage_row row_;
};

} // namespace detail

/// Throws the exceptions of the stage's row().
template <stage_type S>
stage_ptr make_stage(S stage) {
  return std::make_shared<const detail::held_stage<S>>(std::move(stage));
}

} // namespace atelier::planning
