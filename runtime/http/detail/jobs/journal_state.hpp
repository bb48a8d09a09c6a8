// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace atelier::runtime::http::detail {

/// What one job and its callers may expect of the journal. A job that the
/// journal keeps was not refused; a caller that repeats the call waits only
/// until the journal was asked or the job is refused.
/// Threads: one at a time.
class journal_state {
public:
  using call = std::function<void()>;

  /// Returns whether the journal was asked to keep the job: what happens to it
  /// from now on is noted there.
  bool is_kept() const {
    return kept_;
  }

  /// Returns whether the job's caller waits for the journal: the job is not on
  /// the disk yet.
  bool is_in_doubt() const {
    return in_doubt_;
  }

  /// Returns why the job was not accepted, if its name was already reported to
  /// others.
  const std::optional<failure>& refusal() const {
    return refusal_;
  }

  /// Says that the job's caller waits for the journal from now on.
  void doubt() {
    in_doubt_ = true;
  }

  /// Says that the journal has answered the job's caller.
  void answer() {
    in_doubt_ = false;
  }

  /// Says that the journal was asked to keep the job, which may have been
  /// refused meanwhile. Returns the callbacks that waited for that.
  std::vector<call> keep() {
    kept_ = !refusal_;
    return std::exchange(waiting_, {});
  }

  /// Says that the job was not accepted. Returns the callbacks that waited.
  std::vector<call> refuse(failure why) {
    kept_ = false;
    refusal_ = std::move(why);
    return std::exchange(waiting_, {});
  }

  /// Returns whether a repeated call must `wait`: the first one was neither
  /// refused nor given to the journal.
  bool is_undecided() const {
    return !kept_ && !refusal_;
  }

  /// Keeps the callback of a repeated call until `keep` or `refuse`.
  void wait(call then) {
    waiting_.push_back(std::move(then));
  }

  void drop_waiting() {
    waiting_.clear();
  }

private:
  bool kept_ = false;
  bool in_doubt_ = false;
  std::optional<failure> refusal_;
  std::vector<call> waiting_;
};

} // namespace atelier::runtime::http::detail
