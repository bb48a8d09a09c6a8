// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/ports.hpp>
#include <atelier/atelier.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/fair_shares.hpp>
#include <atelier/planning/profile.hpp>

#include <condition_variable>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

namespace atelier::runtime {

/// The owner of a `completions`, which a callback may destroy.
class completions_owner {
public:
  virtual ~completions_owner() = default;
};

/// The engine's gateway: keeps the clients' futures and callbacks, and delivers
/// answers on its own thread, so that a slow client delays no actor and holds
/// no slot: an image is copied out of its slot when the answer arrives.
///
/// Answers come first. Only the newest progress report of a request waits, and
/// it is delivered at the latest before the request's answer. A client's
/// captures are destroyed before its last call counts as ended.
/// Threads: any.
class completions : public actors::gateway,
                    public std::enable_shared_from_this<completions> {
public:
  /// @param taken called after an image was copied out of its slot
  /// @param noted called when a client has written down a suspicion
  /// @param known names ladders and their variants; null: no predictions of
  /// classes are returned
  completions(std::shared_ptr<ipc::slot_store> slots,
              std::function<void(core::request_id)> taken,
              std::function<void(core::request_id)> noted = {},
              std::shared_ptr<const planning::profile> known = {});

  /// Closes and joins; on the callback thread it does not wait.
  ~completions() override;

  /// Answers the requests that have no answer yet with `stopping`, after the
  /// answers that wait for their clients, and leaves out other news. Later
  /// calls of the gateway have no effect. Does not wait for the clients.
  void close();

  /// Waits until the last client was called.
  /// @pre it is closed, and this is not the callback thread
  void join();

  /// Returns whether this is the thread that calls the clients.
  bool is_callback_thread() const;

  /// Destroys `owner` after the call in progress, on another thread: the
  /// callback thread delivers the last answers meanwhile, and a callback may
  /// end it. If no other thread can start, it is destroyed on the callback
  /// thread.
  /// @pre this is the callback thread, and a shared_ptr holds the completions
  void destroy_later(std::unique_ptr<completions_owner> owner);

  /// Returns whether a request is entered and not answered yet.
  bool knows(core::request_id id) const;

  /// Enters a request before the scheduler receives it.
  std::future<answer> expect(core::request_id id, callbacks calls);

  /// Enters a tenant's request if `admits` allows it; otherwise returns none.
  std::optional<std::future<answer>> expect(core::request_id id,
                                            callbacks calls,
                                            core::tenant_id whose, size_t most);

  /// Returns whether a tenant may enter one more request: fewer than `most` are
  /// entered, or it is below its fair share (see planning::is_granted).
  bool admits(core::tenant_id whose, size_t most) const;

  /// Removes a request that the scheduler did not receive, without an answer.
  void withdraw(core::request_id id);

  /// Returns the number of requests entered and not answered yet.
  size_t open() const;

  /// Returns the recent seconds between two answers, 0 before the second one.
  double seconds_per_answer() const;

  /// Waits until every request has its answer, which its client may not have
  /// got yet, at most `most`. Returns true if that was reached.
  bool wait_until_answered(core::timespan most);

  /// Waits until nothing is open and no call is in progress, at most `most`.
  /// Returns true if that was reached.
  bool wait_until_empty(core::timespan most);

  void answered(actors::answer what) override;
  void progressed(core::request_id id, uint32_t steps_done, uint32_t steps,
                  ipc::slot_ref state) override;
  /// @pre it is held by a shared_ptr
  void suspected(core::request_id id, core::suspicion how, bool waits) override;

private:
  struct held_against {
    suspicion details;
    bool waits = false;
  };

  struct step_seen {
    progress at;
    /// The place of the newest preview.
    ipc::slot_ref state = {};
  };

  /// A request that is not answered yet, and its news.
  struct client {
    uint64_t request = 0;
    core::tenant_id whose = {};
    std::promise<answer> result;
    callbacks calls;
    std::optional<held_against> held;
    std::optional<step_seen> seen;
    std::optional<answer> last;
    /// The list that it is in.
    std::list<client>* in = nullptr;
  };

  using clients = std::list<client>;
  class call_in_progress;
  class turn;
  class substitute;

  void loop();
  /// Returns the owner that a callback wished to destroy, if any.
  std::unique_ptr<completions_owner> take_owner();
  /// Returns false if no thread can start.
  bool end_elsewhere(std::unique_ptr<completions_owner>& owner);
  /// Puts another thread in the place of the callback thread, which a client
  /// ends.
  void replace_thread() noexcept;
  /// Calls a client that has news, which it awaits until `until`. Returns false
  /// if none came, or if all were answered after the close.
  bool step(core::time_point until);
  void deliver_answer(std::unique_lock<std::mutex>& guard);
  void deliver_news(std::unique_lock<std::mutex>& guard);
  bool wait(core::timespan most, bool (completions::*reached)() const);
  bool is_answered() const;
  bool is_empty() const;
  client* find(uint64_t request);
  /// Moves a client to the end of `to`.
  void move_to(clients& to, client& x);
  /// Calls a client with its progress.
  void tell(const callbacks& calls, step_seen x);
  /// Lets the client write it down; then the scheduler is notified if it waits.
  void tell(const callbacks& calls, const held_against& x);
  void noted(uint64_t request);

  const std::function<void(core::request_id)> taken_;
  const std::function<void(core::request_id)> noted_;
  const std::shared_ptr<const planning::profile> known_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable changed_;
  /// The mutex guards this and all members below.
  std::shared_ptr<ipc::slot_store> slots_;
  /// Every client is in one of the lists: without news, with other news than an
  /// answer, with an answer.
  clients quiet_;
  clients with_news_;
  clients answered_;
  std::unordered_map<uint64_t, clients::iterator> by_request_;
  planning::fair_shares entered_;
  core::time_point last_answer_;
  double seconds_per_answer_ = 0;
  /// Whether a client's call is in progress.
  bool calling_ = false;
  bool closed_ = false;
  std::unique_ptr<completions_owner> owner_;
  std::thread::id caller_;
  std::thread thread_;
  /// Threads that clients ended.
  std::vector<std::thread> ended_;
};

} // namespace atelier::runtime
