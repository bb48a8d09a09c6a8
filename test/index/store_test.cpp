// SPDX-License-Identifier: Apache-2.0
// The file is long because each case breaks or fills the same small store in
// another way.
#include "index/plain_ledger.hpp"
#include "index/store_rig.hpp"
#include "one_vector_encoder.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/index/text_vector.hpp>

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <limits>
#include <optional>
#include <thread>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using core::ec;
using core::tenant_id;
using test::code_of;
using test::entry_bytes;
using test::filled_bytes;
using test::kept_px;
using test::kept_states;
using test::nearest_of;

constexpr tenant_id ann{1};
constexpr tenant_id bob{2};

// Returns the counted size of a fox with this many bytes.
uint64_t counted(uint64_t bytes) {
  return entry_bytes + std::string_view{"ka red fox"}.size() + bytes;
}

void flip_a_byte(const fs::path& of, std::streamoff at) {
  std::fstream file{of, std::ios::in | std::ios::out | std::ios::binary};
  file.seekg(at);
  const auto was = static_cast<char>(file.get());
  file.seekp(at);
  file.put(static_cast<char>(was ^ 1));
}

// Four threads keep and read at once.
void share(const test::store_folder& in, core::eviction_rule rule) {
  auto with = in.options();
  with.rule = rule;
  with.bytes = 200'000;
  with.memory_bytes = 20'000;
  const auto sut = in.open(with);
  std::atomic<size_t> wrong{0};
  const auto n = test::scaled(5'000);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      core::philox random{test::seed(), core::purpose::test,
                          core::request_id{100 + t}};
      for (size_t i = 0; i < n; ++i) {
        const auto text = test::any_text(random);
        if (random.below(3) == 0)
          sut->keep("k", text,
                    kept_states({1'000, 3'000}, random.below(256),
                                tenant_id{static_cast<uint32_t>(t)}));
        for (const auto& x : sut->near("k", text, {3})) {
          const auto bytes = sut->state(x.entry, 10);
          // The entry may be gone, but returned bytes are complete.
          if (bytes
              && **bytes
                   != filled_bytes(3'000,
                                   static_cast<uint64_t>((*bytes)->front())))
            ++wrong;
          if (!bytes && bytes.why().code != ec::not_found)
            ++wrong;
        }
        if (random.below(20) == 0)
          sut->drop_torn(1 + random.below(4 * n));
        if (random.below(20) == 0)
          for (const auto& x : sut->near("k", text, {3}))
            sut->drop_torn(x.entry);
        if (random.below(20) == 0 && sut->has_unwritten())
          sut->write_back();
        if (sut->counts().bytes > 200'000 || sut->counts().failed > 0)
          ++wrong;
      }
    });
  for (auto& x : threads)
    x.join();
  BOOST_TEST(wrong == 0u);
  sut->write_back();
  // Files keep the sizes of payloads that left alone.
  if (rule != core::eviction_rule::lcbfu)
    BOOST_TEST(in.payload_bytes() <= 200'000u);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(store_test, test::store_folder)

// Planted copies of a text answer together as often as one would.
BOOST_AUTO_TEST_CASE(entries_of_the_same_words_share_their_answers) {
  auto with = options();
  with.answers = 3;
  const auto sut = open(with);
  for (const auto* text : {"a ghost", "a boy", "A ghost!", "a ghost"})
    BOOST_TEST(sut->keep("k", text, kept_states({8})));
  BOOST_TEST(sut->keep("l", "a ghost", kept_states({8})));
  for (const uint64_t entry : {1u, 3u, 2u})
    BOOST_TEST((code_of(sut->state(entry, 5)) == ec::none));
  BOOST_TEST(sut->counts().spent == 0u);
  BOOST_TEST((code_of(sut->state(4, 5)) == ec::none));
  BOOST_TEST(sut->counts().spent == 3u);
  for (const uint64_t entry : {1u, 3u, 4u})
    BOOST_TEST((code_of(sut->state(entry, 5)) == ec::not_found));
  // Other words and other keys are counted for themselves.
  for (const uint64_t entry : {2u, 5u})
    BOOST_TEST((code_of(sut->state(entry, 5)) == ec::none));
  BOOST_TEST(sut->counts().entries == 2u);
}

// The words of an entry outlive a restart with its text.
BOOST_AUTO_TEST_CASE(only_a_text_of_the_same_words_is_equal) {
  auto with = options();
  with.encoder = std::make_shared<test::one_vector_encoder>();
  const auto check = [](index::store& sut) {
    const auto found = sut.near("k", "ghost", {10});
    BOOST_TEST_REQUIRE(found.size() == 3u);
    BOOST_TEST(found[0].entry == 2u);
    BOOST_TEST(found[0].similarity == 1);
    BOOST_TEST(found[1].entry == 3u);
    BOOST_TEST(found[1].similarity < 1);
  };
  {
    const auto sut = open(with);
    for (const auto* text : {"a boy", "Ghost!", "a ghost"})
      BOOST_TEST(sut->keep("k", text, kept_states({8})));
    check(*sut);
  }
  check(*open(with));
}

// The words do not say how a model reads what is between them.
BOOST_AUTO_TEST_CASE(only_an_entry_of_the_very_text_has_a_seed) {
  constexpr auto seed = std::numeric_limits<uint64_t>::max();
  const auto check = [](index::store& sut) {
    const auto found = sut.near("k", "a ghost", {10});
    BOOST_TEST_REQUIRE(found.size() == 3u);
    for (const auto& x : found) {
      BOOST_TEST(x.similarity == 1);
      BOOST_TEST(x.seeded == (x.entry == 1));
      BOOST_TEST(x.seed == (x.entry == 1 ? seed : 0));
    }
  };
  {
    const auto sut = open(options());
    auto drawn = kept_states({8});
    drawn.seed = seed;
    for (const auto* text : {"a ghost", "A ghost!"})
      BOOST_TEST(sut->keep("k", text, drawn));
    BOOST_TEST(sut->keep("k", "a ghost", kept_states({8})));
    check(*sut);
  }
  check(*open(options()));
}

BOOST_AUTO_TEST_CASE(what_was_kept_is_there_after_a_restart) {
  auto left = kept_states({64, 128}, 3, ann);
  left.image = filled_bytes(192, 4);
  left.px = kept_px;
  left.depth = 2;
  std::vector<planning::match> before;
  index::kept_counts told;
  {
    const auto sut = open();
    BOOST_REQUIRE(sut->keep("k", "a red fox", left));
    BOOST_REQUIRE(sut->keep("k", "a blue fox", kept_states({8})));
    BOOST_REQUIRE(sut->keep("l", "a red fox", kept_states({8})));
    before = sut->near("k", "a red fox", {10});
    told = sut->counts();
  }
  BOOST_REQUIRE(before.size() == 2u);
  const auto sut = open();
  BOOST_TEST((sut->near("k", "a red fox", {10}) == before));
  BOOST_TEST(before.front().depth == 2u);
  BOOST_TEST((before.front().stored == std::vector<uint32_t>{5, 10}));
  const auto entry = before.front().entry;
  BOOST_TEST((**sut->state(entry, 5) == left.states[0].bytes));
  BOOST_TEST((**sut->state(entry, 10) == left.states[1].bytes));
  BOOST_TEST((**sut->image(entry, kept_px, 5) == left.image));
  BOOST_TEST((code_of(sut->state(entry, 0)) == ec::not_found));
  BOOST_TEST((code_of(sut->image(entry, {8, 9}, 5)) == ec::not_found));
  BOOST_TEST(sut->counts().entries == told.entries);
  BOOST_TEST(sut->counts().bytes == told.bytes);
  // The numbers continue.
  BOOST_REQUIRE(sut->keep("k", "one cat", kept_states({8})));
  BOOST_TEST(nearest_of(*sut, "one cat") == 4u);
}

// After a change of policy the nearest entries may be of no use.
BOOST_AUTO_TEST_CASE(entries_without_what_is_needed_take_no_places) {
  using part = planning::needed_work::part;
  std::shared_ptr<index::store> sut = open();
  auto image = kept_states({});
  image.image = filled_bytes(192, 4);
  image.px = kept_px;
  BOOST_REQUIRE(sut->keep("k", "a red fox in snow", image));
  image.depth = 1;
  BOOST_REQUIRE(sut->keep("k", "a red fox", image));
  for (int i = 0; i < 10; ++i)
    BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({8, 8})));
  const auto found = [&](part holds, uint32_t least, uint32_t depth) {
    std::vector<uint64_t> out;
    for (const auto& x :
         sut->near("k", "a red fox", {3, {holds, least, depth}}))
      out.push_back(x.entry);
    return out;
  };
  constexpr uint32_t any = 9;
  using numbers = std::vector<uint64_t>;
  for (const bool restarted : {false, true})
    BOOST_TEST_CONTEXT(restarted) {
      if (restarted) {
        sut.reset();
        sut = open();
      }
      BOOST_TEST((found(part::image, 0, 0) == numbers{1}));
      BOOST_TEST((found(part::image, 0, any) == numbers{2, 1}));
      BOOST_TEST((found(part::state, 10, any) == numbers{12, 11, 10}));
      BOOST_TEST(found(part::state, 11, any).empty());
    }
}

