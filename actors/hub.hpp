// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/hub_lanes.hpp>
#include <atelier/actors/local_messages.hpp>
#include <atelier/actors/messages.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/actors/scheduler/forecast.hpp>
#include <atelier/actors/scheduler/hosting.hpp>
#include <atelier/actors/scheduler/inspection.hpp>
#include <atelier/actors/scheduler/matching.hpp>
#include <atelier/actors/scheduler/orders.hpp>
#include <atelier/actors/scheduler/probes.hpp>
#include <atelier/actors/scheduler/questions.hpp>
#include <atelier/actors/scheduler/queues.hpp>
#include <atelier/actors/scheduler/records.hpp>
#include <atelier/actors/scheduler/requests.hpp>
#include <atelier/actors/scheduler/row.hpp>
#include <atelier/actors/scheduler/rules.hpp>
#include <atelier/actors/scheduler/slot_shares.hpp>
#include <atelier/actors/scheduler/slots.hpp>
#include <atelier/actors/scheduler/suspicions.hpp>
#include <atelier/actors/scheduler/views.hpp>
#include <atelier/actors/scheduler/workers.hpp>
#include <atelier/actors/stage_path.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/core/running_clock.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/admission.hpp>
#include <atelier/planning/policy.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace atelier::actors {

/// Configuration of the hub.
struct hub_config {
  core::limits limits;
  config::scheduler_settings pace;
  config::process_settings processes;
  /// The pipeline of a request; null: standard_pipeline().
  std::shared_ptr<const planning::pipeline> stages = nullptr;
  /// Key of the policies' random choices.
  uint64_t seed = 0;
  /// Low half of the arena's epoch, and the number of slots by kind.
  uint32_t arena = 1;
  slot_counts slots = {2, 2, 0};
  std::shared_ptr<const planning::policy> policy;
  std::shared_ptr<const planning::profile> profile;
  std::shared_ptr<const planning::plan> initial_plan;
  /// Overrides how plans let rows join batches; none: no override.
  std::optional<planning::joining> join = {};
  /// An existing image is answered when the time until the deadline falls to
  /// this margin plus twice the recent time for finishing.
  core::timespan answer_margin = std::chrono::milliseconds{25};
};

/// Where the hub sends its decisions.
struct hub_ports {
  std::shared_ptr<ipc::slot_store> slots;
  std::shared_ptr<handoff> workers;
  std::shared_ptr<gateway> clients;
  std::shared_ptr<supervision> watch;
  /// Set in simulations, which have no stage that fetches. Null: such a stage
  /// exists, or nothing is kept.
  std::shared_ptr<found_work> found = nullptr;
  /// Null: no timeline is recorded.
  std::shared_ptr<timeline> drawing = nullptr;
};

/// Owns the scheduler's parts and holds the transitions of rows, without an
/// actor, a clock or a thread. Events carry the time; effects leave through the
/// ports.
///
/// Invariants, tested after every event: those of the parts, those of
/// `inspection`, and that the terminal state is set before the answer leaves,
/// once.
/// Threads: one at a time.
class hub {
public:
  hub(hub_config config, hub_ports ports);

  // Its readers refer to its parts.
  hub(const hub&) = delete;
  hub& operator=(const hub&) = delete;

  /// @param held, keeps_suspicion as in the message `submit`
  void submit(std::shared_ptr<const core::request> what, core::time_point now,
              core::suspicion held = {}, bool keeps_suspicion = false);

  /// The trial announced by `gateway::suspected` has been recorded.
  void trial_noted(core::request_id id, core::time_point now);

  void cancel(core::request_id id, core::time_point now);
  void taken(core::request_id id, core::time_point now);

  void on(const worker_ready& x, core::time_point now);
  void on(const stage_done& x, core::time_point now);
  void on(const stepping& x, core::time_point now);
  void on(const stepped& x, core::time_point now);
  void on(const denoised& x, core::time_point now);
  void on(const adopted& x, core::time_point now);
  void on(const has_order& x, core::time_point now);
  void on(const wish_hosting& x, core::time_point now);

