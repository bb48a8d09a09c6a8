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
#include <filesystem>

namespace {

using namespace atelier;
using core::ec;
using test::code_of;
using test::filled_bytes;
using test::kept_states;

/// The sizes of an entry's states.
constexpr size_t first_bytes = 1'000;
constexpr size_t second_bytes = 2'000;
constexpr size_t state_bytes = first_bytes + second_bytes;
constexpr uint64_t held_entries = 6;

std::string text_of(uint64_t number) {
  return "number" + std::to_string(number);
}

index::leftover states_of(uint64_t number) {
  return kept_states({first_bytes, second_bytes}, number);
}

struct killed_fixture : test::store_folder {
  // Returns options with room for few entries, and for another one if it has
  // lost its first state.
  index::store_options few(core::eviction_rule rule = {}) const {
    auto x = options();
    const auto rest =
      test::entry_bytes + 1 + text_of(1'000'000).size() + second_bytes;
    x.bytes = held_entries * (rest + first_bytes) + rest;
    x.memory_bytes = 0;
    x.rule = rule;
    return x;
  }

  // Makes the folder one of the first version, which had neither counts of
  // skipped steps nor vectors, nor seeds, nor payloads that leave alone.
  void make_older() const {
    test::change_catalog(path() / "cache.sqlite",
                         "UPDATE entries SET tenant = 0, key ="
                         " CAST(substr(key, 1, length(key) - 12) AS BLOB);"
                         "ALTER TABLE entries DROP COLUMN saved_steps;"
                         "ALTER TABLE entries DROP COLUMN file_bytes;"
                         "ALTER TABLE entries DROP COLUMN seeded;"
                         "ALTER TABLE entries DROP COLUMN seed;"
                         "ALTER TABLE parts DROP COLUMN start;"
                         "ALTER TABLE parts DROP COLUMN used;"
                         "ALTER TABLE parts DROP COLUMN saved_steps;"
                         "DROP TABLE vectors;"
                         "PRAGMA user_version = 1;");
  }

  // Keeps one entry after the other, each named by its number, and reports the
  // numbers of the kept ones.
  void keep_on(core::eviction_rule rule, uint64_t number, int told) const {
    const auto sut = index::store::open(few(rule));
    if (!sut)
      _exit(2);
    for (;; ++number) {
      if (!(*sut)->keep("k", text_of(number), states_of(number)))
        _exit(3);
      if (::write(told, &number, sizeof number) != sizeof number)
        _exit(4);
    }
  }

  // Kills it n times, and checks the folder after each kill. Returns how many
  // states had left alone, counted again each time.
  size_t kill(core::eviction_rule rule, size_t n) const;
};

size_t killed_fixture::kill(core::eviction_rule rule, size_t n) const {
  core::philox random{test::seed(), core::purpose::test, core::request_id{1}};
  uint64_t last = 0;
  size_t thinned = 0;
  for (size_t run = 0; run < n; ++run) {
    int told[2];
    BOOST_REQUIRE(pipe(told) == 0);
    const auto first = last + 1;
    test::child_process child{[&] {
      close(told[0]);
      keep_on(rule, first, told[1]);
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
    // Reading a copy uses no entry of the folder.
    const test::store_folder copy;
    std::filesystem::copy(path(), copy.path(),
                          std::filesystem::copy_options::recursive);
    auto with = few(rule);
    with.folder = copy.path();
    const auto sut = open(with);
    const auto counts = sut->counts();
    BOOST_TEST(counts.dropped_torn == 0u);
    // Files keep their sizes.
    BOOST_TEST(copy.payload_bytes() == counts.entries * state_bytes);
    // The next entry may exist without a report, or may have evicted others
    // already.
    const auto newest = last + 1;
    uint64_t there = 0;
    uint64_t payloads = 0;
    for (uint64_t x = newest - std::min(newest - 1, held_entries + 2);
         x <= newest; ++x) {
      const auto found = sut->near("k", text_of(x), {100});
      const auto at = std::ranges::find(found, x, &planning::match::entry);
      const auto stored =
        at == found.end() ? std::vector<uint32_t>{} : at->stored;
      for (const uint32_t steps : {5U, 10U}) {
        const auto bytes = sut->state(x, steps);
        BOOST_TEST(std::ranges::count(stored, steps) == (bytes ? 1 : 0));
        if (bytes)
          BOOST_TEST(
            (**bytes
             == filled_bytes(steps == 5 ? first_bytes : second_bytes, x)));
        else
          BOOST_TEST((code_of(bytes) == ec::not_found));
      }
      there += stored.empty() ? 0u : 1u;
      payloads += stored.size();
      // Only LCBFU takes one state of two.
      BOOST_TEST((stored.empty() || stored.size() == 2
                  || (rule == core::eviction_rule::lcbfu && stored[0] == 10)));
      if (x <= last && x + held_entries > newest)
        BOOST_TEST(stored.size() == 2u, x << " of " << last);
    }
    BOOST_TEST(counts.entries == there);
    thinned += 2 * there - payloads;
    if (sut->state(newest, 10))
      last = newest;
  }
  return thinned;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(store_process_test, killed_fixture)

// At scale 1 this kills 300 times.
BOOST_AUTO_TEST_CASE(what_was_kept_outlives_a_kill_and_nothing_torn_is_given) {
  BOOST_TEST(kill(core::eviction_rule::lru, test::scaled(300)) == 0u);
}

// At scale 1 this kills 300 times.
BOOST_AUTO_TEST_CASE(states_that_leave_alone_leave_whole_ones) {
  BOOST_TEST(kill(core::eviction_rule::lcbfu, test::scaled(300)) > 0u);
}

// At scale 1 this kills 300 times.
BOOST_AUTO_TEST_CASE(an_older_store_keeps_all_even_if_its_upgrade_is_killed) {
  core::philox random{test::seed(), core::purpose::test, core::request_id{2}};
  // A key ends with its tenant.
  const auto key = "k" + std::string(16, '\0');
  {
    const auto sut = open(few());
    for (uint64_t x = 1; x <= held_entries; ++x)
      BOOST_REQUIRE(sut->keep(key, text_of(x), states_of(x)));
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
      BOOST_TEST(test::nearest_of(*sut, text_of(x), key) == x);
      const auto first = sut->state(x, 5);
      BOOST_TEST_REQUIRE(bool{first});
      BOOST_TEST((**first == filled_bytes(first_bytes, x)));
      const auto second = sut->state(x, 10);
      BOOST_TEST_REQUIRE(bool{second});
      BOOST_TEST((**second == filled_bytes(second_bytes, x)));
    }
  }
  BOOST_TEST(index::verify_store(path())->is_sound());
}

BOOST_AUTO_TEST_SUITE_END()
