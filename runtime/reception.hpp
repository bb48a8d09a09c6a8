// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/ports.hpp>
#include <atelier/atelier.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/profile.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <variant>

namespace atelier::runtime {

/// The engine's gateway: keeps the clients' futures and callbacks, and delivers
/// answers on its own thread, so that a slow client delays no actor.
/// Threads: any.
class reception : public actors::gateway,
                  public std::enable_shared_from_this<reception> {
public:
  /// @param taken called after an image was copied out of its slot
  /// @param noted called when a client has written down a suspicion
  /// @param known names ladders and their variants; null: no predictions of
  /// classes are returned
  reception(std::shared_ptr<ipc::slot_store> slots,
            std::function<void(core::request_id)> taken,
            std::function<void(core::request_id)> noted = {},
            std::shared_ptr<const planning::profile> known = {});

  ~reception() override;

  /// Answers all open requests with `stopping`; afterwards it copies no image
  /// and calls no callback.
  void close();

  /// Returns whether a request is entered and not answered yet.
  bool knows(core::request_id id) const;

  /// Enters a request before the scheduler receives it.
  std::future<answer> expect(core::request_id id, callbacks calls);

  /// Enters a request if fewer than `most` are entered; otherwise returns none.
  std::optional<std::future<answer>> expect(core::request_id id,
                                            callbacks calls, size_t most);

  /// Returns the number of requests entered and not answered yet.
  size_t open() const;

  /// Returns the recent seconds between two answers, 0 before the second one.
  double seconds_per_answer() const;

  /// Waits until nothing is open and no call is in progress, at most `most`.
  /// Returns true if that was reached.
  bool wait_until_empty(core::timespan most);

  void answered(actors::answer what) override;
  void progressed(core::request_id id, uint32_t steps_done, uint32_t steps,
                  ipc::slot_ref state) override;
  /// @pre it is held by a shared_ptr
  void suspected(core::request_id id, core::suspicion how, bool waits) override;

private:
  struct client {
    std::promise<answer> result;
    callbacks calls;
  };

  struct held_against {
    suspicion details;
    bool waits = false;
  };

  struct news {
    uint64_t request = 0;
    std::variant<actors::answer, progress, held_against> content;
    /// The place of a progress report's preview.
    ipc::slot_ref state = {};
  };

  void loop();
  void tell(news x);
  answer to_answer(actors::answer& x);
  void add_preview(const ipc::slot_ref& from, progress& to) const;
  /// Lets the client write it down; then the scheduler is notified if it waits.
  void tell_suspicion(uint64_t request, const callbacks& calls,
                      const held_against& x);
  void noted(uint64_t request);
  void deliver(uint64_t request, client& to, const answer& a);

  std::shared_ptr<ipc::slot_store> slots_;
  std::function<void(core::request_id)> taken_;
  std::function<void(core::request_id)> noted_;
  std::shared_ptr<const planning::profile> known_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable emptied_;
  /// The mutex guards this and all members below except the thread.
  std::unordered_map<uint64_t, std::shared_ptr<client>> clients_;
  std::deque<news> news_;
  core::time_point last_answer_;
  double seconds_per_answer_ = 0;
  /// Whether a client's call is in progress.
  bool calling_ = false;
  bool stopping_ = false;
  // The thread is last: it ends before the members that it uses.
  std::jthread thread_;
};

} // namespace atelier::runtime
