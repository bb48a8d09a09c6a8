// SPDX-License-Identifier: Apache-2.0
#include <atelier/simulation/virtual_timers.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_clock.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <caf/send.hpp>

#include <utility>

namespace atelier::runtime {

/// Work that is due.
struct due {
  std::function<void()> what;
};

} // namespace atelier::runtime

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::runtime::due)

namespace atelier::runtime {

namespace {

// A class, since CAF dereferences null if a function without arguments is
// spawned.
class timer : public caf::event_based_actor {
public:
  explicit timer(caf::actor_config& cfg) : caf::event_based_actor(cfg) {}

  caf::behavior make_behavior() override {
    return {
      [](const due& x) { x.what(); },
    };
  }
};

} // namespace

virtual_timers::virtual_timers(caf::actor_system& sys)
  : sys_(sys), actor_(sys.spawn<timer>()) {}

virtual_timers::~virtual_timers() {
  caf::anon_send_exit(actor_, caf::exit_reason::kill);
}

core::time_point virtual_timers::now() const {
  return sys_.clock().now();
}

void virtual_timers::after(core::timespan delay, std::function<void()> what) {
  sys_.clock().schedule_message(
    now() + delay, caf::actor_cast<caf::strong_actor_ptr>(actor_),
    caf::make_mailbox_element(nullptr, caf::make_message_id(), {},
                              due{std::move(what)}));
}

} // namespace atelier::runtime
