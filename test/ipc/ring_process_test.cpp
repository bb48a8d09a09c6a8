// SPDX-License-Identifier: Apache-2.0
// Kills either end of a ring at random moments.
#include "ipc/child_process.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/ipc/arena.hpp>
#include <atelier/ipc/ring.hpp>

#include <boost/test/unit_test.hpp>

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <random>

namespace {

using namespace atelier;
using namespace std::chrono_literals;

constexpr core::process_id worker{1};

size_t kills() {
  return std::max<size_t>(5, test::scaled(500));
}

// Makes a record that contains its number, and whose bytes show whether it is
// complete.
void make_record(uint64_t number, std::vector<std::byte>& into) {
  into.resize(sizeof number + number * 37 % 700);
  std::memcpy(into.data(), &number, sizeof number);
  for (size_t i = sizeof number; i < into.size(); ++i)
    into[i] = static_cast<std::byte>(number * 131 + i);
}

// Returns the number of a complete record.
std::optional<uint64_t> number_of(const std::vector<std::byte>& record) {
  uint64_t number = 0;
  if (record.size() < sizeof number)
    return std::nullopt;
  std::memcpy(&number, record.data(), sizeof number);
  std::vector<std::byte> expected;
  make_record(number, expected);
  if (record != expected)
    return std::nullopt;
  return number;
}

struct fixture {
  std::unique_ptr<ipc::arena_owner> arena =
    *ipc::arena_owner::make_private({{}, {}, 2, 4096});
  ipc::ring_place ring = arena->rings(worker)->inbound;
  std::mt19937_64 rng{test::seed()};

  std::chrono::steady_clock::time_point soon() {
    return std::chrono::steady_clock::now()
         + std::chrono::microseconds{300 + rng() % 3000};
  }

  static bool is_past(std::chrono::steady_clock::time_point x) {
    return std::chrono::steady_clock::now() > x;
  }
};

// The values that a consumer leaves to its successor.
struct consumed {
  std::atomic<uint64_t> next;
  std::atomic<uint64_t> faults;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(ring_process_test, fixture)

BOOST_AUTO_TEST_CASE(what_a_killed_producer_published_is_whole) {
  std::vector<std::byte> record;
  uint64_t received = 0;
  for (uint32_t i = 1; i <= kills(); ++i) {
    ipc::ring_life life{arena->host_epoch(), core::incarnation{i}};
    BOOST_REQUIRE(arena->begin_life(worker));
    test::child_process producer{[&] {
      ipc::ring_writer out{ring, life};
      for (uint64_t n = 0;; ++n) {
        make_record(n, record);
        while (!*out.push(record))
          out.wait_for_room(record.size(), 60s);
      }
    }};
    ipc::ring_reader in{ring, life};
    uint64_t expected = 0;
    auto take = [&](core::timespan most) {
      auto popped = in.pop(record, most);
      BOOST_REQUIRE_MESSAGE(bool(popped), (popped ? "" : popped.why().text));
      if (*popped)
        BOOST_REQUIRE((number_of(record) == expected++));
      return *popped;
    };
    // The last consumer is killed while it works, however slow the machine is.
    if (i == kills())
      BOOST_REQUIRE(take(60s));
    for (auto end = soon(); !is_past(end);)
      take(1ms);
    producer.signal(rng() % 4 == 0 ? SIGSTOP : SIGKILL);
    while (rng() % 8 != 0)
      take(100us);
    producer.signal(SIGKILL);
    BOOST_TEST(producer.wait() == -1);
    while (take(0s)) {
    }
    received += expected;
  }
  BOOST_TEST_MESSAGE(received << " records, " << kills() << " kills");
  BOOST_TEST(received > 0u);
}

BOOST_AUTO_TEST_CASE(a_killed_consumer_neither_blocks_nor_loses) {
  auto* state = static_cast<consumed*>(mmap(nullptr, sizeof(consumed),
                                            PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ipc::ring_life life{arena->host_epoch(), core::incarnation{1}};
  auto consume = [&] {
    ipc::ring_reader in{ring, life};
    std::vector<std::byte> record;
    for (bool first = true;; first = false) {
      auto popped = in.pop(record, 60s);
      if (!popped)
        _exit(3);
      auto number = *popped ? number_of(record) : std::nullopt;
      auto next = state->next.load();
      // A predecessor may have died between taking a record and counting it.
      if (!number || !(*number == next || (first && *number == next + 1)))
        ++state->faults;
      state->next = number.value_or(next) + 1;
    }
  };
  ipc::ring_writer out{ring, life};
  std::vector<std::byte> record;
  uint64_t sent = 0;
  for (size_t i = 0; i < kills(); ++i) {
    test::child_process consumer{consume};
    for (auto end = soon(); !is_past(end);) {
      make_record(sent, record);
      sent += *out.push(record);
      if (rng() % 64 == 0)
        out.wait_for_room(record.size(), 50us);
    }
    if (rng() % 4 == 0)
      consumer.signal(SIGSTOP);
    consumer.signal(SIGKILL);
    BOOST_TEST(consumer.wait() == -1);
  }
  // No process reads now, but the writer gets its answer.
  do
    make_record(sent, record);
  while (*out.push(record) && ++sent > 0);
  BOOST_TEST(!out.wait_for_room(out.largest(), 2ms));
  test::child_process last{consume};
  BOOST_TEST(test::eventually([&] { return state->next == sent; }));
  BOOST_TEST(out.wait_for_room(out.largest(), 60s));
  BOOST_TEST(state->faults == 0u);
  BOOST_TEST_MESSAGE(sent << " records, " << kills() << " kills");
  munmap(state, sizeof(consumed));
}

BOOST_AUTO_TEST_SUITE_END()
