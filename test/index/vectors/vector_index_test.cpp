// SPDX-License-Identifier: Apache-2.0
#include "clustered.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/index/nearest.hpp>
#include <atelier/index/text_vector.hpp>
#include <atelier/index/vectors/detail/build_thread.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace atelier;
using index::near_vector;
using index::nearest_by_key;
using index::vector_options;

core::philox random_of(uint64_t i) {
  return core::philox{test::seed(), core::purpose::test, core::request_id{i}};
}

// A model with the same guarantees, which scans all vectors each time.
using model = std::map<uint64_t, std::vector<float>>;

std::vector<near_vector> near(const model& all, const std::vector<float>& unit,
                              size_t most) {
  std::vector<near_vector> out;
  for (const auto& [number, x] : all)
    if (const auto likeness = index::similarity(unit, x); likeness > 0)
      out.push_back({number, likeness});
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.similarity != b.similarity ? a.similarity > b.similarity
                                        : a.number > b.number;
  });
  out.resize(std::min(most, out.size()));
  return out;
}

vector_options with_segment(size_t segment) {
  vector_options out;
  out.segment = segment;
  out.segment_most = 8 * segment;
  out.search = 10;
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(vector_index_test)

BOOST_AUTO_TEST_CASE(a_search_compares_the_vectors_of_its_key) {
  auto random = random_of(2);
  test::clustered from{24, 5, random};
  nearest_by_key n{24, with_segment(1'000)};
  for (uint64_t i = 1; i <= 7; ++i)
    BOOST_REQUIRE(n.add(i <= 3 ? "k" : "l", i, from.draw()));
  const auto compared = [&](const char* key) {
    const auto before = n.counts().compared;
    static_cast<void>(n.near(key, from.draw(), 1));
    return n.counts().compared - before;
  };
  BOOST_TEST(compared("k") == 3u);
  BOOST_TEST(compared("l") == 4u);
  BOOST_TEST(compared("m") == 0u);
}

BOOST_AUTO_TEST_CASE(few_vectors_are_found_exactly) {
  auto random = random_of(1);
  test::clustered from{24, 5, random};
  nearest_by_key n{24, with_segment(1'000)};
  model all;
  for (uint64_t i = 1; i < 1'000; ++i) {
    all[i] = i % 10 == 0 ? all[i - 1] : from.draw();
    BOOST_REQUIRE(n.add("k", i, all[i]));
    if (i % 3 == 0) {
      all.erase(i - 2);
      BOOST_REQUIRE(n.remove("k", i - 2));
    }
    const auto wanted = i % 5 == 0 ? all[i] : from.draw();
    BOOST_REQUIRE((n.near("k", wanted, i % 12) == near(all, wanted, i % 12)));
  }
  n.settle();
  index::vector_counts wanted;
  wanted.compared = n.counts().compared;
  BOOST_TEST((n.counts() == wanted));
  BOOST_TEST(!n.remove("k", 1));
  BOOST_TEST(!n.remove("l", 3));
  BOOST_TEST(n.near("l", from.draw(), 3).empty());
}

// At scale 1 this compares 20,000 vectors of 256 numbers.
BOOST_AUTO_TEST_CASE(the_nearest_of_many_is_found) {
  auto random = random_of(2);
  const auto many = std::max<size_t>(test::scaled(20'000), 600);
  test::clustered from{256, std::max<size_t>(many / 50, 10), random};
  auto how = with_segment(many / 10);
  how.search = 40;
  nearest_by_key n{256, how};
  model all;
  for (uint64_t i = 1; i <= many; ++i) {
    BOOST_REQUIRE(n.add("k", i, all[i] = from.draw()));
    if (i % (many / 4) == 0)
      n.settle();
  }
  BOOST_TEST(n.counts().builds >= 4u);
  size_t right = 0;
  for (int i = 0; i < 300; ++i) {
    const auto wanted = from.draw();
    const auto found = n.near("k", wanted, 1);
    BOOST_REQUIRE(found.size() == 1u);
    right += found == near(all, wanted, 1);
  }
  BOOST_TEST(right >= 297u);
}

// Entries of other kinds take no places: not among those that are compared one
// by one, and not in a graph.
BOOST_AUTO_TEST_CASE(entries_that_serve_are_found_among_nearer_ones) {
  using part = planning::needed_work::part;
  auto random = random_of(7);
  test::clustered from{24, 10, random};
  auto how = with_segment(300);
  how.check_every = 1;
  for (const size_t every : {2u, 40u}) {
    BOOST_TEST_CONTEXT("one image in " << every) {
      nearest_by_key n{24, how};
      model images;
      model late;
      std::map<uint64_t, index::held_parts> held;
      for (uint64_t i = 1; i <= 800; ++i) {
        const auto unit = from.draw();
        index::held_parts x;
        x.image = i % every == 0;
        x.last_steps = x.image ? 0 : static_cast<uint32_t>(1 + i % 30);
        x.depth = static_cast<uint16_t>(i % 3);
        BOOST_REQUIRE(n.add("k", i, unit, held[i] = x));
        if (x.image && x.depth == 0)
          images[i] = unit;
        if (x.last_steps >= 25)
          late[i] = unit;
        // The last ones stay outside of the graph.
        if (i == 700)
          n.settle();
      }
      n.settle();
      BOOST_TEST(n.counts().builds > 0u);
      planning::needed_work drawn;
      drawn.holds = part::image;
      drawn.most_depth = 0;
      planning::needed_work state;
      state.holds = part::state;
      state.least_steps = 25;
      size_t right = 0;
      constexpr size_t searches = 50;
      const auto agrees = [&](const model& all,
                              const planning::needed_work& needs) {
        const auto wanted = from.draw();
        const auto found = n.near("k", wanted, 5, needs);
        for (const auto& x : found)
          BOOST_REQUIRE(all.contains(x.number));
        const auto expected = near(all, wanted, 5);
        BOOST_REQUIRE(found.size() == expected.size());
        return expected.empty() || found.front() == expected.front();
      };
      for (size_t i = 0; i < searches; ++i)
        right +=
          (agrees(images, drawn) ? 1u : 0u) + (agrees(late, state) ? 1u : 0u);
      // A way through a graph may miss one of them.
      BOOST_TEST(right >= 2 * searches - 5);
      n.settle();
      BOOST_TEST(100 * n.counts().agreed >= 95 * n.counts().checked);
      // Parts leave, in the graph and outside of it.
      while (!images.empty()) {
        const auto i = images.begin()->first;
        held[i].image = false;
        BOOST_REQUIRE(n.note_held("k", i, held[i]));
        images.erase(i);
      }
      BOOST_TEST(n.near("k", from.draw(), 5, drawn).empty());
      BOOST_TEST(!n.note_held("k", 801, {}));
      BOOST_TEST(!n.note_held("l", 1, {}));
    }
  }
}

// Returns a unit vector near an axis.
std::vector<float> near_axis(size_t axis, const std::vector<float>& by) {
  auto out = by;
  for (auto& x : out)
    x *= 0.3f;
  out[axis] += 1;
  float sum = 0;
  for (const float x : out)
    sum += x * x;
  for (auto& x : out)
    x /= std::sqrt(sum);
  return out;
}

BOOST_AUTO_TEST_CASE(a_search_looks_at_few_entries_whatever_it_needs) {
  auto random = random_of(9);
  test::clustered from{24, 20, random};
  planning::needed_work images;
  images.holds = planning::needed_work::part::image;
  constexpr size_t most = 5;
  constexpr size_t few = 25;
  const auto many = std::max<size_t>(test::scaled(100'000), 3'000);
  // Images are a few of all, or a third of all and far from what is searched.
  for (const size_t with_image : {few, many / 3}) {
    BOOST_TEST_CONTEXT(with_image << " images of " << many) {
      auto how = with_segment(500);
      how.segment_most = how.segment;
      nearest_by_key n{24, how};
      std::vector<index::loaded_vector> all;
      model serving;
      for (uint64_t i = 1; i <= many; ++i) {
        const bool image = i <= with_image;
        const auto unit = near_axis(image ? 1 : 0, from.draw());
        index::held_parts held;
        held.image = image;
        held.last_steps = image ? 0 : 5;
        all.push_back({i, unit, held});
        if (image)
          serving[i] = unit;
      }
      n.fill("k", std::move(all));
      n.settle();
      BOOST_REQUIRE(n.counts().builds == 1u);
      const auto wanted = near_axis(0, from.draw());
      const auto before = n.counts();
      const auto found = n.near("k", wanted, most, images);
      const auto after = n.counts();
      for (const auto& x : found)
        BOOST_TEST(serving.contains(x.number));
      if (with_image == few) {
        BOOST_TEST((found == near(serving, wanted, most)));
        BOOST_TEST(after.visited - before.visited == few);
      } else {
        BOOST_TEST(after.visited == before.visited);
      }
      BOOST_TEST(after.compared - before.compared < many / 4);
      // Without a need, the graph finds enough.
      static_cast<void>(n.near("k", wanted, most));
      BOOST_TEST(n.counts().visited == after.visited);
    }
  }
}

// Searches while nothing is being built, and waits for the check of the search.
void check_one(nearest_by_key& n, const std::vector<float>& unit) {
  n.settle();
  static_cast<void>(n.near("k", unit, 1));
  n.settle();
}

// At scale 1 this runs 200,000 operations.
BOOST_AUTO_TEST_CASE(random_operations_agree_with_looking_at_everything) {
  auto random = random_of(3);
  test::clustered from{16, 20, random};
  auto how = with_segment(100);
  how.check_every = 1;
  nearest_by_key n{16, how};
  model all;
  uint64_t last = 0;
  const auto operations = std::max<size_t>(test::scaled(200'000), 4'000);
  const auto bytes_of_each = index::vector_index::bytes_of_each(16);
  size_t searches = 0;
  size_t right = 0;
  size_t largest = 0;
  for (size_t i = 0; i < operations; ++i) {
    largest = std::max(largest, all.size());
    if (i % 10 == 0)
      BOOST_REQUIRE(n.bytes() <= (largest + 1) * bytes_of_each);
    // The index grows and shrinks, below the segment size and far above it.
    const bool grows = i / 1'000 % 2 == 0;
    // On a busy machine a build could run during every search, and none would
    // be checked.
    if (i % 1'000 == 500)
      check_one(n, from.draw());
    const auto what = random.below(10);
    if (what < (grows ? 6u : 1u)) {
      const auto unit = from.draw();
      if (!n.add("k", last + 1, unit)) {
        n.settle();
        continue;
      }
      all[++last] = unit;
      // A new vector is always found.
      const auto found = n.near("k", unit, 3);
      BOOST_REQUIRE(!found.empty());
      BOOST_REQUIRE(found.front().number == last);
    } else if (what < 7 && !all.empty()) {
      auto at = all.lower_bound(random.below(last + 1));
      if (at == all.end())
        at = all.begin();
      BOOST_REQUIRE(n.remove("k", at->first));
      BOOST_REQUIRE(!n.remove("k", at->first));
      all.erase(at);
    } else {
      const auto wanted = from.draw();
      const auto most = 1 + random.below(12);
      const auto found = n.near("k", wanted, most);
      for (const auto& x : found) {
        const auto at = all.find(x.number);
        BOOST_REQUIRE(at != all.end());
        BOOST_REQUIRE(x.similarity == index::similarity(wanted, at->second));
      }
      const auto expected = near(all, wanted, most);
      BOOST_REQUIRE(found.size() == expected.size());
      for (size_t j = 0; j < found.size(); ++j)
        BOOST_REQUIRE(found[j].similarity <= expected[j].similarity);
      ++searches;
      right += expected.empty() || found.front() == expected.front();
    }
  }
  n.settle();
  const auto counts = n.counts();
  BOOST_TEST(counts.builds > 0u);
  BOOST_TEST(counts.failed_builds == 0u);
  BOOST_TEST(static_cast<double>(right)
             >= 0.97 * static_cast<double>(searches));
  BOOST_TEST(counts.checked > 0u);
  BOOST_TEST(counts.agreed <= counts.checked);
  BOOST_TEST(static_cast<double>(counts.agreed)
             >= 0.95 * static_cast<double>(counts.checked));
}

BOOST_AUTO_TEST_CASE(what_is_left_of_a_cluster_is_found) {
  auto random = random_of(4);
  test::clustered one{16, 1, random};
  test::clustered others{16, 20, random};
  nearest_by_key n{16, with_segment(1'000)};
  model all;
  for (uint64_t i = 1; i <= 1'000; ++i)
    BOOST_REQUIRE(
      n.add("k", i, all[i] = i % 5 == 0 ? one.draw() : others.draw()));
  n.settle();
  BOOST_REQUIRE(n.counts().builds == 1u);
  // All of the nearest but one are removed, fewer than trigger a new graph.
  for (uint64_t i = 10; i <= 1'000; i += 5) {
    all.erase(i);
    BOOST_REQUIRE(n.remove("k", i));
  }
  n.settle();
  BOOST_REQUIRE(n.counts().builds == 1u);
  const auto wanted = one.draw();
  BOOST_TEST((n.near("k", wanted, 5) == near(all, wanted, 5)));
  BOOST_TEST((n.near("k", wanted, 900) == near(all, wanted, 900)));
}

// One text has vectors that differ in the last bits if it was encoded beside
// different others.
BOOST_AUTO_TEST_CASE(many_equal_vectors_hide_no_other) {
  auto random = random_of(9);
  for (const float noise : {0.0F, 1e-7F}) {
    test::clustered from{32, 60, random};
    nearest_by_key n{32, with_segment(500)};
    model all;
    std::vector<std::vector<float>> often;
    for (int i = 0; i < 30; ++i)
      often.push_back(from.draw());
    const auto one_of_them = [&] {
      auto out = often[random.below(30)];
      for (auto& x : out)
        x += noise * static_cast<float>(random.normal());
      return out;
    };
    for (uint64_t i = 1; i <= 3'000; ++i) {
      BOOST_REQUIRE(
        n.add("k", i, all[i] = i % 10 == 0 ? from.draw() : one_of_them()));
      if (i % 1'000 == 0)
        n.settle();
    }
    n.settle();
    BOOST_REQUIRE(n.counts().builds > 1u);
    size_t right = 0;
    for (uint64_t i = 10; i <= 3'000; i += 10)
      right += n.near("k", all[i], 1).front().number == i;
    BOOST_TEST(right == 300u);
    for (const auto& wanted : often)
      BOOST_TEST((n.near("k", wanted, 12) == near(all, wanted, 12)));
  }
}

BOOST_AUTO_TEST_CASE(memory_is_counted_and_given_back) {
  auto random = random_of(5);
  test::clustered from{64, 20, random};
  nearest_by_key n{64, with_segment(200)};
  BOOST_TEST(n.bytes() == 0u);
  uint64_t most = 0;
  for (uint64_t i = 1; i <= 2'000; ++i) {
    BOOST_REQUIRE(n.add("k", i, from.draw()));
    most = std::max(most, n.bytes());
    if (i == 1'000)
      n.settle();
  }
  n.settle();
  const auto settled = n.bytes();
  BOOST_TEST(settled >= 2'000 * 64 * sizeof(float));
  BOOST_TEST(settled <= 3 * 2'000 * 64 * sizeof(float));
  BOOST_TEST(most <= 2 * settled);
  // A quarter may be removed and still be held.
  for (uint64_t i = 1; i <= 1'000; ++i)
    BOOST_REQUIRE(n.remove("k", i));
  n.settle();
  BOOST_TEST(n.bytes() <= settled * 2 / 3);
  for (uint64_t i = 1'001; i <= 2'000; ++i)
    BOOST_REQUIRE(n.remove("k", i));
  BOOST_TEST(n.bytes() == 0u);
}

// An index whose builds wait until `release`.
struct held_builds {
  std::promise<void> may_build;
  index::vector_counters counters;
  index::detail::build_thread builder;
  std::vector<std::vector<float>> units;
  std::shared_ptr<index::vector_index> of;

  held_builds(uint64_t stream, size_t vectors) {
    auto random = random_of(stream);
    test::clustered from{16, 20, random};
    for (size_t i = 0; i < vectors; ++i)
      units.push_back(from.draw());
    builder.post([this] { may_build.get_future().wait(); });
    auto how = with_segment(500);
    how.segment_most = 510;
    of = std::make_shared<index::vector_index>(16, how, counters, builder);
  }

  void release() {
    may_build.set_value();
    builder.settle();
  }

  bool is_found(uint64_t i) const {
    const auto found = of->near(units[i], 1);
    return found.size() == 1 && found.front().number == i;
  }
};

BOOST_AUTO_TEST_CASE(too_many_during_a_build_are_refused) {
  held_builds x{6, 1'100};
  auto& of = *x.of;
  // The build takes the first 500.
  for (uint64_t i = 0; i < 1'010; ++i)
    BOOST_REQUIRE(of.add(i, x.units[i]));
  BOOST_TEST(!of.add(1'010, x.units[1'010]));
  BOOST_TEST(!x.is_found(1'010));
  BOOST_TEST(x.counters.now().refused == 1u);
  // The first of these is removed before it is linked, the second after that.
  BOOST_TEST(of.remove(7));
  x.release();
  // The second build takes those that came during the first.
  BOOST_TEST(x.counters.now().builds == 2u);
  BOOST_TEST(of.remove(8));
  for (const uint64_t i : {0u, 9u, 499u, 500u, 509u, 1'009u})
    BOOST_TEST(x.is_found(i), i);
  BOOST_TEST(!x.is_found(7));
  BOOST_TEST(!x.is_found(8));
  BOOST_TEST(of.size() == 1'008u);
  BOOST_TEST(of.add(1'011, x.units[1'011]));
  BOOST_TEST(x.is_found(1'011));
}

BOOST_AUTO_TEST_CASE(an_index_that_starts_with_many_accepts_more_at_once) {
  held_builds x{10, 1'200};
  auto& of = *x.of;
  std::vector<index::loaded_vector> all;
  for (uint64_t i = 0; i < 1'100; ++i)
    all.push_back({i, x.units[i]});
  of.fill(std::move(all));
  BOOST_TEST(of.size() == 1'100u);
  for (uint64_t i = 1'100; i < 1'200; ++i)
    BOOST_REQUIRE(of.add(i, x.units[i]));
  BOOST_TEST(of.remove(7));
  x.release();
  // One graph has all with which it started.
  BOOST_TEST(x.counters.now().builds == 1u);
  BOOST_TEST(x.counters.now().refused == 0u);
  for (const uint64_t i : {0u, 9u, 1'099u, 1'100u, 1'199u})
    BOOST_TEST(x.is_found(i), i);
  BOOST_TEST(!x.is_found(7));
}

BOOST_AUTO_TEST_CASE(the_thread_ends_its_work_and_drops_the_rest) {
  std::atomic<bool> dropped{true};
  {
    std::promise<void> begun;
    index::detail::build_thread builder;
    builder.post([&] {
      begun.set_value();
      while (!builder.stopping())
        std::this_thread::yield();
    });
    builder.post([&] { dropped = false; });
    BOOST_TEST(!builder.post_if_idle([&] { dropped = false; }));
    begun.get_future().wait();
  }
  BOOST_TEST(dropped);
}

BOOST_AUTO_TEST_CASE(a_build_under_way_ends_with_its_owner) {
  auto random = random_of(7);
  test::clustered from{768, 20, random};
  std::vector<std::vector<float>> units;
  for (int i = 0; i < 1'000; ++i)
    units.push_back(from.draw());
  for (int round = 0; round < 3; ++round) {
    nearest_by_key n{768, with_segment(500)};
    for (uint64_t i = 0; i < units.size(); ++i)
      BOOST_REQUIRE(n.add(round == 1 && i % 2 == 0 ? "l" : "k", i, units[i]));
    // A key may be empty before its index is built.
    if (round == 2)
      for (uint64_t i = 0; i < units.size(); ++i)
        BOOST_REQUIRE(n.remove("k", i));
  }
}

BOOST_AUTO_TEST_CASE(threads_search_beside_changes_and_builds) {
  constexpr uint64_t window = 400;
  auto random = random_of(8);
  test::clustered from{32, 20, random};
  const auto rounds = std::max<size_t>(test::scaled(50'000), 3'000);
  std::vector<std::vector<float>> units;
  for (size_t i = 0; i < 500; ++i)
    units.push_back(from.draw());
  auto how = with_segment(100);
  how.segment_most = 100'000;
  how.check_every = 3;
  nearest_by_key n{32, how};
  // Numbers up to `gone` are removed. Numbers from `begun` on are not added
  // yet.
  std::atomic<uint64_t> gone{0};
  std::atomic<uint64_t> begun{1};
  std::atomic<size_t> wrong{0};
  std::atomic<bool> ends{false};
  std::vector<std::jthread> threads;
  for (uint64_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      auto own = random_of(100 + t);
      while (!ends) {
        const auto& wanted = units[own.below(units.size())];
        const uint64_t before = gone;
        const auto found = n.near("k", wanted, 5);
        const uint64_t after = begun;
        for (const auto& x : found)
          if (x.number <= before || x.number > after
              || x.similarity
                   != index::similarity(wanted, units[x.number % units.size()]))
            ++wrong;
        static_cast<void>(n.bytes());
      }
    });
  for (uint64_t i = 1; i <= rounds; ++i) {
    begun = i;
    if (!n.add("k", i, units[i % units.size()]))
      ++wrong;
    if (i > window) {
      if (!n.remove("k", i - window))
        ++wrong;
      gone = i - window;
    }
  }
  n.settle();
  ends = true;
  threads.clear();
  BOOST_TEST(wrong == 0u);
  BOOST_TEST(n.counts().builds > 1u);
}

BOOST_AUTO_TEST_SUITE_END()
