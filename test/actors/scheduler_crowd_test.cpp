// SPDX-License-Identifier: Apache-2.0

// A suspect of a device's death beside a crowd that never ends.

#include "actors/scheduler_rig.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace {

using namespace atelier;
using actors::denoise;
using test::prepare;

struct fixture : test::scheduler_rig {
  fixture() : scheduler_rig(roomy()) {
    add_cpu();
    add_device(life(2));
  }

  static options roomy() {
    options o;
    o.slots = {64, 64, 0};
    return o;
  }

  // Prepares the waiting requests, and keeps the rows on the device.
  void collect() {
    while (auto p = next<prepare>())
      done(p->second);
    while (auto d = next<denoise>())
      running.push_back(d->second);
  }

  // The oldest row on the device is answered, and another request comes.
  void end_one() {
    const auto d = running.front();
    running.pop_front();
    submit();
    collect();
    done(d);
    collect();
    while (auto f = next<test::finish>())
      done(f->second);
    for (const auto id : std::exchange(untaken, {}))
      taken(id);
    collect();
  }

  bool runs(core::request_id id) const {
    return std::any_of(running.begin(), running.end(),
                       [&](const auto& d) { return d.ticket.id == id; });
  }

  std::deque<denoise> running;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(scheduler_crowd_test, fixture)

BOOST_AUTO_TEST_CASE(a_suspect_is_tried_at_a_device_beside_a_steady_crowd) {
  const auto suspect = submit();
  done(take<prepare>());
  stepping({take<denoise>().ticket});
  lose(life(2));
  for (int i = 0; i < 8; ++i) {
    submit();
    collect();
  }
  add_device(life(2, 2));
  collect();
  size_t ended = 0;
  for (; ended < 50 && !runs(suspect) && !running.empty(); ++ended)
    end_one();
  BOOST_TEST(runs(suspect));
  // The seats of the device at its return, and no more.
  BOOST_TEST(ended <= 4u);
}

BOOST_AUTO_TEST_SUITE_END()
