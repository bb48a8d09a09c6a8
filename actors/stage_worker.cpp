// SPDX-License-Identifier: Apache-2.0

//  scheduler        stage_worker
//     |  run_stage       |
//     |----------------->|  the stage's `run`, in this handler
//     |  stage_done      |
//     |<-----------------|
//
// A worker processes its orders one after the other. An exception is a failure
// of its request. The scheduler handles the death of the process.

#include <atelier/actors/exception_border.hpp>
#include <atelier/actors/stage_worker.hpp>

#include <utility>

namespace atelier::actors {

namespace {

template <class State>
stage_actor::behavior_type behave(self_of<stage_actor, State> self,
                                  stage_worker_config config) {
  install_exception_border(self);
  auto& st = self->state;
  st.config = std::move(config);
  worker_ready ready;
  ready.worker = st.config.self;
  ready.seats = st.config.seats;
  st.config.scheduler->send(std::move(ready));
  return {
    [self](const run_stage& x) {
      auto& c = self->state.config;
      try {
        auto reply = do_stage(x, *c.stages, *c.slots,
                              [self] { return self->clock().now(); });
        if (c.said && x.stage < c.stages->size())
          reply.took =
            planning::time_of(c.stages->at(x.stage), x.order, *c.said, x.px);
        c.scheduler->send(std::move(reply));
      } catch (...) {
        // Every order is answered, and the worker continues with the next one.
        stage_done reply;
        reply.ticket = x.ticket;
        reply.stage = x.stage;
        reply.failure =
          core::fail(core::ec::internal, "{} threw: {}", self->name(),
                     text_of(std::current_exception()));
        c.scheduler->send(std::move(reply));
      }
    },
    [self](const ask_order& x) {
      self->state.config.scheduler->send(has_order{x.ticket, false});
    },
  };
}

} // namespace

stage_done do_stage(const run_stage& order, const planning::pipeline& stages,
                    ipc::slot_store& slots,
                    const std::function<core::time_point()>& now,
                    std::string_view device) {
  stage_done reply;
  reply.ticket = order.ticket;
  reply.stage = order.stage;
  const auto begin = now();
  reply.began_ns = begin.time_since_epoch().count();
  if (order.stage >= stages.size()) {
    reply.failure = core::fail(core::ec::internal,
                               "stage {} does not exist here", order.stage);
    return reply;
  }
  planning::worker_context here{slots,        order.reads,
                                order.writes, now,
                                reply.notes,  core::after(begin, order.left),
                                device};
  auto made = stages.at(order.stage).run(order.order, here);
  if (made)
    reply.outcome = std::move(*made);
  else
    reply.failure = std::move(made).why();
  reply.took = now() - begin;
  return reply;
}

stage_actor::behavior_type preprocess(
  self_of<stage_actor, preprocess_state> self, stage_worker_config config) {
  return behave<preprocess_state>(self, std::move(config));
}

stage_actor::behavior_type postprocess(
  self_of<stage_actor, postprocess_state> self, stage_worker_config config) {
  return behave<postprocess_state>(self, std::move(config));
}

stage_actor::behavior_type classifier(
  self_of<stage_actor, classifier_state> self, stage_worker_config config) {
  return behave<classifier_state>(self, std::move(config));
}

stage_actor::behavior_type recall(self_of<stage_actor, recall_state> self,
                                  stage_worker_config config) {
  return behave<recall_state>(self, std::move(config));
}

} // namespace atelier::actors
