// SPDX-License-Identifier: Apache-2.0
#include "net/node.hpp"
#include "support/scale.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/un.h>

#include <algorithm>

using namespace atelier;
using namespace atelier::test;
using runtime::link_side;

namespace {

/// Listens on a name that the kernel chooses and that has no file.
struct listener {
  listener() : socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un any{};
    any.sun_family = AF_UNIX;
    // If one of these calls fails, no connection succeeds, and each case fails.
    (void)bind(socket, reinterpret_cast<sockaddr*>(&any), sizeof(sa_family_t));
    length = sizeof name;
    getsockname(socket, reinterpret_cast<sockaddr*>(&name), &length);
    listen(socket, 16);
  }

  int connect_to() const {
    const auto x = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)connect(x, reinterpret_cast<const sockaddr*>(&name), length);
    return x;
  }

  int socket = -1;
  sockaddr_un name{};
  socklen_t length = 0;
};

/// Returns a process with node 1, which keeps accepting and sends each record
/// back.
child_process accepting_process(const listener& door) {
  return child_process{[&] {
    node* self = nullptr;
    node me{options_of(1), [&](actors::node_id from, record x) {
              self->links.send(from, std::move(x));
            }};
    self = &me;
    for (;;)
      me.links.join(accept4(door.socket, nullptr, nullptr, SOCK_CLOEXEC),
                    link_side::accepts, [](const auto&) {});
  }};
}

} // namespace

BOOST_AUTO_TEST_SUITE(rejoin_process_test)

BOOST_AUTO_TEST_CASE(a_link_can_be_cut_and_joined_many_times) {
  const listener door;
  const auto child = accepting_process(door);
  auto options = options_of(0);
  options.patience = 500ms;
  std::atomic<size_t> back{0};
  node me{options, [&](actors::node_id, const record&) { ++back; }};
  // A cycle takes milliseconds, so the count is ten times the scaled one.
  const auto cycles = std::min<size_t>(2000, 10 * scaled(2000));
  size_t refused = 0, silent = 0;
  for (size_t i = 0; i < cycles; ++i) {
    // The far end refuses while it has not noticed the cut. Then this end tries
    // again.
    size_t attempts = 1;
    while (!me.join(door.connect_to(), link_side::opens, far)) {
      ++refused;
      BOOST_REQUIRE_LE(++attempts, 20);
    }
    const auto before = back.load();
    // Half of the cuts happen while records are in transit.
    BOOST_REQUIRE(me.links.send(far, record(actors::most_record_bytes)));
    if (i % 2 == 0 && !eventually([&] { return back > before; }, 2s))
      ++silent;
    me.links.cut(far);
    BOOST_CHECK(!me.links.send(far, record(1)));
    BOOST_REQUIRE(
      eventually([&] { return me.lost == static_cast<int>(i) + 1; }));
  }
  BOOST_TEST_MESSAGE(cycles << " cycles, " << refused << " joins refused, "
                            << silent << " links silent");
  BOOST_CHECK_EQUAL(silent, 0);
  BOOST_CHECK_EQUAL(me.lost, static_cast<int>(cycles));
}

BOOST_AUTO_TEST_CASE(a_second_link_to_a_node_is_refused_and_the_first_stays) {
  const listener door;
  const auto child = accepting_process(door);
  std::atomic<size_t> back{0};
  auto options = options_of(0);
  options.patience = 1s;
  node me{options, [&](actors::node_id, const record&) { ++back; }};
  BOOST_REQUIRE(me.join(door.connect_to(), link_side::opens));
  const auto again = me.join(door.connect_to(), link_side::opens);
  BOOST_REQUIRE(!again);
  BOOST_CHECK(again.why().code == core::ec::unavailable);
  BOOST_CHECK(me.links.send(far, record(1)));
  BOOST_CHECK(eventually([&] { return back == 1; }));
  BOOST_CHECK_EQUAL(me.lost, 0);
}

BOOST_AUTO_TEST_CASE(the_far_end_of_a_cut_link_can_die_and_come_back) {
  const listener door;
  auto options = options_of(0);
  // All processes start first, because only a process without threads may fork.
  auto first = accepting_process(door);
  first.signal(SIGSTOP);
  auto second = accepting_process(door);
  second.signal(SIGSTOP);
  node me{options, {}};
  first.signal(SIGCONT);
  BOOST_REQUIRE(me.join(door.connect_to(), link_side::opens));
  first.signal(SIGKILL);
  BOOST_CHECK(eventually([&] { return me.lost == 1; }));
  second.signal(SIGCONT);
  BOOST_CHECK(me.join(door.connect_to(), link_side::opens));
  BOOST_CHECK(me.links.send(far, record(1)));
}

BOOST_AUTO_TEST_SUITE_END()