// One word in common is no hit.
BOOST_AUTO_TEST_CASE(a_search_hits_from_the_similarity_that_is_of_use) {
  const auto sut = open();
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({8})));
  sut->near("k", "a red owl", {1, {}, 0.99});
  BOOST_TEST(sut->counts().hits == 0u);
  BOOST_TEST(sut->counts().misses == 1u);
  sut->near("k", "a red fox", {1, {}, 0.99});
  BOOST_TEST(sut->counts().hits == 1u);
}

BOOST_AUTO_TEST_CASE(a_number_is_never_given_twice) {
  {
    const auto sut = open();
    BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({8})));
    sut->drop_torn(1);
  }
  const auto sut = open();
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({8})));
  BOOST_TEST(nearest_of(*sut, "a red fox") == 2u);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_found_or_has_nothing_is_not_kept) {
  const auto sut = open();
  BOOST_TEST(!sut->keep("k", "...", kept_states({8})));
  BOOST_TEST(!sut->keep("k", "a red fox", {}));
  BOOST_TEST((sut->counts() == index::kept_counts{}));
  BOOST_TEST(files().empty());
}

BOOST_AUTO_TEST_CASE(another_scope_finds_nothing_and_makes_room) {
  auto with = options();
  with.bytes = counted(100) + 10;
  with.scope = "old";
  {
    const auto sut = open(with);
    BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  }
  with.scope = "new";
  const auto sut = open(with);
  BOOST_TEST(nearest_of(*sut, "a red fox") == 0u);
  BOOST_TEST(sut->counts().entries == 1u);
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  BOOST_TEST(sut->counts().evicted == 1u);
  BOOST_TEST(nearest_of(*sut, "a red fox") == 2u);
}