  void suspected(ipc::process_life who, core::time_point now);
  void lost(ipc::process_life who, bool confirmed, death cause,
            core::time_point now);

  void publish(std::shared_ptr<const planning::plan> what,
               core::time_point now);

  /// Looks for late requests and silent workers.
  void tick(core::time_point now);

  /// Whether a tick can change anything.
  bool wants_tick() const;

  /// Fails all unanswered requests and refuses new ones from now on.
  void stop(core::time_point now);

  /// The reference holds until the next call of any member.
  const planning::cluster_view& cluster() const;
  scheduler_status status() const;
  recovery_counts recovery(core::time_point now) const;
  const counters& counts() const;
  const ipc::keeper& slots() const;

  /// Requests that have not ended, or whose image the client has not taken yet.
  size_t rows() const;

  /// Returns the stage at which a request is; nothing if it has no route yet.
  std::optional<size_t> stage_of(core::request_id id) const;

  /// Returns the first invariant that does not hold; empty if all hold.
  std::string check() const;

private:
  /// A dispatch that ended, and the slots that it held.
  struct concluded : dispatched {
    held_slots slots;
  };

  // hub_facts.cpp: asking for facts and choosing a route
  /// Orders the stages to find the requested facts; false if none does.
  bool ask(core::request_id id, row& r, const planning::need& wants,
           core::time_point now);
  /// A stage that looks for facts ended, or its process did.
  void question_over(core::request_id id, row& r, size_t stage,
                     const stage_done& x, core::error why,
                     core::time_point now);
  /// All that will be known of a question is known.
  void questions_over(core::request_id id, row& r, core::time_point now);
  void choose_route(core::request_id id, row& r, core::time_point now);
  void turn_away(core::request_id id, row& r, core::error why,
                 core::timespan retry_after, core::time_point now);
  void count_choice(row& r);
  /// Ends a row with the image that was found for it; false if none is
  /// available.
  bool answer_with_match(core::request_id id, row& r, uint32_t match,
                         core::time_point now);
  /// The image that was found for a row counts as its image.
  void take_match_as_image(row& r);
  void count_waiting(core::variant_id variant, core::lane_id lane, bool comes);
  void note_retrieval(planning::retrieval_sample x);
  // Notes the earlier work that the first leg starts from, or that is the
  // answer; the client reads it.
  void note_reuse(row& r);

  // hub_stages.cpp: from stage to stage
  /// Continues a row with the first due stage, counted from `from`, that has
  /// work to do.
  void next_stage(core::request_id id, row& r, size_t from,
                  core::time_point now);
  /// The legs so far are over: continues with the next one, or with the answer.
  void leg_over(core::request_id id, row& r, core::time_point now);
  /// A stage of the row's path failed and is not tried again.
  void stage_failed(core::request_id id, row& r, core::error why,
                    core::time_point now);
  void choose_again(core::request_id id, row& r, core::time_point now);
  /// Makes the row hold what a stage wrote for it.
  core::result<void> keep(row& r, const concluded& done);
  /// Orders a stage's work that moves no row: facts before a route, or work
  /// after the answer. False if no worker is free for it.
  bool order_aside(core::request_id id, row& r, size_t stage,
                   core::typed_body order, core::timespan left,
                   core::time_point now);
  void remember(core::request_id id, row& r, core::time_point now);
  void aside_over(const stage_done& x, const dispatched& was, core::error why,
                  core::time_point now);

  // hub_probes.cpp: searches that no request waits for
  /// Begins a probe if the plan wants one, with the search that a request like
  /// `asked` would make; ends a probe that took too long.
  void probe(const std::shared_ptr<const core::request>& asked,
             core::time_point now);
  /// The search of a probe ended; false if it belonged to a request.
  bool probe_over(const stage_done& x, const dispatched& was,
                  const core::error& why, core::time_point now);

