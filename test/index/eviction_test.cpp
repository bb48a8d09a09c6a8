// SPDX-License-Identifier: Apache-2.0

// What a full cache evicts, in memory and on the disk, by each rule: entries,
// or payloads of entries.

#include "index/plain_ledger.hpp"
#include "index/raw_catalog.hpp"
#include "index/store_rig.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/index/memory.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using core::ec;
using core::eviction_rule;
using core::tenant_id;
using test::kept_px;
using numbers = std::vector<uint64_t>;

constexpr eviction_rule all_rules[] = {eviction_rule::fifo, eviction_rule::lru,
                                       eviction_rule::lcbfu};

// Every entry has the same text, so that a search finds all of them.
constexpr std::string_view key = "k";
constexpr std::string_view text = "a red fox";

/// A cache in memory, or on a disk from which it is reopened.
struct tried_cache {
  index::detail::budget most;
  bool on_disk = false;
  test::store_folder folder;
  std::shared_ptr<index::kept_work> it;

  tried_cache(index::detail::budget bounds, bool disk)
    : most(bounds), on_disk(disk) {
    open();
  }

  tried_cache(index::detail::budget bounds, const std::filesystem::path& in)
    : most(bounds), on_disk(true), folder(in) {
    open();
  }

  void open() {
    it.reset();
    if (!on_disk) {
      it = std::make_shared<index::memory>(index::cache_bounds{
        most.bytes, most.entries, 0, most.rule, most.floor, most.parts});
      return;
    }
    auto with = folder.options();
    with.bytes = most.bytes;
    with.entries = most.entries;
    with.tenant_floor = most.floor;
    with.parts = most.parts;
    with.rule = most.rule;
    it = folder.open(with);
  }

  void restart() {
    if (on_disk)
      open();
  }

  uint64_t size_of(const index::leftover& what) const {
    return on_disk
           ? index::stored_bytes(key, text, what)
           : index::bytes_of(key, what, index::words_encoder()->dimensions());
  }

  /// Returns the numbers of all entries in rising order. A search does not
  /// count as a use.
  numbers there() const {
    numbers out;
    for (const auto& [number, states] : found())
      out.push_back(number);
    return out;
  }

  /// Returns how much of the disk the payloads fill, in blocks of 512 bytes.
  uint64_t blocks() const {
    uint64_t out = 0;
    for (const auto& x : folder.files())
      out += test::blocks_of(x);
    return out;
  }