BOOST_AUTO_TEST_CASE(tenants_of_another_scope_reserve_nothing) {
  constexpr core::tenant_id amy{1};
  auto with = options();
  with.bytes = 10 * (counted(100) + 10);
  with.tenant_floor = 1;
  with.scope = "old";
  {
    const auto sut = open(with);
    for (uint32_t i = 2; i < 12; ++i)
      BOOST_REQUIRE(
        sut->keep("k", "a red fox", kept_states({100}, i, core::tenant_id{i})));
    BOOST_TEST(sut->counts().entries == 10u);
  }
  with.scope = "new";
  const auto sut = open(with);
  for (uint64_t i = 0; i < 10; ++i)
    BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100}, i, amy)));
  BOOST_TEST(sut->counts().evicted == 10u);
  const auto left = sut->list({0, 100});
  BOOST_REQUIRE(left);
  for (const auto& x : *left)
    BOOST_TEST((x.whose == amy));
}

BOOST_AUTO_TEST_CASE(a_namespace_has_the_vectors_of_its_scope) {
  auto with = options();
  with.scope = "old";
  {
    const auto sut = open(with);
    BOOST_REQUIRE(
      sut->keep("smalltens-of-a-tenant", "a red fox", kept_states({8})));
    BOOST_REQUIRE(
      sut->keep("smallothr-of-a-tenant", "one cat", kept_states({8})));
  }
  {
    const auto sut = open(with);
    BOOST_TEST(sut->extent("tens-of-a-tenant")->entries == 1u);
    BOOST_REQUIRE(
      sut->keep("largetens-of-a-tenant", "a blue owl", kept_states({8})));
    BOOST_TEST(sut->extent("tens-of-a-tenant")->entries == 2u);
    auto last = sut->vector_of("tens-of-a-tenant", "a blue owl");
    BOOST_TEST((sut->vectors("tens-of-a-tenant", 1) == last));
    const auto fox = sut->vector_of("tens-of-a-tenant", "a red fox");
    last.insert(last.end(), fox.begin(), fox.end());
    BOOST_TEST((sut->vectors("tens-of-a-tenant", 10) == last));
  }
  with.scope = "new";
  const auto sut = open(with);
  BOOST_TEST(sut->extent("tens-of-a-tenant")->entries == 0u);
  BOOST_TEST(sut->vectors("tens-of-a-tenant", 10).empty());
}

