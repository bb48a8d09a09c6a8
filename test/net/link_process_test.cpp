// SPDX-License-Identifier: Apache-2.0
#include "net/node.hpp"

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::test;
using runtime::link_side;

namespace {

constexpr size_t most = actors::most_record_bytes;

/// The two ends of a link, before either process has a thread.
struct linked {
  explicit linked(runtime::link_options theirs = options_of(1),
                  runtime::link_options ours = options_of(0)) {
    const auto [mine, other] = socket_pair();
    child = echo_process(other, mine, theirs);
    close(other);
    socket = mine;
    options = ours;
  }

  child_process child;
  int socket = -1;
  runtime::link_options options;
};

record numbered(size_t bytes, uint8_t number) {
  record x(bytes);
  for (size_t i = 0; i < bytes; ++i)
    x[i] = static_cast<std::byte>(number + i % 251);
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(link_process_test)

BOOST_AUTO_TEST_CASE(records_come_back_whole_and_in_order) {
  linked with;
  std::mutex mutex;
  std::vector<record> got;
  node me{with.options, [&](actors::node_id from, record x) {
            const std::lock_guard guard{mutex};
            if (from == far)
              got.push_back(std::move(x));
          }};
  BOOST_REQUIRE(me.join(with.socket, link_side::opens, far));
  const std::vector<size_t> lengths{0, 1, 64, 4096, most - 1, most};
  for (size_t i = 0; i < lengths.size(); ++i)
    BOOST_CHECK(
      me.links.send(far, numbered(lengths[i], static_cast<uint8_t>(i))));
  BOOST_CHECK(eventually([&] {
    const std::lock_guard guard{mutex};
    return got.size() == lengths.size();
  }));
  const std::lock_guard guard{mutex};
  for (size_t i = 0; i < got.size(); ++i)
    BOOST_CHECK(got[i] == numbered(lengths[i], static_cast<uint8_t>(i)));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_sent_is_refused) {
  linked with;
  node me{with.options, {}};
  BOOST_CHECK(!me.links.send(far, record(1)));
  BOOST_REQUIRE(me.join(with.socket, link_side::opens));
  BOOST_CHECK(!me.links.send(actors::node_id{2}, record(1)));
  BOOST_CHECK(!me.links.send(far, record(most + 1)));
  BOOST_CHECK(me.links.send(far, record(most)));
}

BOOST_AUTO_TEST_CASE(eight_mib_in_chunks_with_credit_come_back) {
  constexpr size_t chunks = (8u << 20) / most;
  constexpr size_t credit = 4;
  linked with;
  std::atomic<size_t> back{0}, wrong{0};
  // Two threads send in turn; otherwise the order would be random.
  std::mutex turn;
  size_t sent = 0;
  node* self = nullptr;
  const auto send_one = [&] {
    const auto i = sent++;
    if (!self->links.send(far, numbered(most, static_cast<uint8_t>(i))))
      ++wrong;
  };
  node me{with.options, [&](actors::node_id, const record& x) {
            if (x != numbered(most, static_cast<uint8_t>(back)))
              ++wrong;
            ++back;
            const std::lock_guard guard{turn};
            if (sent < chunks)
              send_one();
          }};
  self = &me;
  BOOST_REQUIRE(me.join(with.socket, link_side::opens));
  {
    const std::lock_guard guard{turn};
    while (sent < credit)
      send_one();
  }
  BOOST_CHECK(eventually([&] { return back == chunks; }));
  BOOST_CHECK_EQUAL(wrong, 0);
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_stopped_node_is_bounded) {
  auto ours = options_of(0);
  ours.most_unsent_bytes = 2u << 20;
  ours.idle = 10s;
  linked with{options_of(1), ours};
  std::atomic<size_t> back{0};
  node me{with.options, [&](actors::node_id, const record&) { ++back; }};
  BOOST_REQUIRE(me.join(with.socket, link_side::opens));
  with.child.signal(SIGSTOP);
  size_t taken = 0;
  while (taken < 100 && me.links.send(far, record(most)))
    ++taken;
  BOOST_CHECK_EQUAL(taken, 7);
  with.child.signal(SIGCONT);
  BOOST_CHECK(eventually([&] { return back == taken; }));
  BOOST_CHECK(eventually([&] { return me.links.send(far, record(most)); }));
}

BOOST_AUTO_TEST_CASE(a_killed_node_is_lost_at_once) {
  linked with;
  node me{with.options, {}};
  BOOST_REQUIRE(me.join(with.socket, link_side::opens));
  with.child.signal(SIGKILL);
  // The limit is far below the allowed silence.
  BOOST_CHECK(eventually([&] { return me.lost == 1; }, 500ms));
  BOOST_CHECK(!me.links.send(far, record(1)));
}

BOOST_AUTO_TEST_CASE(a_stopped_node_is_lost_within_the_idle_limit) {
  linked with;
  node me{with.options, {}};
  BOOST_REQUIRE(me.join(with.socket, link_side::opens));
  const auto begin = std::chrono::steady_clock::now();
  with.child.signal(SIGSTOP);
  BOOST_CHECK(eventually([&] { return me.lost == 1; }));
  const auto took = std::chrono::steady_clock::now() - begin;
  BOOST_TEST_MESSAGE("noticed after " << core::to_ms(took) << " ms");
  // A busy machine may be late, but never early.
  BOOST_CHECK(took > 500ms);
  BOOST_CHECK(took < 3s);
}

BOOST_AUTO_TEST_CASE(an_idle_link_stays) {
  auto quick = options_of(1);
  quick.idle = 500ms;
  auto ours = options_of(0);
  ours.idle = 500ms;
  linked with{quick, ours};
  std::atomic<int> back{0};
  node me{with.options, [&](actors::node_id, const record&) { ++back; }};
  BOOST_REQUIRE(me.join(with.socket, link_side::opens));
  BOOST_CHECK(!eventually([&] { return me.lost != 0; }, 2s));
  BOOST_CHECK(me.links.send(far, record(1)));
  BOOST_CHECK(eventually([&] { return back == 1; }));
}

BOOST_AUTO_TEST_CASE(another_build_is_refused_with_both_named) {
  auto other = options_of(1);
  other.build = 0xabc;
  linked with{other};
  node me{with.options, {}};
  const auto got = me.join(with.socket, link_side::opens);
  BOOST_REQUIRE(!got);
  BOOST_CHECK(got.why().code == core::ec::incompatible);
  BOOST_CHECK(got.why().text.find("0abc") != std::string::npos);
  BOOST_CHECK(!me.links.send(far, record(1)));
  BOOST_CHECK_EQUAL(me.lost, 0);
}

BOOST_AUTO_TEST_CASE(a_far_end_that_is_mute_is_given_up) {
  const auto [mine, other] = socket_pair();
  auto options = options_of(0);
  options.patience = 100ms;
  node me{options, {}};
  const auto opened = me.join(mine, link_side::opens);
  BOOST_REQUIRE(!opened);
  BOOST_CHECK(opened.why().code == core::ec::unavailable);
  close(other);
}

BOOST_AUTO_TEST_CASE(stopping_tells_those_who_wait_and_nobody_else) {
  const auto [mine, other] = socket_pair();
  std::optional<core::ec> told;
  {
    node me{options_of(0), {}};
    me.links.join(mine, link_side::accepts,
                  [&](const core::result<actors::node_id>& x) {
                    told = x ? core::ec::none : x.why().code;
                  });
  }
  BOOST_CHECK(told == core::ec::stopping);
  close(other);
}

BOOST_AUTO_TEST_SUITE_END()
