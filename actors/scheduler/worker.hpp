// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/actors/scheduler/hosted.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atelier::actors {

/// The seats of a worker. Each order takes one, so that the taken seats are its
/// orders.
/// Threads: one at a time.
class seating {
public:
  explicit seating(uint32_t seats) : all_(seats) {}

  uint32_t all() const {
    return all_;
  }

  uint32_t taken() const {
    return static_cast<uint32_t>(orders_.size());
  }

  uint32_t free() const {
    return all_ - taken();
  }

  /// Returns its orders, oldest first.
  const std::vector<core::ticket>& orders() const {
    return orders_;
  }

  /// Returns the steps that are left of its orders.
  uint64_t steps_left() const {
    return steps_left_;
  }

  /// Gives an order of `steps` steps a seat.
  /// @pre one is free
  void sit(core::ticket who, uint64_t steps);

  /// @param steps the number of its steps that are left
  void stand_up(core::ticket who, uint64_t steps);

  /// Steps of its orders ran.
  void ran(uint64_t steps) {
    steps_left_ -= steps;
  }

private:
  uint32_t all_ = 1;
  std::vector<core::ticket> orders_;
  uint64_t steps_left_ = 0;
};

/// The batch of a device: the rows that it reported, and those that join it
/// together at the end of an event.
/// Threads: one at a time.
class device_batch {
public:
  /// Returns the rows of its last report.
  const std::vector<core::ticket>& rows() const {
    return rows_;
  }

  void report(std::vector<core::ticket> rows) {
    rows_ = std::move(rows);
  }

  void leave(core::ticket who) {
    std::erase(rows_, who);
  }

  /// Whether rows that it is given join together.
  bool filling() const {
    return filling_;
  }

  void fill() {
    filling_ = true;
  }

  /// @pre it is filled
  void join(denoise what) {
    joining_.push_back(std::move(what));
  }

  /// Ends filling; returns the orders that join.
  std::vector<denoise> end_filling();

private:
  std::vector<core::ticket> rows_;
  bool filling_ = false;
  std::vector<denoise> joining_;
};

/// When a worker last gave a sign of life, and how long it may give none, on
/// the scheduler's running clock.
/// Threads: one at a time.
class signs_of_life {
public:
  explicit signs_of_life(core::time_point ran) : last_(ran) {}

  void heard(core::time_point ran) {
    last_ = ran;
  }

  /// An idle worker begins to work.
  void begin(core::time_point ran) {
    last_ = ran;
    allowance_ = {};
  }

  /// Its work explains a silence of this length.
  void explain(core::timespan silence) {
    allowance_ = std::max(allowance_, silence);
  }

  /// Returns how long it has been silent, if its work does not explain that and
  /// it was not reported.
  std::optional<core::timespan> unexplained(core::time_point ran) const;

  /// Its silence was reported to the supervisor.
  void report() {
    reported_ = true;
  }

  bool reported() const {
    return reported_;
  }

  /// It lost an order twice: its process is replaced, and no request is to
  /// blame for that. Returns whether that is news.
  bool lose_orders() {
    return !std::exchange(loses_orders_, true);
  }

  bool loses_orders() const {
    return loses_orders_;
  }

private:
  core::time_point last_;
  core::timespan allowance_{0};
  bool reported_ = false;
  bool loses_orders_ = false;
};

/// Whether a worker is kept for a row that runs alone.
/// Threads: one at a time.
class trial_place {
public:
  /// It takes no more work until it is empty: a row waits to run alone there.
  bool draining() const {
    return draining_;
  }

  /// A row runs alone there.
  bool exclusive() const {
    return exclusive_;
  }

  void drain() {
    draining_ = true;
    lacks_slots_ = false;
  }

  /// The row that waits lacks slots, which the device's other worker may free.
  void lack_slots() {
    lacks_slots_ = true;
  }

  /// Whether the device's other worker takes no work either.
  bool keeps_device() const {
    return exclusive_ || (draining_ && !lacks_slots_);
  }

  /// Returns whether it was draining.
  bool go_on() {
    return std::exchange(draining_, false);
  }

  void begin() {
    exclusive_ = true;
    draining_ = false;
  }

  void end() {
    exclusive_ = false;
  }

  /// Takes part in a trial that may be under way at another worker.
  void join(const trial_place& other) {
    draining_ = draining_ || other.draining_;
    exclusive_ = exclusive_ || other.exclusive_;
  }

private:
  bool draining_ = false;
  bool lacks_slots_ = false;
  bool exclusive_ = false;
};

/// The scheduler's record of a worker. Each member is changed by its own verbs,
/// `host` by those of `hosting`, and the rest by those of `workers`.
class worker {
public:
  worker(core::worker_id id, const worker_ready& x,
         const planning::profile& known, core::time_point now);

  const worker_address address;
  /// Name of its device; empty for CPU pools.
  const std::string device;
  const uint32_t run_steps;
  seating seat;
  hosted host;
  device_batch batch;
  signs_of_life signs;
  trial_place trial;

  core::worker_id id() const {
    return view_.worker;
  }

  const std::string& kind() const {
    return view_.device_kind;
  }

  uint32_t max_batch() const {
    return view_.max_batch;
  }

  /// Whether it runs steps; otherwise it belongs to a pool.
  bool on_device() const {
    return address.role == role::denoise_step;
  }

  /// Whether its orders wait for a device's thread, so that it cannot tell by
  /// itself whether they continue.
  bool waits_for_device() const {
    return on_device() || address.role == role::device_stage;
  }

  /// Whether it may be given another row now, as far as it alone is concerned.
  bool takes_more() const;

  /// Its process may be dead.
  bool suspected() const {
    return suspected_;
  }

  /// It takes several times as long as the others: plans leave it out, and it
  /// gets only rows whose queue no other worker serves.
  bool slow() const {
    return slow_;
  }

  /// Returns the requests in its own queue.
  uint64_t waiting() const {
    return waiting_;
  }

  /// Returns what policies see of it, but for its rows and the variants that
  /// they run. The reference holds until the next call.
  const planning::worker_view& view() const;

  /// Returns the same with one free seat.
  const planning::worker_view& view_of_one_seat() const;

private:
  friend class workers;

  bool suspected_ = false;
  bool slow_ = false;
  /// The other worker of its device, or null.
  worker* beside_ = nullptr;
  uint64_t waiting_ = 0;
  mutable planning::worker_view view_;
  /// The version of `host` that the view has.
  mutable uint64_t viewed_ = 0;
};

} // namespace atelier::actors