BOOST_AUTO_TEST_CASE(an_entry_without_its_whole_file_leaves_at_the_start) {
  {
    const auto sut = open();
    for (const auto* text : {"a red fox", "a blue owl", "one cat"})
      BOOST_REQUIRE(sut->keep("k", text, kept_states({100})));
  }
  const auto payload = path() / "payload";
  fs::remove(payload / "01" / "0000000000000001");
  fs::resize_file(payload / "02" / "0000000000000002", 99);
  {
    const auto sut = open();
    BOOST_TEST(sut->counts().dropped_torn == 2u);
    BOOST_TEST(sut->counts().entries == 1u);
    BOOST_TEST(nearest_of(*sut, "fox") == 0u);
    BOOST_TEST(nearest_of(*sut, "owl") == 0u);
    BOOST_TEST((code_of(sut->state(3, 5)) == ec::none));
    BOOST_TEST(files().size() == 1u);
  }
  BOOST_TEST(open()->counts().dropped_torn == 0u);
}

BOOST_AUTO_TEST_CASE(a_file_without_an_entry_goes_at_the_start) {
  {
    const auto sut = open();
    BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  }
  const auto payload = path() / "payload";
  fs::create_directory(payload / "09");
  std::ofstream{payload / "09" / "0000000000000009"} << "bytes";
  std::ofstream{payload / "01" / ".atelier-1-1.part"} << "bytes";
  const auto sut = open();
  BOOST_TEST(files().size() == 1u);
  BOOST_TEST((code_of(sut->state(1, 5)) == ec::none));
}

BOOST_AUTO_TEST_CASE(changed_bytes_are_not_given_and_leave) {
  {
    const auto sut = open();
    BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100, 100})));
  }
  flip_a_byte(path() / "payload" / "01" / "0000000000000001", 150);
  {
    const auto sut = open();
    BOOST_TEST(sut->counts().dropped_torn == 0u);
    BOOST_TEST((code_of(sut->state(1, 5)) == ec::none));
    BOOST_TEST((code_of(sut->state(1, 10)) == ec::bad_payload));
    BOOST_TEST((code_of(sut->state(1, 5)) == ec::not_found));
    BOOST_TEST(nearest_of(*sut, "a red fox") == 0u);
    BOOST_TEST(sut->counts().dropped_torn == 1u);
    BOOST_TEST(sut->counts().bytes == 0u);
    BOOST_TEST(sut->has_unwritten());
    sut->write_back();
    BOOST_TEST(!sut->has_unwritten());
    BOOST_TEST(files().empty());
  }
  BOOST_TEST(open()->counts().entries == 0u);
}

