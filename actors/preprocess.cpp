// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/exception_border.hpp>
#include <atelier/actors/preprocess.hpp>
#include <atelier/core/philox_noise.hpp>
#include <atelier/core/torch_noise.hpp>
#include <atelier/gpu/state_format.hpp>

namespace atelier::actors {

core::result<void> draw_state(const prepare& x, ipc::slot_store& slots) {
  const auto buffer = slots.buffer(x.state);
  if (!buffer)
    return buffer.why();
  // A store without payload keeps the words alone: nothing to draw.
  if (buffer->empty())
    return slots.publish(x.state, 1, 0);
  auto latent = gpu::begin_state(*buffer, x.latent, 0, 0);
  if (!latent)
    return latent.why();
  if (x.how.noise == core::noise_source::torch_cpu)
    core::torch_randn(x.how.seed, *latent);
  else
    core::philox_randn(x.how.seed, *latent);
  return slots.publish(x.state, 1, gpu::state_bytes(x.latent, 0));
}

preprocess_actor::behavior_type preprocess(
  preprocess_actor::stateful_pointer<preprocess_state> self,
  preprocess_config config) {
  install_exception_border(self);
  auto& st = self->state;
  st.config = std::move(config);
  worker_ready ready;
  ready.who = st.config.self;
  ready.seats = st.config.seats;
  st.config.hub->send(std::move(ready));
  return {
    [self](const prepare& x) {
      auto& c = self->state.config;
      const auto begin = self->clock().now();
      prepared reply;
      reply.who = x.who;
      if (auto done = draw_state(x, *c.slots); !done)
        reply.failure = done.why();
      reply.took = self->clock().now() - begin;
      c.hub->send(std::move(reply));
    },
  };
}

} // namespace atelier::actors
