// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/layout.hpp>
#include <atelier/runtime/split/ring_link.hpp>

#include <boost/test/unit_test.hpp>
#include <support/eventually.hpp>
#include <support/scale.hpp>

#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

using namespace atelier;
using namespace std::chrono_literals;
using test::eventually;

namespace {

constexpr ipc::process_life who{core::process_id{1}, core::incarnation{1}};

/// A link, and the other ends of its rings, which the test uses.
struct pair_of_rings {
  std::shared_ptr<ipc::arena_owner> host = make();
  std::mutex mutex;
  std::vector<uint64_t> pongs;
  std::atomic<int> ended = 0;
  std::atomic<int> broken = 0;
  ipc::ring_pair rings = *host->begin_life(who.process);
  ipc::ring_life life{host->host_epoch(), who.life};
  ipc::ring_reader inbound{rings.inbound, life};
  ipc::ring_writer outbound{rings.outbound, life};
  std::unique_ptr<runtime::ring_link> sut =
    std::make_unique<runtime::ring_link>(
      rings, life,
      runtime::ring_link::events{
        [this](actors::from_process x) {
          const std::lock_guard guard{mutex};
          if (const auto* p = std::get_if<actors::pong>(&x.body))
            pongs.push_back(p->number);
        },
        [this] { ++ended; }, [this](core::error) { ++broken; }});

  static std::shared_ptr<ipc::arena_owner> make() {
    ipc::arena_sizes sizes;
    sizes.slots = {1, 1, 0};
    sizes.slot_bytes = {64, 64, 64};
    sizes.processes = 2;
    sizes.ring_bytes = 4096;
    auto made = ipc::arena_owner::make_private(sizes);
    BOOST_TEST_REQUIRE(made.operator bool());
    return std::move(*made);
  }

  size_t pongs_seen() {
    const std::lock_guard guard{mutex};
    return pongs.size();
  }

  void ping(uint64_t number) {
    BOOST_REQUIRE(sut->send(actors::to_process{{}, 0, actors::ping{number}}));
  }

  void pong(uint64_t number) {
    std::vector<std::byte> record;
    actors::write(actors::from_process{actors::pong{who, number}}, record);
    while (!*outbound.push(record))
      outbound.wait_for_room(record.size(), 1s);
  }