  // hub_hosting.cpp: what workers host and how they batch
  void apply(const planning::assignment& x, worker& w, core::time_point now);
  /// Carries out what an event changed of a worker's hosting.
  void follow(const hosting::change& x, worker& w, core::time_point now);
  /// Looks for a host once again for every awaited variant, after such a
  /// change.
  void look_anew();
  /// Notes a variant whose queue no worker serves or will serve.
  void look_for_host(core::lane_id lane);
  /// Reports to the planner the noted variants, and the rows that found no seat
  /// under a plan that groups them.
  void tell_waiting();
  void end_filling();
  void rehome(core::worker_id gone, core::time_point now);

  /// Allows the next attempts that are due.
  void retry_loads(core::time_point now);
  /// Ends the legs that wait in a queue for such variants. Returns whether it
  /// ended any.
  bool end_unloadable(core::lane_id lane, core::time_point now);
  /// Ends the leg of a waiting row: another one may follow.
  void leg_failed(core::request_id id, row& r, core::error why,
                  core::time_point now);

  // hub.cpp: entering and ending
  void begin_leg(core::request_id id, row& r, uint32_t leg,
                 core::time_point now);
  /// Begins the leg of a waiting row anew, for a variant that its preparation
  /// does not fit.
  void prepare_for(core::request_id id, row& r, core::variant_id variant,
                   core::time_point now);
  void advance(core::request_id id, row& r, core::time_point now);
  /// Continues with the stages before the answer, which is the newest image.
  void finish(core::request_id id, row& r, core::time_point now);
  void wait(core::request_id id, row& r, core::time_point now, queues::end at);
  /// Counts a row as no longer prepared and waiting for a device.
  void discount_ahead(core::tenant_id whose);
  void leave_lane(core::request_id id, row& r, core::time_point now);
  void answer_row(core::request_id id, row& r, core::time_point now);
  void end_row(core::request_id id, row& r, row_state as, core::error why,
               core::time_point now);
  void expire(core::request_id id, row& r, core::time_point now);
  /// Makes a row whose route may answer with its current image expire early
  /// enough for this answer to be in time.
  void expire_in_time(row& r);
  void refuse(std::shared_ptr<const core::request> what, core::error why,
              core::timespan retry_after, core::time_point now);
  void leave_worker(core::request_id id, row& r);
  /// Sets a row's terminal state: nothing more is predicted for it.
  void close(row& r, row_state as);
  void settle(core::time_point now);

  // hub_dispatch.cpp: from queues to workers
  void pump_lane(core::lane_id lane, core::time_point now);
  enum class dispatching : uint8_t { went, nobody, no_slots };
  /// Dispatches the first row of these queues that may go to a worker, or ends
  /// late ones. `without`, sorted: tenants whose rows are left out.
  dispatching dispatch_first(std::span<const core::lane_id> from, worker& w,
                             std::span<const core::tenant_id> without,
                             core::time_point now);
  /// Dispatches the first of the queue's rows, or ends late ones.
  dispatching dispatch_one(std::vector<planning::waiting> queue, worker& w,
                           core::time_point now);
  bool dispatch(core::request_id id, worker& w, core::time_point now);
  /// Dispatches a row that is under way when the next one of its queue must
  /// wait for slots: such a row may hold slots, which it frees only at its end.
  /// At devices, rows in their first leg wait for their turn while anything
  /// runs.
  bool dispatch_under_way(std::span<const core::lane_id> lanes, worker& w,
                          core::time_point now);
  /// Give a row the slots of its phase and make its order; nothing if too few
  /// slots are available.
  std::optional<work> order_of_stage(core::ticket who, const row& r,
                                     const worker& w);
  std::optional<work> order_to_denoise(core::ticket who, row& r,
                                       const worker& w);
  /// Orders states to be kept on the way, in as many slots as are available.
  std::vector<gpu::state_capture> order_captures(core::ticket who, row& r,
                                                 const worker& w);
  /// Makes a row run by a variant that its worker hosts, from earlier work if
  /// its route says so.
  void settle_start(core::ticket who, row& r, const worker& w);
  /// Enters an order into the books of its worker.
  /// @param takes predicted time that the order lets its worker be silent
  void hand_over(core::ticket who, dispatched x, worker& w,
                 core::timespan takes, core::time_point now);
  /// Offers a worker's free seat to the queues that it serves, or none if it
  /// takes no more rows.
  void offer(worker& w);

