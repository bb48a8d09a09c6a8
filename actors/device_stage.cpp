// SPDX-License-Identifier: Apache-2.0

//  scheduler      device_stage             executor (the device's thread)
//     |  run_stage    |                          |
//     |-------------->|  call                    |
//     |               |------------------------->|
//     |   stepping    |                          |
//     |<-----------------------------------------|  the stage's `run`
//     |   stage_done  |      stage_ended         |
//     |<--------------|<-------------------------|
//
// An exception is a failure of its request, and so is work that the executor
// drops. The scheduler handles the death of the process.

#include <atelier/actors/device_stage.hpp>
#include <atelier/actors/exception_border.hpp>
#include <atelier/actors/inline_unit.hpp>
#include <atelier/actors/stage_worker.hpp>

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>

#include <atomic>
#include <utility>

namespace atelier::actors {

namespace {

/// Where the device's thread reports to: the actor, if it still lives.
class news_of_work {
public:
  news_of_work(caf::actor_addr to, caf::actor_system& sys, bool inline_events)
    : to_(std::move(to)),
      here_(inline_events ? std::make_unique<inline_unit>(sys) : nullptr) {}

  template <class T>
  void post(T message) const {
    auto strong = caf::actor_cast<caf::strong_actor_ptr>(to_);
    if (!strong)
      return;
    const auto to = caf::actor_cast<device_stage_actor>(strong);
    if (here_)
      here_->deliver(to, std::move(message));
    else
      caf::anon_send(to, std::move(message));
  }

private:
  caf::actor_addr to_;
  std::unique_ptr<inline_unit> here_;
};

/// One order on its way through an executor. It is answered once, even if the
/// executor drops it.
class device_work {
public:
  device_work(run_stage order, const device_stage_config& with,
              std::shared_ptr<const news_of_work> news)
    : order_(std::move(order)),
      stages_(with.stages),
      slots_(with.slots),
      now_(with.now),
      self_(with.self),
      device_(with.device),
      scheduler_(with.scheduler),
      news_(std::move(news)) {}

  device_work(const device_work&) = delete;
  device_work& operator=(const device_work&) = delete;

  ~device_work() {
    if (begun_)
      return;
    answer_failed(core::fail(core::ec::unavailable,
                             "device {} left the work of a stage out",
                             device_));
  }

  void run() noexcept {
    if (begun_.exchange(true))
      return;
    try {
      // At once: the work may end the process.
      scheduler_->send(stepping{self_, {order_.ticket}});
      news_->post(
        stage_ended{do_stage(order_, *stages_, *slots_, now_, device_)});
    } catch (...) {
      answer_failed(core::fail(core::ec::internal, "stage on {} threw: {}",
                               device_, text_of(std::current_exception())));
    }
  }

private:
  void answer_failed(core::error why) const noexcept {
    try {
      stage_done reply;
      reply.ticket = order_.ticket;
      reply.stage = order_.stage;
      reply.failure = std::move(why);
      news_->post(stage_ended{std::move(reply)});
    } catch (...) {
      core::log_error("stage on {}: its failure could not be reported",
                      device_);
    }
  }

  const run_stage order_;
  const std::shared_ptr<const planning::pipeline> stages_;
  const std::shared_ptr<ipc::slot_store> slots_;
  const std::function<core::time_point()> now_;
  const worker_address self_;
  const std::string device_;
  const std::shared_ptr<scheduler_port> scheduler_;
  const std::shared_ptr<const news_of_work> news_;
  std::atomic<bool> begun_ = false;
};

} // namespace

device_stage_actor::behavior_type device_stage(
  self_of<device_stage_actor, device_stage_state> self,
  device_stage_config config) {
  install_exception_border(self);
  self->state.config = std::move(config);
  const auto& c = self->state.config;
  const auto news = std::make_shared<const news_of_work>(
    caf::actor_addr{self->address()}, self->home_system(),
    c.on_executor_thread);
  worker_ready ready;
  ready.worker = c.self;
  ready.seats = 1;
  ready.device = c.device;
  c.scheduler->send(std::move(ready));
  return {
    [self, news](const run_stage& x) {
      auto& st = self->state;
      if (!st.open.insert(x.ticket).second)
        return;
      const auto order = std::make_shared<device_work>(x, st.config, news);
      try {
        st.config.device_executor->call([order] { order->run(); });
      } catch (...) {
        // The order is answered as dropped.
        core::log_error("{} of {}: {}", self->name(), st.config.device,
                        text_of(std::current_exception()));
      }
    },
    [self](const ask_order& x) {
      const auto& st = self->state;
      st.config.scheduler->send(
        has_order{x.ticket, st.open.contains(x.ticket)});
    },
    [self](const stage_ended& x) {
      self->state.open.erase(x.reply.ticket);
      self->state.config.scheduler->send(x.reply);
    },
  };
}

} // namespace atelier::actors
