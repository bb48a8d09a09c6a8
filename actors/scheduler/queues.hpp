// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/queues.hpp>

#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace atelier::actors {

/// Holds the queues of requests, the workers with free seats that serve them,
/// and the queues that must be looked at again. This part of the scheduler
/// knows requests and workers only by their numbers; it has no row, no worker
/// and no slot. Its tables change several times for each request, so they are
/// flat: they keep their memory, and most hold a few entries.
///
/// Invariants (see check): a request that is counted for a queue waits in it; a
/// worker's offers are those of its last offer.
/// Threads: one at a time.
class queues {
public:
  /// @param ageing as in planning::queues::best
  explicit queues(core::timespan ageing);

  // -- waiting requests -------------------------------------------------------

  /// Where in its priority a request enters a queue.
  enum class end : uint8_t { front, back };

  /// How a waiting request is counted until it leaves.
  struct marks {
    /// Another request's death delayed it, and it is not a suspect itself.
    bool held_up = false;
    /// It is under way: it may hold slots, which it frees at its end.
    bool under_way = false;

    friend bool operator==(const marks&, const marks&) = default;
  };

  /// Makes a request wait; its queue is looked at again.
  void push(core::queue_id queue, const planning::waiting& entry, end at,
            marks as);

  /// Removes a request from the queue in which it waits, if it does.
  void remove(core::request_id request);

  /// Counts a request that waits in a queue as held up from now on.
  /// @pre it waits in a queue
  void hold_up(core::request_id request);

  /// Returns how a request is counted.
  marks marks_of(core::request_id request) const;

  /// These call the functions of planning::queues.
  std::vector<planning::waiting> best(
    std::span<const core::queue_id> served, core::time_point now, size_t most,
    std::span<const core::tenant_id> without = {}) const;
  void charge(core::tenant_id tenant, core::timespan given,
              core::time_point now);
  std::vector<core::request_id> of(core::queue_id queue) const;
  std::optional<core::queue_id> where(core::request_id request) const;
  bool contains(core::request_id request) const;
  bool empty(core::queue_id queue) const;
  size_t size() const;
  size_t size(core::queue_id queue) const;

  /// Numbers of requests by queue; only queues that have some.
  using counts = boost::container::flat_map<core::queue_id, uint32_t>;

  /// Returns the number of requests under way, by queue.
  const counts& under_way() const;

  /// Returns the number of requests held up, by queue.
  const counts& held_up() const;

  /// Whether requests that can continue are held up in these queues.
  bool delays_again(std::span<const core::queue_id> served) const;

  // -- queues to look at again ------------------------------------------------

  void touch(core::queue_id queue);

  /// Marks a queue to be looked at again if it is not empty.
  void touch_waiting(core::queue_id queue);

  /// What a queue's next request lacks: slots or what frees them; a seat of
  /// those left for others, which the rows in the other seats free; or its
  /// turn, as requests that were held up and can continue go first.
  enum class lack : uint8_t { slots, seat, turn };

  /// Marks one to be looked at again if its next request lacked at most its
  /// turn when it was last looked at.
  void touch_untried(core::queue_id queue);

  /// Notes that the next request of a queue cannot continue.
  void starve(core::queue_id queue, lack of = lack::slots);

  /// Marks every queue whose next request lacked something to be looked at
  /// again.
  void feed();
  /// The same for one queue.
  void feed(core::queue_id queue);

  /// Returns a queue that must be looked at, each once.
  std::optional<core::queue_id> next();

  // -- workers with free seats ------------------------------------------------

  /// A worker with a free seat.
  struct offered_seat {
    uint32_t taken = 0;
    core::worker_id worker;

    friend auto operator<=>(const offered_seat&, const offered_seat&) = default;
  };

  /// Workers by their taken seats, the least loaded one first.
  using offers = boost::container::flat_set<offered_seat>;

  /// Replaces the offers of a worker: it has a free seat for these queues, and
  /// none for others. They are looked at again if they are not empty.
  /// @param taken the seats that are taken
  void offer(core::worker_id worker, uint32_t taken,
             std::span<const core::queue_id> served);

  /// Forgets a worker and its offers.
  void withdraw(core::worker_id worker);

  const offers& offered(core::queue_id queue) const;

  /// Returns the first invariant that does not hold; empty if all hold.
  std::string check() const;

private:
  void move_offer(core::queue_id queue, const offered_seat& from,
                  const offered_seat& to);

  core::timespan ageing_;
  planning::queues queues_;
  boost::container::flat_map<core::queue_id, offers> open_;

  /// The last offer of each worker.
  struct last_offer {
    uint32_t taken = 0;
    std::vector<core::queue_id> served;
  };

  boost::container::flat_map<core::worker_id, last_offer> last_;
  /// The marks of waiting requests that have some.
  std::unordered_map<core::request_id, marks> marks_;
  boost::container::flat_set<core::queue_id> dirty_;
  boost::container::flat_map<core::queue_id, lack> starved_;
  counts held_up_;
  counts under_way_;
};

} // namespace atelier::actors