  /// Returns the steps of the states that a search finds, by their entries.
  std::map<uint64_t, std::vector<uint32_t>> found() const {
    std::map<uint64_t, std::vector<uint32_t>> out;
    for (const auto& x : it->near(key, text, {1'000}))
      out.emplace(x.entry, x.stored);
    return out;
  }
};

/// Returns a leftover as the ledger records it.
index::detail::ledger_entry recorded(const index::leftover& what,
                                     uint64_t bytes, uint64_t clock) {
  index::detail::ledger_entry out;
  out.whose = what.whose;
  out.uses.last = clock;
  if (!what.image.empty())
    out.parts.push_back({0, what.image.size(), out.uses});
  for (const auto& x : what.states)
    out.parts.push_back({x.steps, x.bytes.size(), out.uses});
  out.overhead = bytes - out.bytes();
  return out;
}

index::leftover any_leftover(core::philox& random) {
  auto out = test::kept_states({random.below(60), 1 + random.below(60)}, 1);
  if (random.below(2) == 0) {
    out.image = test::filled_bytes(1 + random.below(90), 1);
    out.px = kept_px;
  }
  out.whose = tenant_id{static_cast<uint32_t>(random.below(4))};
  return out;
}

index::detail::budget any_budget(core::philox& random, eviction_rule rule,
                                 bool on_disk) {
  const auto floor = static_cast<double>(random.below(5)) / 4;
  const auto parts = random.below(2) * random.below(5);
  if (!on_disk)
    return {4'000 + random.below(30'000), 1 + random.below(30), floor, rule,
            parts};
  return {10'000 + random.below(60'000), 1 + random.below(20), floor, rule,
          parts};
}

/// Compares random operations with a scan of all entries after each.
/// @param in the parent of the cache's folder; none: it is in memory
void agree(eviction_rule rule, const std::optional<std::filesystem::path>& in,
           size_t n) {
  const bool on_disk = in.has_value();
  core::philox random{test::seed(), core::purpose::test, core::request_id{7}};
  std::unique_ptr<tried_cache> sut;
  test::plain_ledger plain;
  uint64_t last = 0;
  uint64_t clock = 0;
  index::kept_counts wanted;
  for (size_t i = 0; i < n; ++i) {
    if (i % 1'000 == 0) {
      const auto most = any_budget(random, rule, on_disk);
      sut.reset();
      sut = on_disk ? std::make_unique<tried_cache>(most, *in)
                    : std::make_unique<tried_cache>(most, false);
      plain = {most};
      last = 0;
      wanted = {};
    }
    const auto any = last - std::min(last, random.below(25));
    const auto use = [&](uint32_t steps, uint32_t skips) {
      plain.use(any, ++clock);
      plain.save(any, steps, skips);
    };
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2: {
        auto what = any_leftover(random);
        const auto bytes = sut->size_of(what);
        const auto room = plain.room_for(what.whose, bytes, 0);
        const auto entry = recorded(what, bytes, clock + 1);
        BOOST_REQUIRE(sut->it->keep(key, text, std::move(what))
                      == room.has_value());
        if (!room)
          break;
        plain.leave(*room);
        for (const auto& x : *room) {
          wanted.evicted += x.steps.empty() ? 1u : 0u;
          wanted.evicted_payloads += x.steps.size();
        }
        ++clock;
        plain.entries.emplace(++last, entry);
        break;
      }
      case 3:
      case 4: {
        const uint32_t steps = random.below(2) == 0 ? 5 : 10;
        BOOST_REQUIRE(bool{sut->it->state(any, steps)}
                      == plain.has(any, steps));
        use(steps, steps);
        break;
      }
      case 5: {
        // A missing image skips nothing, but its entry was used.
        const auto skips = static_cast<uint32_t>(random.below(30));
        BOOST_REQUIRE(bool{sut->it->image(any, kept_px, skips)}
                      == plain.has(any, 0));
        use(0, skips);
        break;
      }
      case 6:
        if (random.below(4) != 0)
          break;
        sut->it->drop_torn(any);
        wanted.dropped_torn += plain.entries.erase(any);
        break;
      default:
        if (random.below(20) != 0)
          break;
        sut->restart();
        // These counts begin at the start.
        if (on_disk)
          wanted.evicted = wanted.evicted_payloads = wanted.dropped_torn = 0;
    }
    const auto told = sut->it->counts();
    BOOST_REQUIRE(told.bytes == plain.bytes());
    BOOST_REQUIRE(told.bytes <= plain.most.bytes);
    BOOST_REQUIRE(told.evicted == wanted.evicted);
    BOOST_REQUIRE(told.evicted_payloads == wanted.evicted_payloads);
    BOOST_REQUIRE(told.dropped_torn == wanted.dropped_torn);
    BOOST_REQUIRE(told.failed == 0u);
    std::map<uint64_t, std::vector<uint32_t>> left;
    for (const auto& [number, x] : plain.entries)
      for (auto& steps = left[number]; const auto& part : x.parts)
        if (part.steps > 0)
          steps.push_back(part.steps);
    BOOST_REQUIRE((sut->found() == left));
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(eviction_test)

BOOST_AUTO_TEST_CASE(the_rule_chooses_what_leaves) {
  const auto victim = [](eviction_rule rule, bool on_disk) -> uint64_t {
    tried_cache sut{{1 << 20, 3, 0, rule}, on_disk};
    const auto keep = [&] {
      BOOST_REQUIRE(sut.it->keep(key, text, test::kept_states({8})));
    };
    for (int i = 0; i < 3; ++i)
      keep();
    // The first entry is used twice, the second twice before, the third once.
    for (const uint64_t entry : {2U, 2U, 3U, 1U, 1U})
      BOOST_REQUIRE(sut.it->state(entry, 5));
    sut.restart();
    keep();
    BOOST_TEST(sut.it->counts().evicted == 1u);
    for (const uint64_t x : {1U, 2U, 3U})
      if (std::ranges::count(sut.there(), x) == 0)
        return x;
    return uint64_t{0};
  };
  for (const bool on_disk : {false, true})
    BOOST_TEST_CONTEXT(on_disk) {
      BOOST_TEST(victim(eviction_rule::fifo, on_disk) == 1u);
      BOOST_TEST(victim(eviction_rule::lru, on_disk) == 2u);
      BOOST_TEST(victim(eviction_rule::lcbfu, on_disk) == 3u);
    }
}

// The lowest state of each entry is used more, but skips less.
BOOST_AUTO_TEST_CASE(states_leave_alone) {
  for (const bool on_disk : {false, true})
    BOOST_TEST_CONTEXT(on_disk) {
      tried_cache sut{{0, 100, 0, eviction_rule::lcbfu}, on_disk};
      const auto states = test::kept_states({90'000, 90'000, 90'000});
      sut.most.bytes = 2 * sut.size_of(states);
      sut.open();
      for (int i = 0; i < 2; ++i)
        BOOST_REQUIRE(sut.it->keep(key, text, states));
      for (const uint32_t steps : {5U, 5U, 15U})
        BOOST_REQUIRE(sut.it->state(1, steps));
      BOOST_REQUIRE(
        sut.it->keep(key, text, test::kept_states({90'000, 90'000})));
      // The first entry's state that was never used has left.
      using states_of = std::map<uint64_t, std::vector<uint32_t>>;
      const auto wanted = [&](const states_of& all) {
        BOOST_TEST((sut.found() == all));
        const auto listed = *sut.it->list({0, 10});
        for (const auto& x : listed) {
          BOOST_TEST((x.steps == all.at(x.number)));
          for (const uint32_t steps : {5U, 10U, 15U})
            BOOST_TEST(std::ranges::count(x.steps, steps)
                       == (sut.it->state(x.number, steps) ? 1 : 0));
        }
        uint64_t bytes = 0;
        for (const auto& x : listed)
          bytes += x.bytes;
        BOOST_TEST(sut.it->counts().bytes == bytes);
      };
      BOOST_TEST(sut.it->counts().evicted == 0u);
      BOOST_TEST(sut.it->counts().evicted_payloads == 3u);
      wanted({{1, {5, 15}}, {2, {15}}, {3, {5, 10}}});
      if (on_disk)
        BOOST_TEST(sut.blocks() * 512 <= 5 * 90'000 + 3 * 2 * 4'096);
      sut.restart();
      wanted({{1, {5, 15}}, {2, {15}}, {3, {5, 10}}});
    }
}

BOOST_AUTO_TEST_CASE(an_entry_whose_state_left_takes_no_place) {
  for (const bool on_disk : {false, true})
    BOOST_TEST_CONTEXT(on_disk) {
      tried_cache sut{{0, 100, 0, eviction_rule::lcbfu}, on_disk};
      const auto states = test::kept_states({90'000, 90'000});
      sut.most.bytes = 2 * sut.size_of(states);
      sut.open();
      for (int i = 0; i < 2; ++i)
        BOOST_REQUIRE(sut.it->keep(key, text, states));
      BOOST_REQUIRE(sut.it->state(1, 10));
      BOOST_REQUIRE(sut.it->state(2, 5));
      BOOST_REQUIRE(
        sut.it->keep(key, text, test::kept_states({80'000, 90'000})));
      using states_of = std::map<uint64_t, std::vector<uint32_t>>;
      BOOST_TEST_REQUIRE(
        (sut.found() == states_of{{1, {10}}, {2, {5}}, {3, {5, 10}}}));
      const auto late = [&] {
        numbers out;
        for (const auto& x : sut.it->near(
               key, text, {2, {planning::needed_work::part::state, 10}}))
          out.push_back(x.entry);
        return out;
      };
      BOOST_TEST((late() == numbers{3, 1}));
      sut.restart();
      BOOST_TEST((late() == numbers{3, 1}));
    }
}

// The bytes of a state that leaves become zeros, which is no fault of the disk:
// its entry stays with the others.
BOOST_AUTO_TEST_CASE(a_state_may_leave_while_it_is_read) {
  const test::store_folder folder;
  const auto small = test::kept_states({5'000});
  bool leaves = false;
  std::shared_ptr<index::store> sut;
  auto with = folder.options();
  with.rule = eviction_rule::lcbfu;
  with.memory_bytes = 0;
  const auto states = test::kept_states({9'000, 9'000});
  with.bytes = index::stored_bytes(key, text, states)
             + index::stored_bytes(key, text, small) - 1;
  // A read asks for the time before it opens the file.
  with.now = [&] {
    if (std::exchange(leaves, false))
      BOOST_REQUIRE(sut->keep(key, text, small));
    return core::time_point{};
  };
  sut = folder.open(with);
  BOOST_REQUIRE(sut->keep(key, text, states));
  BOOST_REQUIRE(sut->state(1, 10));
  leaves = true;
  BOOST_TEST((test::code_of(sut->state(1, 5)) == ec::not_found));
  const auto told = sut->counts();
  BOOST_TEST(told.evicted_payloads == 1u);
  BOOST_TEST(told.dropped_torn == 0u);
  BOOST_REQUIRE(told.entries == 2u);
  BOOST_TEST((**sut->state(1, 10) == states.states[1].bytes));
}

// A start with a smaller budget takes states, too.
BOOST_AUTO_TEST_CASE(a_smaller_folder_is_thinned) {
  tried_cache sut{{1 << 20, 100, 0, eviction_rule::lcbfu}, true};
  const auto states = test::kept_states({200'000, 200'000});
  for (int i = 0; i < 2; ++i)
    BOOST_REQUIRE(sut.it->keep(key, text, states));
  BOOST_REQUIRE(sut.it->state(1, 5));
  BOOST_REQUIRE(sut.it->state(2, 10));
  const auto before = sut.blocks();
  sut.most.bytes = 500'000;
  sut.restart();
  BOOST_TEST(
    (sut.found()
     == std::map<uint64_t, std::vector<uint32_t>>{{1, {5}}, {2, {10}}}));
  BOOST_TEST(sut.it->counts().evicted_payloads == 2u);
  BOOST_TEST(100 * sut.blocks() <= 52 * before);
  BOOST_TEST((**sut.it->state(2, 10) == states.states[1].bytes));
}

// A process may be killed between the row of a payload and its bytes.
BOOST_AUTO_TEST_CASE(bytes_of_a_payload_without_a_row_are_freed_at_a_start) {
  tried_cache sut{{1 << 20, 100, 0, eviction_rule::lcbfu}, true};
  const auto states = test::kept_states({200'000, 200'000});
  BOOST_REQUIRE(sut.it->keep(key, text, states));
  const auto before = sut.blocks();
  sut.it.reset();
  test::change_catalog(sut.folder.path() / "cache.sqlite",
                       "DELETE FROM parts WHERE steps = 5");
  sut.restart();
  BOOST_TEST(
    (sut.found() == std::map<uint64_t, std::vector<uint32_t>>{{1, {10}}}));
  BOOST_TEST(100 * sut.blocks() <= 52 * before);
  BOOST_TEST((**sut.it->state(1, 10) == states.states[1].bytes));
  BOOST_TEST(sut.it->counts().dropped_torn == 0u);
}

// An image skips the steps that its request does not run.
BOOST_AUTO_TEST_CASE(images_weigh_by_the_steps_that_they_save) {
  for (const bool on_disk : {false, true})
    BOOST_TEST_CONTEXT(on_disk) {
      tried_cache sut{{1 << 20, 2, 0, eviction_rule::lcbfu}, on_disk};
      index::leftover image;
      image.image = test::filled_bytes(8, 1);
      image.px = kept_px;
      BOOST_REQUIRE(sut.it->keep(key, text, image));
      BOOST_REQUIRE(sut.it->keep(key, text, image));
      BOOST_REQUIRE(sut.it->image(1, kept_px, 30));
      for (int i = 0; i < 5; ++i)
        BOOST_REQUIRE(sut.it->image(2, kept_px, 5));
      BOOST_REQUIRE(sut.it->keep(key, text, image));
      BOOST_TEST((sut.there() == numbers{1, 3}));
    }
}

// The rule may change between two starts, because each entry's uses are on the
// disk.
BOOST_AUTO_TEST_CASE(another_rule_finds_the_uses_of_before) {
  tried_cache sut{{1 << 20, 2, 0, eviction_rule::fifo}, true};
  for (int i = 0; i < 2; ++i)
    BOOST_REQUIRE(sut.it->keep(key, text, test::kept_states({8})));
  BOOST_REQUIRE(sut.it->state(1, 5));
  sut.most.rule = eviction_rule::lcbfu;
  sut.restart();
  BOOST_REQUIRE(sut.it->keep(key, text, test::kept_states({8})));
  BOOST_TEST((sut.there() == numbers{1, 3}));
  // Unused entries leave first when new ones arrive.
  BOOST_REQUIRE(sut.it->keep(key, text, test::kept_states({8})));
  BOOST_TEST((sut.there() == numbers{1, 4}));
}

// At scale 1 this runs 1,000,000 operations for each rule.
BOOST_AUTO_TEST_CASE(random_operations_in_memory_agree_with_a_scan) {
  for (const auto rule : all_rules)
    BOOST_TEST_CONTEXT(core::eviction_rule_names[static_cast<size_t>(rule)])
  agree(rule, std::nullopt, test::scaled(1'000'000));
}

// At scale 1 this runs 1,000,000 operations for each rule, or 100,000 if each
// waits for a disk.
BOOST_AUTO_TEST_CASE(random_operations_in_a_folder_agree_with_a_scan) {
  const auto fast = test::memory_folder();
  for (const auto rule : all_rules)
    BOOST_TEST_CONTEXT(core::eviction_rule_names[static_cast<size_t>(rule)])
  agree(rule, fast.value_or(std::filesystem::temp_directory_path()),
        test::scaled(fast ? 1'000'000 : 100'000));
}

BOOST_AUTO_TEST_SUITE_END()
