// SPDX-License-Identifier: Apache-2.0
// The file is long because it contains a model that scans all entries beside
// its cases.
#include "one_vector_encoder.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/index/memory.hpp>
#include <atelier/index/text_vector.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using namespace atelier;
using core::ec;
using index::leftover;
using index::memory;

constexpr core::extent px{8, 8};
const uint64_t text_bytes =
  index::vector_index::bytes_of_each(std::tuple_size_v<index::text_vector>);

std::vector<std::byte> filled(size_t bytes, uint64_t with) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(with));
}

// Returns states with these numbers of bytes after 5, 10, ... steps.
leftover states(std::initializer_list<size_t> bytes, uint64_t with = 1) {
  leftover out;
  uint32_t steps = 0;
  for (const auto n : bytes)
    out.states.push_back({steps += 5, filled(n, with)});
  return out;
}

leftover image(size_t bytes, uint64_t with = 1) {
  leftover out;
  out.image = filled(bytes, with);
  out.px = px;
  return out;
}

template <class T>
ec code_of(const core::result<T>& x) {
  return x ? ec::none : x.why().code;
}

// Returns the number of the nearest entry.
uint64_t nearest(memory& m, std::string_view text) {
  const auto found = m.near("k", text, {1});
  BOOST_REQUIRE(!found.empty());
  return found.front().entry;
}

bool is_kept(memory& m, uint64_t entry) {
  return code_of(m.state(entry, 5)) == ec::none;
}

// Changes the bytes, which no owner of them could do.
void change(const index::payload& x) {
  const_cast<std::byte&>(x->front()) ^= std::byte{1};
}

// A model with the same guarantees, which scans all entries each time.
struct model {
  struct entry {
    uint64_t number = 0;
    std::string key;
    index::text_vector text = {};
    index::words_digest words = {};
    leftover what;
    uint64_t used = 0;
  };

  index::cache_bounds most;
  std::vector<entry> entries = {};
  index::kept_counts counts = {};
  uint64_t last_number = 0;
  uint64_t clock = 0;

  uint64_t bytes() const {
    uint64_t out = 0;
    for (const auto& x : entries) {
      out += x.key.size() + text_bytes + x.what.image.size();
      for (const auto& s : x.what.states)
        out += s.bytes.size();
    }
    return out;
  }

  void evict() {
    entries.erase(std::min_element(
      entries.begin(), entries.end(),
      [](const entry& a, const entry& b) { return a.used < b.used; }));
    ++counts.evicted;
  }

  bool keep(const std::string& key, const std::string& text,
            const leftover& what) {
    model alone{most};
    alone.entries.push_back({0, key, {}, {}, what, 0});
    if (alone.bytes() > most.bytes || most.entries == 0)
      return false;
    entries.push_back({++last_number, key, index::vector_of(text),
                       index::digest_of_words(text), what, ++clock});
    while (entries.size() > most.entries || bytes() > most.bytes)
      evict();
    return true;
  }

  const entry* use(uint64_t number) {
    for (auto& x : entries)
      if (x.number == number) {
        x.used = ++clock;
        return &x;
      }
    return nullptr;
  }

  std::vector<planning::match> near(const std::string& key,
                                    const std::string& text,
                                    const index::search_terms& by) {
    using part = planning::needed_work::part;
    std::vector<planning::match> out;
    for (const auto& x : entries) {
      const auto& needs = by.needs;
      const bool late = std::ranges::any_of(x.what.states, [&](const auto& s) {
        return s.steps >= needs.least_steps;
      });
      if ((needs.holds == part::state && !late)
          || (needs.holds == part::image && x.what.image.empty())
          || x.what.depth > needs.most_depth)
        continue;
      const auto likeness = index::similarity_of_texts(
        index::similarity(index::vector_of(text), x.text),
        x.words == index::digest_of_words(text));
      if (x.key != key || !(likeness > 0))
        continue;
      planning::match m{x.number, likeness, {}, x.what.depth};
      for (const auto& s : x.what.states)
        m.stored.push_back(s.steps);
      out.push_back(m);
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
      return std::tuple{b.similarity, a.depth, b.entry}
           < std::tuple{a.similarity, b.depth, a.entry};
    });
    out.resize(std::min(by.most, out.size()));
    ++(out.empty() || out.front().similarity < by.hit_from ? counts.misses
                                                           : counts.hits);
    return out;
  }

  void drop(uint64_t number) {
    counts.dropped_torn += std::erase_if(
      entries, [&](const entry& x) { return x.number == number; });
  }

  index::kept_counts told() const {
    auto out = counts;
    out.entries = entries.size();
    out.bytes = bytes();
    return out;
  }
};

