// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/ipc/arena.hpp>
#include <atelier/ipc/layout.hpp>
#include <atelier/ipc/ring.hpp>

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <deque>
#include <random>
#include <thread>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;

constexpr core::process_id worker{1};
constexpr ipc::ring_life life = {core::epoch{1}, core::incarnation{1}};
// The time is so long that only a lost wake-up can reach it.
constexpr core::timespan forever = 60s;

struct fixture {
  std::unique_ptr<ipc::arena_owner> arena =
    *ipc::arena_owner::make_private({{}, {}, 2, 256});
  ipc::ring_place ring = arena->rings(worker)->inbound;
  ipc::ring_writer writer{ring, life};
  ipc::ring_reader reader{ring, life};
};

std::vector<std::byte> payload_of(uint64_t number, size_t bytes) {
  std::mt19937_64 rng{number};
  std::vector<std::byte> x(bytes);
  for (auto& b : x)
    b = static_cast<std::byte>(rng());
  return x;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(ring_test, fixture)

BOOST_AUTO_TEST_CASE(records_come_out_as_they_went_in) {
  std::mt19937_64 rng{test::seed()};
  std::deque<std::vector<std::byte>> inside;
  std::vector<std::byte> out;
  for (size_t i = 0, n = test::scaled(1'000'000); i < n; ++i) {
    if (rng() % 2 == 0) {
      auto x = payload_of(i, rng() % (writer.largest() + 1));
      auto pushed = writer.push(x);
      BOOST_REQUIRE(pushed);
      if (*pushed)
        inside.push_back(std::move(x));
    } else {
      auto popped = reader.pop(out, 0s);
      BOOST_REQUIRE(popped);
      BOOST_REQUIRE(*popped == !inside.empty());
      if (*popped) {
        BOOST_REQUIRE(out == inside.front());
        inside.pop_front();
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_full_ring_takes_no_more_and_says_so) {
  std::vector<std::byte> out;
  auto x = payload_of(1, writer.largest());
  BOOST_TEST(x.size() == 256u - 16u);
  BOOST_TEST(*writer.push(x));
  BOOST_TEST(!*writer.push({}));
  BOOST_TEST(!writer.wait_for_room(0, 1ms));
  BOOST_TEST(*reader.pop(out, 0s));
  BOOST_TEST(writer.wait_for_room(writer.largest(), 0s));
  x.push_back({});
  BOOST_TEST((writer.push(x).why().code == ec::invalid_argument));
  BOOST_TEST(!writer.wait_for_room(x.size(), forever));
}

BOOST_AUTO_TEST_CASE(an_empty_ring_is_waited_on) {
  std::vector<std::byte> out;
  BOOST_TEST(!*reader.pop(out, 0s));
  BOOST_TEST(!*reader.pop(out, 2ms));
  BOOST_TEST(!*reader.pop(out, 2ms, 1ms));
  BOOST_TEST(!*reader.pop(out, -1s, -1s));
}

BOOST_AUTO_TEST_CASE(an_interrupt_ends_one_wait) {
  std::vector<std::byte> out;
  std::thread other{[this] { reader.interrupt(); }};
  BOOST_TEST(!*reader.pop(out, forever));
  other.join();
  BOOST_TEST(*writer.push(payload_of(1, 9)));
  BOOST_TEST(*reader.pop(out, forever));
}

BOOST_AUTO_TEST_CASE(no_wake_up_is_lost_between_threads) {
  const size_t n = test::scaled(1'000'000);
  for (core::timespan spin : {0ns, 20'000ns}) {
    std::thread other{[&] {
      std::mt19937_64 rng{test::seed()};
      for (size_t i = 0; i < n; ++i) {
        auto x = payload_of(i, rng() % 100);
        while (!*writer.push(x))
          if (!writer.wait_for_room(x.size(), forever))
            return;
      }
    }};
    std::vector<std::byte> out;
    size_t good = 0;
    for (size_t i = 0; i < n; ++i) {
      auto popped = reader.pop(out, forever, spin);
      if (!popped || !*popped)
        break;
      good += out == payload_of(i, out.size());
    }
    other.join();
    BOOST_TEST(good == n);
  }
}

BOOST_AUTO_TEST_CASE(records_of_another_life_are_not_accepted) {
  std::vector<std::byte> out;
  for (auto other : {ipc::ring_life{core::epoch{2}, core::incarnation{1}},
                     ipc::ring_life{core::epoch{1}, core::incarnation{2}}}) {
    BOOST_REQUIRE(arena->begin_life(worker));
    BOOST_TEST(*ipc::ring_writer(ring, other).push(payload_of(1, 5)));
    BOOST_TEST((reader.pop(out, 0s).why().code == ec::incompatible));
  }
  BOOST_REQUIRE(arena->begin_life(worker));
  BOOST_TEST(!*reader.pop(out, 0s));
}

BOOST_AUTO_TEST_CASE(every_broken_bit_of_a_record_is_found) {
  std::vector<std::byte> out;
  auto* bytes = reinterpret_cast<std::byte*>(ring.memory + 1);
  for (size_t bit = 0; bit < 8 * (16 + 20); ++bit) {
    BOOST_REQUIRE(arena->begin_life(worker));
    BOOST_REQUIRE(*writer.push(payload_of(3, 20)));
    bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    auto popped = reader.pop(out, 0s);
    BOOST_TEST(!popped);
  }
}

BOOST_AUTO_TEST_CASE(nonsense_in_the_ring_is_an_error_never_a_crash) {
  std::mt19937_64 rng{test::seed()};
  std::vector<std::byte> out;
  auto* bytes = reinterpret_cast<std::byte*>(ring.memory + 1);
  constexpr uint64_t nasty[] = {
    0, 1, 8, 255, 256, 257, ~uint64_t{0}, ~uint64_t{7}, 1ull << 63};
  for (size_t i = 0, n = test::scaled(1'000'000); i < n; ++i) {
    for (size_t at = 0; at < 256; at += 8) {
      uint64_t word = rng() % 4 == 0 ? nasty[rng() % std::size(nasty)] : rng();
      std::memcpy(bytes + at, &word, sizeof word);
    }
    ring.memory->head =
      rng() % 2 == 0 ? nasty[rng() % std::size(nasty)] : rng();
    ring.memory->tail = rng() % 2 == 0 ? nasty[rng() % std::size(nasty)]
                                       : ring.memory->head + rng() % 300;
    auto popped = reader.pop(out, 0s);
    BOOST_REQUIRE(!popped || !*popped);
    static_cast<void>(*writer.push(out));
  }
}

BOOST_AUTO_TEST_SUITE_END()