BOOST_AUTO_TEST_CASE(a_copy_in_memory_needs_no_file_and_its_bound_holds) {
  auto with = options();
  with.memory_bytes = 150;
  const auto sut = open(with);
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  BOOST_REQUIRE(sut->keep("k", "a blue owl", kept_states({100})));
  for (const auto& x : files())
    fs::remove(x);
  BOOST_TEST((code_of(sut->state(2, 5)) == ec::none));
  BOOST_TEST((code_of(sut->state(1, 5)) == ec::bad_payload));
  BOOST_TEST(sut->counts().dropped_torn == 1u);
}

BOOST_AUTO_TEST_CASE(a_copy_that_changed_is_read_again) {
  const auto sut = open();
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  const auto given = *sut->state(1, 5);
  const_cast<std::byte&>(given->front()) ^= std::byte{1};
  BOOST_TEST((**sut->state(1, 5) == filled_bytes(100, 1)));
  BOOST_TEST(sut->counts().dropped_torn == 0u);
}

BOOST_AUTO_TEST_CASE(the_disk_is_bounded_to_the_byte) {
  auto with = options();
  with.bytes = 2 * counted(100);
  const auto sut = open(with);
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  BOOST_TEST(sut->counts().bytes == with.bytes);
  BOOST_TEST(sut->counts().evicted == 0u);
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({1})));
  BOOST_TEST(sut->counts().evicted == 1u);
  BOOST_TEST(sut->counts().bytes == counted(100) + counted(1));
  BOOST_TEST(files().size() == 2u);
  // An entry that can never fit evicts nothing.
  BOOST_TEST(
    !sut->keep("k", "a red fox", kept_states({with.bytes - counted(0) + 1})));
  BOOST_TEST(sut->counts().entries == 2u);
  BOOST_TEST(sut->counts().failed == 0u);
}

BOOST_AUTO_TEST_CASE(a_smaller_bound_at_the_start_lets_the_oldest_leave) {
  {
    const auto sut = open();
    for (int i = 0; i < 3; ++i)
      BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
    BOOST_REQUIRE(sut->state(1, 5));
  }
  auto with = options();
  with.bytes = 2 * counted(100);
  const auto sut = open(with);
  BOOST_TEST(sut->counts().evicted == 1u);
  BOOST_TEST(files().size() == 2u);
  // The order of uses survived the restart.
  BOOST_TEST((code_of(sut->state(2, 5)) == ec::not_found));
  BOOST_TEST((code_of(sut->state(1, 5)) == ec::none));
}

BOOST_AUTO_TEST_CASE(a_tenant_keeps_its_floor) {
  auto with = options();
  with.bytes = 8 * counted(100);
  with.tenant_floor = 0.5;
  const auto sut = open(with);
  for (int i = 0; i < 4; ++i)
    BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100}, 1, ann)));
  for (int i = 0; i < 20; ++i)
    BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100}, 1, bob)));
  BOOST_TEST((code_of(sut->state(1, 5)) == ec::not_found));
  BOOST_TEST((code_of(sut->state(2, 5)) == ec::not_found));
  BOOST_TEST((code_of(sut->state(3, 5)) == ec::none));
  BOOST_TEST((code_of(sut->state(4, 5)) == ec::none));
  BOOST_TEST(sut->counts().entries == 8u);
}

