// SPDX-License-Identifier: Apache-2.0

// A store whose process is killed at random moments.

#include "index/raw_catalog.hpp"
#include "index/store_rig.hpp"
#include "ipc/child_process.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/index/store/store_folder.hpp>

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>

namespace {

using namespace atelier;
using core::ec;
using test::code_of;
using test::filled_bytes;
using test::kept_states;

constexpr size_t state_bytes = 3'000;
constexpr uint64_t held_entries = 6;

std::string text_of(uint64_t number) {
  return "number" + std::to_string(number);
}

struct killed_fixture : test::store_folder {
  // Returns options with room for few entries.
  index::store_options few() const {
    auto x = options();
    x.disk_bytes =
      held_entries
      * (test::entry_bytes + 1 + text_of(1'000'000).size() + state_bytes);
    x.memory_bytes = 0;
    return x;
  }

  // Makes the folder one of the first version, which had neither counts of
  // skipped steps nor vectors.
  void make_older() const {
    test::change_catalog(path() / "cache.sqlite",
                         "ALTER TABLE entries DROP COLUMN saved_steps;"
                         "DROP TABLE vectors;"
                         "PRAGMA user_version = 1;");
  }

  // Keeps one entry after the other, each named by its number, and reports the
  // numbers of the kept ones.
  void keep_on(uint64_t number, int told) const {
    const auto sut = index::store::open(few());
    if (!sut)
      _exit(2);
    for (;; ++number) {
      if (!(*sut)->keep("k", text_of(number),
                        kept_states({state_bytes}, number)))
        _exit(3);
      if (::write(told, &number, sizeof number) != sizeof number)
        _exit(4);
    }
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(store_process_test, killed_fixture)

// At scale 1 this kills 300 times.
BOOST_AUTO_TEST_CASE(what_was_kept_outlives_a_kill_and_nothing_torn_is_given) {
  core::philox random{test::seed(), core::purpose::test, core::request_id{1}};
  uint64_t last = 0;
  const auto n = test::scaled(300);
  for (size_t run = 0; run < n; ++run) {
    int told[2];
    BOOST_REQUIRE(pipe(told) == 0);
    const auto first = last + 1;
    test::child_process child{[&] {
      close(told[0]);
      keep_on(first, told[1]);
    }};
    close(told[1]);
    const auto wanted = last + 1 + random.below(20);
    const auto read_one = [&] {
      return ::read(told[0], &last, sizeof last) == sizeof last;
    };
    while (last < wanted && read_one()) {
    }
    // The kill hits a random moment of the next entry.
    const auto turns = random.below(2'000'000);
    for (volatile uint64_t i = 0; i < turns;)
      i = i + 1;
    child.signal(SIGKILL);
    BOOST_TEST(child.wait() == -1);
    while (read_one()) {
    }
    close(told[0]);
    BOOST_REQUIRE(last >= wanted);
    BOOST_TEST(index::verify_store(path())->is_sound());
    const auto sut = open(few());
    const auto counts = sut->counts();
    BOOST_TEST(counts.dropped_torn == 0u);
    BOOST_TEST(payload_bytes() == counts.entries * state_bytes);
    // The next entry may exist without a report, or may have evicted others
    // already.
    const auto newest = last + 1;
    uint64_t there = 0;
    for (uint64_t x = newest - std::min(newest - 1, held_entries + 2);
         x <= newest; ++x) {
      const auto found = sut->near("k", text_of(x), 100);
      const bool is_found =
        std::ranges::any_of(found, [&](const auto& y) { return y.entry == x; });
      const auto bytes = sut->state(x, 5);
      BOOST_TEST(is_found == bool{bytes});
      if (bytes)
        BOOST_TEST((**bytes == filled_bytes(state_bytes, x)));
      else
        BOOST_TEST((code_of(bytes) == ec::not_found));
      there += is_found ? 1u : 0u;
      if (x <= last && x + held_entries > newest)
        BOOST_TEST(is_found, x << " of " << last);
    }
    BOOST_TEST(counts.entries == there);
    if (sut->state(newest, 5))
      last = newest;
  }
}

// At scale 1 this kills 300 times.
BOOST_AUTO_TEST_CASE(an_older_store_keeps_all_even_if_its_upgrade_is_killed) {
  core::philox random{test::seed(), core::purpose::test, core::request_id{2}};
  {
    const auto sut = open(few());
    for (uint64_t x = 1; x <= held_entries; ++x)
      BOOST_REQUIRE(sut->keep("k", text_of(x), kept_states({state_bytes}, x)));
  }
  make_older();
  const auto begin = std::chrono::steady_clock::now();
  open(few());
  const std::chrono::duration<double, std::micro> took =
    std::chrono::steady_clock::now() - begin;
  const auto n = std::max<size_t>(test::scaled(300), 10);
  for (size_t run = 0; run < n; ++run) {
    make_older();
    test::child_process child{[&] {
      const auto sut = index::store::open(few());
      if (!sut)
        _exit(2);
      for (;;)
        pause();
    }};
    // The kill hits a random moment of the upgrade, or of the time around it. A
    // sleep would be longer than an upgrade.
    const auto until =
      std::chrono::steady_clock::now() + 2 * random.uniform() * took;
    while (std::chrono::steady_clock::now() < until) {
    }
    child.signal(SIGKILL);
    BOOST_TEST(child.wait() == -1);
    const auto sut = open(few());
    BOOST_TEST(sut->counts().entries == held_entries);
    BOOST_TEST(sut->counts().dropped_torn == 0u);
    for (uint64_t x = 1; x <= held_entries; ++x) {
      BOOST_TEST(test::nearest_of(*sut, text_of(x)) == x);
      const auto bytes = sut->state(x, 5);
      BOOST_TEST_REQUIRE(bool{bytes});
      BOOST_TEST((**bytes == filled_bytes(state_bytes, x)));
    }
  }
  BOOST_TEST(index::verify_store(path())->is_sound());
}

BOOST_AUTO_TEST_SUITE_END()