std::string any_text(core::philox& random) {
  std::string out;
  for (auto words = 1 + random.below(4); words > 0; --words)
    out += "word" + std::to_string(random.below(12)) + ' ';
  return out;
}

leftover any_leftover(core::philox& random) {
  leftover out;
  uint32_t steps = 0;
  for (auto n = random.below(4); n > 0; --n)
    out.states.push_back({steps += 1 + static_cast<uint32_t>(random.below(9)),
                          filled(random.below(2'000), random.next_u64())});
  if (out.states.empty() || random.below(2) == 0) {
    out.image = filled(1 + random.below(4'000), random.next_u64());
    out.px = px;
  }
  out.depth = static_cast<uint32_t>(random.below(3));
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(memory_test)

// Each generation loses quality.
BOOST_AUTO_TEST_CASE(of_equally_near_entries_the_least_deep_is_first) {
  memory m{{1 << 20, 100}};
  for (const uint32_t depth : {2u, 0u, 1u, 0u}) {
    auto left = states({8});
    left.depth = depth;
    BOOST_TEST(m.keep("k", "a red fox", left));
  }
  std::vector<uint64_t> order;
  for (const auto& x : m.near("k", "a red fox", {10}))
    order.push_back(x.entry);
  BOOST_TEST((order == std::vector<uint64_t>{4, 2, 3, 1}));
}

// Planted copies of a text answer together as often as one would.
BOOST_AUTO_TEST_CASE(entries_of_the_same_words_share_their_answers) {
  memory m{{1 << 20, 100, 3}};
  for (const auto* text : {"a ghost", "a boy", "A ghost!", "a ghost"})
    BOOST_TEST(m.keep("k", text, states({8})));
  BOOST_TEST(m.keep("l", "a ghost", states({8})));
  for (const uint64_t entry : {1u, 3u, 2u})
    BOOST_TEST((code_of(m.state(entry, 5)) == ec::none));
  BOOST_TEST(m.counts().spent == 0u);
  BOOST_TEST((code_of(m.state(4, 5)) == ec::none));
  BOOST_TEST(m.counts().spent == 3u);
  for (const uint64_t entry : {1u, 3u, 4u})
    BOOST_TEST((code_of(m.state(entry, 5)) == ec::not_found));
  // Other words and other keys are counted for themselves.
  for (const uint64_t entry : {2u, 5u})
    BOOST_TEST((code_of(m.state(entry, 5)) == ec::none));
  BOOST_TEST(m.counts().entries == 2u);
}

// However few texts its vectors tell apart.
BOOST_AUTO_TEST_CASE(only_a_text_of_the_same_words_is_equal) {
  memory m{{1 << 20, 100}, std::make_shared<test::one_vector_encoder>()};
  for (const auto* text : {"a boy", "Ghost!", "a ghost"})
    BOOST_TEST(m.keep("k", text, states({10})));
  const auto found = m.near("k", "ghost", {10});
  BOOST_TEST_REQUIRE(found.size() == 3u);
  BOOST_TEST(found[0].entry == 2u);
  BOOST_TEST(found[0].similarity == 1);
  BOOST_TEST(found[1].entry == 3u);
  for (const auto& x : std::span{found}.subspan(1))
    BOOST_TEST(x.similarity < 1);
}

// The words do not say how a model reads what is between them.
BOOST_AUTO_TEST_CASE(only_an_entry_of_the_very_text_has_a_seed) {
  memory m{{1 << 20, 100}};
  auto drawn = states({10});
  drawn.seed = 7;
  for (const auto* text : {"a ghost", "A ghost!"})
    BOOST_TEST(m.keep("k", text, drawn));
  BOOST_TEST(m.keep("k", "a ghost", states({10})));
  const auto found = m.near("k", "a ghost", {10});
  BOOST_TEST_REQUIRE(found.size() == 3u);
  for (const auto& x : found) {
    BOOST_TEST(x.similarity == 1);
    BOOST_TEST(x.seeded == (x.entry == 1));
    BOOST_TEST(x.seed == (x.entry == 1 ? 7u : 0u));
  }
}

BOOST_AUTO_TEST_CASE(what_was_kept_is_found_and_given_byte_by_byte) {
  memory m{{1 << 20, 10}};
  auto left = states({64, 128}, 3);
  left.image = filled(192, 4);
  left.px = px;
  left.depth = 2;
  BOOST_REQUIRE(m.keep("k", "a red fox", left));
  const auto found = m.near("k", "A red fox!", {10});
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found.front().similarity > 1 - 1e-6);
  BOOST_TEST((found.front().stored == std::vector<uint32_t>{5, 10}));
  BOOST_TEST(found.front().depth == 2u);
  const auto entry = found.front().entry;
  BOOST_TEST((**m.state(entry, 5) == left.states[0].bytes));
  BOOST_TEST((**m.state(entry, 10) == left.states[1].bytes));
  BOOST_TEST((**m.image(entry, px, 5) == left.image));
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_told) {
  memory m{{1 << 20, 10}};
  BOOST_REQUIRE(m.keep("k", "a red fox", states({64})));
  const auto entry = nearest(m, "fox");
  BOOST_TEST((code_of(m.state(entry, 6)) == ec::not_found));
  BOOST_TEST((code_of(m.image(entry, px, 5)) == ec::not_found));
  BOOST_TEST((code_of(m.state(entry + 1, 5)) == ec::not_found));
  BOOST_TEST((code_of(m.image(entry + 1, px, 5)) == ec::not_found));
  BOOST_REQUIRE(m.keep("k", "a blue owl", image(192)));
  BOOST_TEST((code_of(m.image(nearest(m, "owl"), {8, 9}, 5)) == ec::not_found));
}

BOOST_AUTO_TEST_CASE(the_nearest_come_first_and_the_newest_of_equals) {
  memory m{{1 << 20, 10}};
  for (const auto* text :
       {"a red fox", "a red fox in snow", "a red fox", "xylophone quartet"})
    BOOST_REQUIRE(m.keep("k", text, states({8})));
  const auto found = m.near("k", "a red fox", {10});
  BOOST_REQUIRE(found.size() >= 3u);
  BOOST_TEST(found[0].entry == 3u);
  BOOST_TEST(found[1].entry == 1u);
  BOOST_TEST(found[2].entry == 2u);
  BOOST_TEST(m.near("k", "a red fox", {2}).size() == 2u);
  BOOST_TEST(m.near("k", "a red fox", {0}).empty());
}

// After a change of policy the nearest entries may be of no use.
BOOST_AUTO_TEST_CASE(entries_without_what_is_needed_take_no_places) {
  using part = planning::needed_work::part;
  memory m{{1 << 20, 100}};
  BOOST_REQUIRE(m.keep("k", "a red fox in snow", image(192)));
  auto deep = image(192);
  deep.depth = 1;
  BOOST_REQUIRE(m.keep("k", "a red fox", deep));
  for (int i = 0; i < 10; ++i)
    BOOST_REQUIRE(m.keep("k", "a red fox", states({8, 8})));
  const auto found = [&](part holds, uint32_t least, uint32_t depth) {
    std::vector<uint64_t> out;
    for (const auto& x : m.near("k", "a red fox", {3, {holds, least, depth}}))
      out.push_back(x.entry);
    return out;
  };
  constexpr uint32_t any = 9;
  using numbers = std::vector<uint64_t>;
  BOOST_TEST((found(part::image, 0, 0) == numbers{1}));
  BOOST_TEST((found(part::image, 0, any) == numbers{2, 1}));
  BOOST_TEST((found(part::state, 10, any) == numbers{12, 11, 10}));
  BOOST_TEST(found(part::state, 11, any).empty());
  BOOST_TEST((found(part::any, 11, any) == numbers{12, 11, 10}));
}

// One word in common is no hit.
BOOST_AUTO_TEST_CASE(a_search_hits_from_the_similarity_that_is_of_use) {
  memory m{{1 << 20, 10}};
  BOOST_REQUIRE(m.keep("k", "a red fox", states({8})));
  const auto near = m.near("k", "a red owl", {1, {}, 0.99});
  BOOST_TEST_REQUIRE(near.size() == 1u);
  BOOST_TEST(m.counts().hits == 0u);
  BOOST_TEST(m.counts().misses == 1u);
  m.near("k", "a red owl", {1, {}, near.front().similarity});
  m.near("k", "a red fox", {1, {}, 1});
  BOOST_TEST(m.counts().hits == 2u);
  m.near("k", "a red fox", {1, {}, 2});
  BOOST_TEST(m.counts().misses == 2u);
}

BOOST_AUTO_TEST_CASE(nothing_is_found_under_another_key) {
  memory m{{1 << 20, 10}};
  BOOST_REQUIRE(m.keep("k", "a red fox", states({8})));
  BOOST_TEST(m.near("l", "a red fox", {10}).empty());
  BOOST_TEST(m.near("", "a red fox", {10}).empty());
  const auto counts = m.counts();
  BOOST_TEST(counts.hits == 0u);
  BOOST_TEST(counts.misses == 2u);
}

BOOST_AUTO_TEST_CASE(a_namespace_counts_its_entries_and_shows_their_vectors) {
  memory m{{1 << 20, 100}};
  // Keys end with their tenant.
  const std::string own = "tens-of-a-tenant";
  BOOST_TEST(m.extent(own)->entries == 0u);
  BOOST_TEST(m.vectors(own, 10).empty());
  BOOST_REQUIRE(m.keep("small" + own, "a red fox", states({8})));
  BOOST_REQUIRE(m.keep("large" + own, "a blue owl", states({8})));
  BOOST_REQUIRE(m.keep("smallothr-of-a-tenant", "one cat", states({8})));
  BOOST_REQUIRE(m.keep("small" + own, "two dogs", states({8})));
  const auto before = *m.extent(own);
  BOOST_TEST(before.entries == 3u);
  BOOST_TEST(m.extent("othr-of-a-tenant")->entries == 1u);
  const auto fox = m.vector_of(own, "a red fox");
  const auto owl = m.vector_of(own, "a blue owl");
  const auto dogs = m.vector_of(own, "two dogs");
  BOOST_TEST(fox.size() == index::text_dimensions);
  // The last ones come first.
  auto last = dogs;
  last.insert(last.end(), owl.begin(), owl.end());
  BOOST_TEST((m.vectors(own, 2) == last));
  last.insert(last.end(), fox.begin(), fox.end());
  BOOST_TEST((m.vectors(own, 10) == last));
  m.drop_torn(4);
  BOOST_TEST((*m.extent(own) == index::space_extent{2, before.changes + 1}));
  last.erase(last.begin(), last.begin() + index::text_dimensions);
  BOOST_TEST((m.vectors(own, 10) == last));
  // A namespace that was empty meanwhile never has the same changes again.
  m.drop_torn(1);
  m.drop_torn(2);
  BOOST_TEST(m.extent(own)->entries == 0u);
  BOOST_REQUIRE(m.keep("small" + own, "a red fox", states({8})));
  BOOST_TEST(m.extent(own)->changes > before.changes + 3);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_found_or_has_nothing_is_not_kept) {
  memory m{{1 << 20, 10}};
  BOOST_TEST(!m.keep("k", "", states({8})));
  BOOST_TEST(!m.keep("k", "...", states({8})));
  BOOST_TEST(!m.keep("k", "a red fox", {}));
  BOOST_TEST((m.counts() == index::kept_counts{}));
}

BOOST_AUTO_TEST_CASE(bytes_are_bounded_to_the_byte) {
  const uint64_t one = 1 + text_bytes + 100;
  memory m{{2 * one, 10}};
  BOOST_REQUIRE(m.keep("k", "a red fox", states({100})));
  BOOST_REQUIRE(m.keep("k", "a blue owl", states({100})));
  BOOST_TEST(m.counts().bytes == 2 * one);
  BOOST_TEST(m.counts().evicted == 0u);
  BOOST_REQUIRE(m.keep("k", "one cat", states({1})));
  BOOST_TEST(m.counts().bytes == 2 * one - 99);
  BOOST_TEST(m.counts().evicted == 1u);
  BOOST_TEST(!is_kept(m, 1));
}

BOOST_AUTO_TEST_CASE(what_is_larger_than_the_bound_drives_nothing_out) {
  memory m{{1 + text_bytes + 100, 10}};
  BOOST_REQUIRE(m.keep("k", "a red fox", states({100})));
  BOOST_TEST(!m.keep("k", "a blue owl", states({101})));
  BOOST_TEST(!m.keep("kk", "a blue owl", states({100})));
  BOOST_TEST(is_kept(m, 1));
  BOOST_TEST(m.counts().evicted == 0u);
}

BOOST_AUTO_TEST_CASE(entries_are_bounded) {
  memory m{{1 << 20, 2}};
  for (const auto* text : {"a red fox", "a blue owl", "one cat"})
    BOOST_REQUIRE(m.keep("k", text, states({8})));
  BOOST_TEST(m.counts().entries == 2u);
  BOOST_TEST(!is_kept(m, 1));
  memory none{{1 << 20, 0}};
  BOOST_TEST(!none.keep("k", "a red fox", states({8})));
}

BOOST_AUTO_TEST_CASE(the_least_recently_used_leaves) {
  memory m{{1 << 20, 2}};
  BOOST_REQUIRE(m.keep("k", "a red fox", states({8})));
  BOOST_REQUIRE(m.keep("k", "a blue owl", states({8})));
  // A search does not count as a use.
  BOOST_REQUIRE(m.state(1, 5));
  BOOST_REQUIRE(nearest(m, "a blue owl") == 2u);
  BOOST_REQUIRE(m.keep("k", "one cat", states({8})));
  BOOST_TEST(is_kept(m, 1));
  BOOST_TEST(!is_kept(m, 2));
}

BOOST_AUTO_TEST_CASE(a_torn_entry_is_not_given_and_leaves) {
  memory m{{1 << 20, 10}};
  BOOST_REQUIRE(m.keep("k", "a red fox", states({64, 64})));
  BOOST_REQUIRE(m.keep("k", "a blue owl", image(192)));
  change(*m.state(1, 10));
  change(*m.image(2, px, 5));
  BOOST_TEST((code_of(m.state(1, 5)) == ec::none));
  BOOST_TEST((code_of(m.state(1, 10)) == ec::bad_payload));
  BOOST_TEST((code_of(m.state(1, 5)) == ec::not_found));
  BOOST_TEST((code_of(m.image(2, px, 5)) == ec::bad_payload));
  BOOST_TEST(m.near("k", "a red fox", {10}).empty());
  const auto counts = m.counts();
  BOOST_TEST(counts.dropped_torn == 2u);
  BOOST_TEST(counts.entries == 0u);
  BOOST_TEST(counts.bytes == 0u);
}

BOOST_AUTO_TEST_CASE(an_entry_that_cannot_be_used_leaves_once) {
  memory m{{1 << 20, 10}};
  BOOST_REQUIRE(m.keep("k", "a red fox", states({64})));
  m.drop_torn(1);
  m.drop_torn(1);
  m.drop_torn(7);
  BOOST_TEST(m.counts().dropped_torn == 1u);
  BOOST_TEST((code_of(m.state(1, 5)) == ec::not_found));
}

BOOST_AUTO_TEST_CASE(given_bytes_outlive_their_entry) {
  memory m{{1 << 20, 1}};
  BOOST_REQUIRE(m.keep("k", "a red fox", states({64}, 9)));
  const auto bytes = *m.state(1, 5);
  BOOST_REQUIRE(m.keep("k", "a blue owl", states({64})));
  BOOST_TEST(!is_kept(m, 1));
  BOOST_TEST((*bytes == filled(64, 9)));
}

// A search among many entries uses the index, and only such searches are
// checked.
BOOST_AUTO_TEST_CASE(many_entries_are_found_by_an_index) {
  index::vector_options how;
  how.segment = 50;
  how.check_every = 1;
  memory m{{4 << 20, 300}, index::words_encoder(), nullptr, how};
  const auto text = [](uint64_t i) {
    return "word" + std::to_string(i % 17) + " word" + std::to_string(i % 19)
         + " word" + std::to_string(i);
  };
  for (uint64_t i = 1; i <= 400; ++i)
    BOOST_REQUIRE(m.keep("k", text(i), states({8}, i)));
  // These searches begin once the background thread has built the index.
  for (size_t tries = 0; m.counts().searches_checked < 5; ++tries) {
    BOOST_REQUIRE(nearest(m, text(300)) == 300u);
    BOOST_REQUIRE(tries < 2'000'000u);
  }
  BOOST_TEST(m.counts().searches_agreed == m.counts().searches_checked);
  BOOST_TEST(m.counts().builds > 0u);
  BOOST_TEST(m.counts().failed_builds == 0u);
  for (uint64_t i = 101; i <= 400; ++i)
    BOOST_TEST(nearest(m, text(i)) == i);
  // The first entries have been evicted.
  BOOST_TEST(m.counts().evicted == 100u);
  BOOST_TEST(nearest(m, text(1)) > 100u);
}

// At scale 1 this runs 100,000 operations.
BOOST_AUTO_TEST_CASE(random_operations_agree_with_looking_at_everything) {
  core::philox random{test::seed(), core::purpose::test, core::request_id{1}};
  std::optional<memory> m;
  std::optional<model> expected;
  const auto n = test::scaled(100'000);
  for (size_t i = 0; i < n; ++i) {
    if (i % 1'000 == 0) {
      // The bounds are on bytes, on entries, or on both.
      const index::cache_bounds most{30'000 + random.below(60'000),
                                     1 + random.below(40)};
      m.emplace(most);
      expected.emplace(model{most});
    }
    const std::string key(1, static_cast<char>('a' + random.below(3)));
    const auto text = any_text(random);
    const auto number = expected->last_number - random.below(20);
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2: {
        auto what = any_leftover(random);
        if (random.below(50) == 0)
          what.image = filled(100'000, 1);
        BOOST_REQUIRE(m->keep(key, text, what)
                      == expected->keep(key, text, what));
        break;
      }
      case 3:
      case 4: {
        index::search_terms by;
        by.most = random.below(12);
        by.needs.holds =
          static_cast<planning::needed_work::part>(random.below(3));
        by.needs.least_steps = static_cast<uint32_t>(random.below(8));
        if (random.below(2) == 0)
          by.needs.most_depth = static_cast<uint32_t>(random.below(2));
        by.hit_from = random.uniform();
        BOOST_REQUIRE(
          (m->near(key, text, by) == expected->near(key, text, by)));
        break;
      }
      case 5: {
        const auto steps = 1 + static_cast<uint32_t>(random.below(12));
        const auto given = m->state(number, steps);
        const std::vector<std::byte>* bytes = nullptr;
        if (const auto* x = expected->use(number))
          for (const auto& s : x->what.states)
            if (s.steps == steps)
              bytes = &s.bytes;
        BOOST_REQUIRE(static_cast<bool>(given) == (bytes != nullptr));
        if (given)
          BOOST_REQUIRE((**given == *bytes));
        break;
      }
      case 6: {
        const auto given = m->image(number, px, 5);
        const auto* x = expected->use(number);
        BOOST_REQUIRE(static_cast<bool>(given)
                      == (x != nullptr && !x->what.image.empty()));
        if (given)
          BOOST_REQUIRE((**given == x->what.image));
        break;
      }
      default:
        if (random.below(4) != 0)
          break;
        m->drop_torn(number);
        expected->drop(number);
    }
    auto told = m->counts();
    told.compared = 0;
    BOOST_REQUIRE((told == expected->told()));
    BOOST_REQUIRE(told.bytes <= expected->most.bytes);
    BOOST_REQUIRE(told.entries <= expected->most.entries);
  }
}

BOOST_AUTO_TEST_CASE(threads_share_it) {
  memory m{{200'000, 30}};
  std::atomic<size_t> wrong{0};
  const auto n = test::scaled(20'000);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      core::philox random{test::seed(), core::purpose::test,
                          core::request_id{100 + t}};
      for (size_t i = 0; i < n; ++i) {
        const auto text = any_text(random);
        if (random.below(3) == 0)
          m.keep("k", text, states({1'000, 3'000}, random.below(256)));
        for (const auto& x : m.near("k", text, {3})) {
          const auto bytes = m.state(x.entry, 10);
          // The entry may be gone, but returned bytes are complete.
          if (bytes
              && ((*bytes)->size() != 3'000
                  || **bytes
                       != filled(3'000,
                                 static_cast<uint64_t>((*bytes)->front()))))
            ++wrong;
          if (!bytes && bytes.why().code != ec::not_found)
            ++wrong;
        }
        if (random.below(100) == 0)
          m.drop_torn(i);
        const auto counts = m.counts();
        if (counts.bytes > 200'000 || counts.entries > 30)
          ++wrong;
      }
    });
  for (auto& x : threads)
    x.join();
  BOOST_TEST(wrong == 0u);
}

BOOST_AUTO_TEST_CASE(results_that_come_during_a_build_are_counted) {
  index::vector_options how;
  how.segment = 1;
  how.segment_most = 1;
  memory m{{1 << 24, 10'000}, index::words_encoder(), nullptr, how};
  uint64_t refused = 0;
  for (int i = 0; i < 2'000; ++i)
    refused +=
      m.keep("k", "a red fox " + std::to_string(i), states({1})) ? 0u : 1u;
  BOOST_TEST(m.counts().overflowed == refused);
  BOOST_TEST(m.counts().entries == 2'000 - refused);
}

BOOST_AUTO_TEST_SUITE_END()