  /// Reads `count` pings; fails if one is out of order.
  void expect_pings(uint64_t count) {
    std::vector<std::byte> record;
    for (uint64_t i = 0; i < count; ++i) {
      const auto got = inbound.pop(record, 30s);
      BOOST_TEST_REQUIRE(got.operator bool());
      BOOST_TEST_REQUIRE(*got);
      const auto x = actors::read_to_process(record);
      BOOST_TEST_REQUIRE(x.operator bool());
      BOOST_TEST_REQUIRE(std::get<actors::ping>(x->body).number == i);
    }
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(ring_link_test)

BOOST_AUTO_TEST_CASE(records_leave_in_their_order_beyond_the_ring) {
  pair_of_rings r;
  const auto count = 1000 + test::scaled(100'000);
  for (uint64_t i = 0; i < count; ++i)
    r.ping(i);
  r.expect_pings(count);
}

BOOST_AUTO_TEST_CASE(what_waits_for_room_leaves_at_once_when_there_is_some) {
  // The process sends nothing meanwhile, and the link must not wait for it.
  pair_of_rings r;
  constexpr int rounds = 10;
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round) {
    for (uint64_t i = 0; i < 300; ++i)
      r.ping(i);
    r.expect_pings(300);
  }
  // Otherwise each round would cost a whole look-up of a second.
  BOOST_TEST((std::chrono::steady_clock::now() - begin < rounds * 500ms));
}

BOOST_AUTO_TEST_CASE(a_record_too_large_is_refused_and_others_go_on) {
  pair_of_rings r;
  const auto sent = r.sut->send(actors::to_process{
    {}, 0, actors::setup{"cpu", std::string(8192, 'x'), {}}});
  BOOST_REQUIRE(!sent);
  BOOST_TEST((sent.why().code == core::ec::invalid_argument));
  BOOST_TEST(sent.why().text.find("arena.ring_kib") != std::string::npos,
             sent.why().text);
  r.ping(0);
  r.expect_pings(1);
}

BOOST_AUTO_TEST_CASE(everything_written_arrives_before_the_end) {
  for (size_t round = 0; round < 10 + test::scaled(1000); ++round) {
    pair_of_rings r;
    for (uint64_t i = 0; i < 20; ++i)
      r.pong(i);
    r.sut->finish();
    BOOST_TEST_REQUIRE(eventually([&] { return r.ended == 1; }));
    BOOST_TEST_REQUIRE(r.pongs_seen() == 20u);
  }
}

BOOST_AUTO_TEST_CASE(the_end_is_told_once) {
  pair_of_rings r;
  r.sut->finish();
  r.sut->finish();
  BOOST_TEST(eventually([&] { return r.ended == 1; }));
  r.sut.reset();
  BOOST_TEST(r.ended.load() == 1);
}

BOOST_AUTO_TEST_CASE(a_stopped_link_tells_nothing_and_may_end_anywhere) {
  pair_of_rings r;
  r.sut->stop();
  r.sut->stop();
  r.pong(1);
  r.sut->finish();
  r.ping(0);
  std::thread{[&] { r.sut.reset(); }}.join();
  BOOST_TEST(r.pongs_seen() == 0u);
  BOOST_TEST(r.ended.load() == 0);
}

BOOST_AUTO_TEST_CASE(without_an_end_none_is_told) {
  pair_of_rings r;
  r.pong(1);
  BOOST_TEST(eventually([&] { return r.pongs_seen() == 1; }));
  r.sut.reset();
  BOOST_TEST(r.ended.load() == 0);
}

BOOST_AUTO_TEST_CASE(a_record_of_nonsense_breaks_the_ring) {
  pair_of_rings r;
  const std::vector<std::byte> nonsense(40, std::byte{0xEE});
  BOOST_TEST_REQUIRE(*r.outbound.push(nonsense));
  BOOST_TEST(eventually([&] { return r.broken == 1; }));
  // Its messages are no longer read, but its end is still reported.
  r.pong(1);
  r.sut->finish();
  BOOST_TEST(eventually([&] { return r.ended == 1; }));
  BOOST_TEST(r.pongs_seen() == 0u);
}

BOOST_AUTO_TEST_CASE(scribbled_counters_break_the_ring) {
  pair_of_rings r;
  auto* memory = r.rings.outbound.memory;
  memory->tail.store(uint64_t{1} << 40);
  BOOST_TEST(eventually([&] { return r.broken == 1; }));
  r.sut->finish();
  BOOST_TEST(eventually([&] { return r.ended == 1; }));
}

BOOST_AUTO_TEST_CASE(a_ring_scribbled_over_before_its_link_is_made_breaks) {
  pair_of_rings r;
  r.sut.reset();
  for (const auto& x : {r.rings.inbound, r.rings.outbound})
    // Each word is another one, so that no two counters agree.
    for (size_t i = 0; i < sizeof(ipc::ring_memory) + x.capacity; ++i)
      reinterpret_cast<uint8_t*>(x.memory)[i] =
        static_cast<uint8_t>(i / sizeof(uint64_t) * 37 + 11);
  const auto again = r.host->rings(who.process);
  BOOST_TEST_REQUIRE(again.operator bool());
  std::atomic<bool> broken = false;
  runtime::ring_link sut{*again,
                         r.life,
                         {[](const actors::from_process&) {}, [] {},
                          [&](const core::error&) { broken = true; }}};
  static_cast<void>(sut.send(actors::to_process{{}, 0, actors::ping{1}}));
  BOOST_TEST(eventually([&] { return broken.load(); }));
}

BOOST_AUTO_TEST_CASE(a_late_send_writes_nothing_into_the_next_life) {
  // A sender still holds the link while the next life begins.
  pair_of_rings r;
  r.sut->finish();
  BOOST_TEST_REQUIRE(r.host->begin_life(who.process).operator bool());
  const ipc::ring_life second{r.host->host_epoch(), core::incarnation{2}};
  ipc::ring_writer next{r.rings.inbound, second};
  std::vector<std::byte> record;
  actors::write(actors::to_process{{}, 0, actors::ping{7}}, record);
  BOOST_TEST_REQUIRE(*next.push(record));
  r.ping(0);
  ipc::ring_reader reader{r.rings.inbound, second};
  std::vector<std::byte> got;
  BOOST_TEST_REQUIRE(*reader.pop(got, 0s));
  BOOST_TEST((got == record));
  const auto more = reader.pop(got, 0s);
  BOOST_TEST_REQUIRE(more.operator bool());
  BOOST_TEST(!*more);
}

BOOST_AUTO_TEST_CASE(what_waited_for_room_is_dropped_with_its_life) {
  pair_of_rings r;
  for (uint64_t i = 0; i < 300; ++i)
    r.ping(i);
  r.sut->finish();
  BOOST_TEST_REQUIRE(r.host->begin_life(who.process).operator bool());
  BOOST_TEST(eventually([&] { return r.ended == 1; }));
  r.sut.reset();
  std::vector<std::byte> record;
  BOOST_TEST(!*r.inbound.pop(record, 0s));
}

BOOST_AUTO_TEST_CASE(a_record_of_another_life_breaks_the_ring) {
  pair_of_rings r;
  ipc::ring_writer other{r.rings.outbound,
                         {r.host->host_epoch(), core::incarnation{9}}};
  std::vector<std::byte> record;
  actors::write(actors::from_process{actors::pong{who, 1}}, record);
  BOOST_TEST_REQUIRE(*other.push(record));
  BOOST_TEST(eventually([&] { return r.broken == 1; }));
}

BOOST_AUTO_TEST_SUITE_END()