BOOST_AUTO_TEST_CASE(two_stores_do_not_share_a_folder) {
  const auto first = open();
  const auto second = index::store::open(options());
  BOOST_REQUIRE(!second);
  BOOST_TEST((second.why().code == ec::unavailable));
  BOOST_TEST(second.why().text.find(path().string() + " is in use by process ")
               != std::string::npos,
             second.why().text);
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_made_is_told) {
  auto with = options();
  with.folder = path() / "deeper";
  const auto got = index::store::open(with);
  BOOST_REQUIRE(!got);
  BOOST_TEST((got.why().code == ec::io_failed));
  BOOST_TEST(got.why().text.find(with.folder.string()) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_on_the_disk_is_its_owners_alone) {
  const auto sut = open();
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  for (const auto& x : fs::recursive_directory_iterator{path()})
    BOOST_TEST((fs::status(x).permissions()
                == (x.is_directory() ? fs::perms{0700} : fs::perms{0600})),
               x.path());
  BOOST_TEST((fs::status(path()).permissions() == fs::perms{0700}));
}

BOOST_AUTO_TEST_CASE(a_folder_that_others_can_write_is_refused) {
  fs::create_directory(path());
  for (const unsigned mode : {0777U, 0770U, 0702U, 01777U}) {
    fs::permissions(path(), fs::perms{mode});
    const auto got = index::store::open(options());
    BOOST_REQUIRE(!got);
    const auto& why = got.why().text;
    BOOST_TEST(why.find(path().string()) == 0u, why);
    BOOST_TEST(why.find("chmod 700 '" + path().string() + "'")
                 != std::string::npos,
               why);
  }
  BOOST_TEST(fs::is_empty(path()));
  fs::permissions(path(), fs::perms{0755});
  open();
}

BOOST_AUTO_TEST_CASE(links_in_the_folder_are_refused) {
  open();
  const auto victim = path().parent_path() / "victim";
  fs::create_directory(victim);
  const auto file = victim / "file";
  std::ofstream{file} << "mine";
  for (const auto* const name : {"lock", "cache.sqlite", "cache.sqlite-wal",
                                 "cache.sqlite-journal", "payload"}) {
    const auto link = path() / name;
    fs::remove_all(link);
    const bool is_folder = link.filename() == "payload";
    fs::create_symlink(is_folder ? victim : file, link);
    const auto got = index::store::open(options());
    BOOST_REQUIRE_MESSAGE(!got, name);
    BOOST_TEST(got.why().text.find(link.string() + ": is a symbolic link")
                 == 0u,
               got.why().text);
    fs::remove(link);
  }
  std::string text;
  std::getline(std::ifstream{file}, text);
  BOOST_TEST(text == "mine");
  BOOST_TEST(std::distance(fs::directory_iterator{victim}, {}) == 1);
  // The folder itself may be one.
  fs::rename(path(), path().parent_path() / "elsewhere");
  fs::create_directory_symlink("elsewhere", path());
  BOOST_TEST(open()->keep("k", "a red fox", kept_states({100})));
}

BOOST_AUTO_TEST_CASE(a_full_disk_ends_nothing_and_is_tried_again) {
  core::time_point now{1'000s};
  auto with = options();
  with.now = [&] { return now; };
  const auto sut = open(with);
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  auto least = before;
  least.rlim_cur = 1'000;
  setrlimit(RLIMIT_FSIZE, &least);
  for (uint64_t i = 1; i <= 3; ++i) {
    BOOST_TEST(!sut->keep("k", "a blue owl", kept_states({2'000})));
    BOOST_TEST(sut->counts().failed == i);
  }
  // The entry is left out now.
  BOOST_TEST(!sut->keep("k", "a blue owl", kept_states({2'000})));
  BOOST_TEST(sut->counts().failed == 3u);
  now += 30s;
  BOOST_TEST(!sut->keep("k", "a blue owl", kept_states({2'000})));
  BOOST_TEST(sut->counts().failed == 4u);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  // The remaining entries are served all the time, and the others leave
  // nothing.
  BOOST_TEST((code_of(sut->state(1, 5)) == ec::none));
  BOOST_TEST(nearest_of(*sut, "a blue owl") != 5u);
  BOOST_TEST(files().size() == 1u);
  BOOST_TEST(!sut->keep("k", "a blue owl", kept_states({2'000})));
  now += 30s;
  BOOST_TEST(sut->keep("k", "a blue owl", kept_states({2'000})));
  BOOST_TEST(sut->keep("k", "a blue owl", kept_states({2'000})));
  BOOST_TEST(sut->counts().failed == 4u);
}

BOOST_AUTO_TEST_CASE(rows_that_cannot_be_written_leave_no_file) {
  core::time_point now{1'000s};
  auto with = options();
  with.now = [&] { return now; };
  with.bytes = 2 * counted(100);
  const auto sut = open(with);
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  auto least = before;
  // The log of the rows is already larger than this, and payload files are
  // smaller.
  least.rlim_cur = 4'000;
  setrlimit(RLIMIT_FSIZE, &least);
  BOOST_TEST(!sut->keep("k", "a red fox", kept_states({100})));
  BOOST_TEST(!sut->keep("k", "a red fox", kept_states({101})));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  BOOST_TEST(sut->counts().failed == 2u);
  BOOST_TEST(sut->counts().entries == 1u);
  BOOST_TEST(sut->counts().evicted == 0u);
  BOOST_TEST(files().size() == 1u);
  BOOST_TEST(sut->near("k", "a red fox", {10}).size() == 1u);
  BOOST_TEST(sut->keep("k", "a red fox", kept_states({100})));
}

BOOST_AUTO_TEST_CASE(a_disk_that_gives_nothing_is_left_out) {
  core::time_point now{1'000s};
  auto with = options();
  with.now = [&] { return now; };
  with.memory_bytes = 0;
  const auto sut = open(with);
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  // The folder in place of the file exists and cannot be read.
  const auto file = files().front();
  const auto aside = path() / "aside";
  fs::rename(file, aside);
  fs::create_directory(file);
  for (uint64_t i = 1; i <= 3; ++i) {
    BOOST_TEST(nearest_of(*sut, "a red fox") == 1u);
    BOOST_TEST((code_of(sut->state(1, 5)) == ec::io_failed));
    BOOST_TEST(sut->counts().failed == i);
  }
  BOOST_TEST(nearest_of(*sut, "a red fox") == 0u);
  BOOST_TEST((code_of(sut->state(1, 5)) == ec::io_failed));
  BOOST_TEST(sut->counts().failed == 3u);
  fs::remove(file);
  fs::rename(aside, file);
  now += 30s;
  BOOST_TEST(nearest_of(*sut, "a red fox") == 1u);
  BOOST_TEST((code_of(sut->state(1, 5)) == ec::none));
  BOOST_TEST(sut->counts().dropped_torn == 0u);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_removed_still_counts) {
  auto with = options();
  with.bytes = 2 * counted(100);
  with.most_failures = 100;
  const auto sut = open(with);
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  const auto file = files().front();
  fs::remove(file);
  fs::create_directory(file);
  sut->drop_torn(1);
  sut->write_back();
  BOOST_TEST(sut->counts().failed == 1u);
  // 100 bytes of the budget are not free.
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  BOOST_TEST(sut->counts().entries == 1u);
  fs::remove(file);
  BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  BOOST_TEST(sut->counts().entries == 2u);
}

// At scale 1 this runs 100,000 operations.
BOOST_AUTO_TEST_CASE(random_operations_agree_with_looking_at_everything) {
  struct expected_entry {
    uint64_t number = 0;
    std::string key;
    index::text_vector text = {};
    index::words_digest words = {};
    index::leftover what;
  };

  core::philox random{test::seed(), core::purpose::test, core::request_id{1}};
  auto with = options();
  std::shared_ptr<index::store> sut;
  test::plain_ledger shares;
  std::vector<expected_entry> expected;
  uint64_t last_number = 0;
  uint64_t clock = 0;
  const auto use = [&](uint64_t number) { shares.use(number, ++clock); };
  const auto leave = [&](uint64_t number) {
    shares.entries.erase(number);
    return std::erase_if(expected,
                         [&](const auto& x) { return x.number == number; });
  };
  const auto n = test::scaled(100'000);
  for (size_t i = 0; i < n; ++i) {
    if (i % 500 == 0) {
      sut.reset();
      fs::remove_all(path());
      with.bytes = 30'000 + random.below(100'000);
      with.entries = 1 + random.below(30);
      with.memory_bytes = random.below(20'000);
      with.tenant_floor = static_cast<double>(random.below(5)) / 4;
      shares = {{with.bytes, with.entries, with.tenant_floor}, {}};
      expected.clear();
      last_number = 0;
    }
    if (!sut || random.below(40) == 0) {
      sut.reset();
      sut = open(with);
    }
    const std::string key(1, static_cast<char>('a' + random.below(3)));
    const auto text = test::any_text(random);
    const auto number = last_number - std::min(last_number, random.below(20));
    const auto at =
      std::find_if(expected.begin(), expected.end(),
                   [&](const auto& x) { return x.number == number; });
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2: {
        index::leftover what = kept_states(
          {random.below(3'000), random.below(3'000)}, random.next_u64(),
          tenant_id{static_cast<uint32_t>(random.below(4))});
        if (random.below(2) == 0) {
          what.image = filled_bytes(1 + random.below(9'000), 1);
          what.px = kept_px;
        }
        const auto bytes = index::stored_bytes(key, text, what);
        const auto room = shares.room_for(what.whose, bytes, 0);
        BOOST_REQUIRE(sut->keep(key, text, what) == room.has_value());
        if (!room)
          break;
        for (const auto& x : *room)
          leave(x.number);
        shares.entries.emplace(++last_number,
                               test::sole_payload(what.whose, bytes, ++clock));
        expected.push_back({last_number, key, index::vector_of(text),
                            index::digest_of_words(text), std::move(what)});
        break;
      }
      case 3:
      case 4: {
        std::vector<planning::match> wanted;
        for (const auto& x : expected) {
          const auto likeness = index::similarity_of_texts(
            index::similarity(index::vector_of(text), x.text),
            x.words == index::digest_of_words(text));
          if (x.key == key && likeness > 0)
            wanted.push_back({x.number, likeness, {5, 10}, 0});
        }
        std::sort(wanted.begin(), wanted.end(),
                  [](const auto& a, const auto& b) {
                    return std::pair{a.similarity, a.entry}
                         > std::pair{b.similarity, b.entry};
                  });
        wanted.resize(std::min<size_t>(wanted.size(), 5));
        BOOST_REQUIRE((sut->near(key, text, {5}) == wanted));
        break;
      }
      case 5: {
        const auto given = sut->state(number, 10);
        BOOST_REQUIRE(bool{given} == (at != expected.end()));
        if (given)
          BOOST_REQUIRE((**given == at->what.states[1].bytes));
        use(number);
        break;
      }
      case 6: {
        const auto given = sut->image(number, kept_px, 5);
        BOOST_REQUIRE(bool{given}
                      == (at != expected.end() && !at->what.image.empty()));
        if (given)
          BOOST_REQUIRE((**given == at->what.image));
        use(number);
        break;
      }
      default:
        if (random.below(4) != 0)
          break;
        sut->drop_torn(number);
        leave(number);
    }
    const auto told = sut->counts();
    BOOST_REQUIRE(told.entries == expected.size());
    BOOST_REQUIRE(told.bytes == shares.bytes());
    BOOST_REQUIRE(told.bytes <= with.bytes);
    BOOST_REQUIRE(told.failed == 0u);
    if (i % 50 == 0) {
      sut->write_back();
      uint64_t payloads = 0;
      for (const auto& x : expected) {
        payloads += x.what.image.size();
        for (const auto& s : x.what.states)
          payloads += s.bytes.size();
      }
      BOOST_REQUIRE(payload_bytes() == payloads);
    }
  }
}

// Under LCBFU, states leave while they are read.
BOOST_AUTO_TEST_CASE(threads_share_it) {
  for (const auto rule :
       {core::eviction_rule::lru, core::eviction_rule::lcbfu}) {
    const test::store_folder folder;
    BOOST_TEST_CONTEXT(core::eviction_rule_names[static_cast<size_t>(rule)])
    share(folder, rule);
  }
}

BOOST_AUTO_TEST_SUITE_END()