  // hub_suspects.cpp: rows whose worker died while it worked on them
  /// Begins a stage; ends a row that died in it too often before.
  void enter(core::request_id id, row& r, size_t stage, core::time_point now);
  void pump_alone(core::lane_id lane, core::time_point now);
  void pump_pool_suspects(core::time_point now);
  /// Whether its trial is recorded; otherwise requests that.
  bool may_try(core::request_id id, row& r);
  /// Notes the requests that wait for these workers and for no others.
  void note_delayed(const std::set<core::lane_id>& served);

  // hub_replies.cpp: replies and deaths
  /// How a dispatch ended without its result.
  enum class loss : uint8_t {
    /// A living worker reported it.
    told,
    /// Its process ended, but not because of it.
    killed,
    /// Its process ended while it worked on this.
    suspicious,
    /// The order or its answer was lost between here and a living worker.
    unanswered,
    /// A living worker could not read the state that it began with.
    unreadable,
  };

  /// @param sign the end is a sign of life of the worker
  bool conclude(core::ticket who, core::time_point now, concluded& out,
                bool sign = true);
  /// Sends what is no order.
  void tell(const worker& w, work what);
  /// Sends an order; `end_unsent` ends it if it could not leave.
  void send(const worker& w, core::ticket who, work what);
  void end_unsent(core::time_point now);
  /// Ends a dispatch that has no result: its row falls back, or its question is
  /// over.
  void give_up(core::ticket who, const concluded& x, const core::error& why,
               loss how, core::time_point now);
  /// Asks the workers about orders of which nothing was heard for too long.
  void ask_about_orders(core::time_point now);
  /// Lets a request continue without an order about which its worker, which
  /// cannot be killed, says nothing. The order keeps its seat and its slots:
  /// the worker may still write.
  void order_abandoned(core::ticket who, core::time_point now);
  /// Returns how a request ends that lost an order of its stage, and replaces
  /// the worker of a second loss if that is possible.
  loss note_lost(row& r, worker& w, core::error& why);
  /// Ends an order that its worker does not have.
  void order_lost(core::ticket who, core::time_point now);
  void note_returned(core::request_id id, const dispatched& x,
                     const core::error& why, core::time_point now);
  void fall_back(core::request_id id, row& r, const concluded& x,
                 const core::error& why, loss how, core::time_point now);
  /// Its state is lost: begins the leg anew.
  void restart_leg(core::request_id id, row& r, const core::error& why,
                   core::time_point now);
  /// Returns what silence is measured by.
  core::time_point running(core::time_point now);

  // hub_work.cpp: predictions
  core::timespan retry_after() const;
  /// Recounts the work on devices of a row that waits, or stops counting it.
  void count_work(core::request_id id, const row& r);

  /// Why a request is not accepted, and when it may be tried again.
  struct refusal {
    core::error why;
    core::timespan retry_after{0};
  };

  /// Returns why a row has no place now, or is not admitted by the plan.
  std::optional<refusal> refusal_of(const row& r, core::variant_id variant,
                                    core::time_point now);
  void tell_costs();
  /// Makes plans leave out workers that are slow compared with others, and
  /// include those that are no longer slow.
  void tell_slow(core::time_point now);

  hub_config config_;
  hub_ports ports_;
  stage_path path_;
  actors::slots slots_;
  actors::records records_;
  actors::rules rules_;
  requests requests_;
  actors::orders orders_;
  /// Orders that could not leave, and why.
  std::deque<std::pair<core::ticket, core::error>> unsent_;
  /// Measures the silence of workers and of orders.
  core::running_clock clock_;
  actors::workers workers_;
  actors::queues queues_;
  actors::hosting hosting_;
  actors::forecast forecast_;
  actors::questions questions_;
  actors::suspicions suspicions_;
  actors::probes probes_;
  actors::views views_;
  actors::slot_shares shares_;
  actors::matching matching_;
  actors::inspection inspection_;
  std::vector<core::worker_id> filling_;
  bool stopping_ = false;
};

} // namespace atelier::actors
