// SPDX-License-Identifier: Apache-2.0
#include "index/store_rig.hpp"
#include "support/counted_memory.hpp"
#include <atelier/index/encoder_memo.hpp>
#include <atelier/index/key.hpp>
#include <atelier/index/memory.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace atelier;

namespace {

/// Counts its runs. A text's vector is its length.
class by_length final : public index::text_encoder {
public:
  std::string_view name() const override {
    return "lengths";
  }

  size_t dimensions() const override {
    return 1;
  }

  core::result<std::vector<float>> encode(
    std::string_view text) const override {
    ++runs;
    if (fails)
      return core::fail(core::ec::internal, "no network");
    return std::vector<float>{static_cast<float>(text.size())};
  }

  index::encoder_counts counts() const override {
    return {runs, 0};
  }

  mutable std::atomic<uint64_t> runs{0};
  std::atomic<bool> fails{false};
};

struct remembering {
  static constexpr size_t most = 3;

  /// Returns whether a text was encoded again.
  bool runs(const std::string& space, const std::string& text) {
    const auto before = encoder->runs.load();
    const auto vector = sut.encode_in(space, text);
    BOOST_TEST_REQUIRE(bool{vector});
    BOOST_TEST(vector->front() == static_cast<float>(text.size()));
    return encoder->runs != before;
  }

  std::shared_ptr<by_length> encoder = std::make_shared<by_length>();
  index::encoder_memo sut{encoder, most};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(encoder_memo_test, remembering)

BOOST_AUTO_TEST_CASE(a_text_is_encoded_once_in_a_namespace) {
  BOOST_TEST(runs("one", "cat"));
  BOOST_TEST(!runs("one", "cat"));
  BOOST_TEST(runs("one", "cats"));
  // Another namespace does not use that result.
  BOOST_TEST(runs("two", "cat"));
  BOOST_TEST(!runs("two", "cat"));
  BOOST_TEST((sut.counts() == index::encoder_counts{3, 2}));
  BOOST_TEST(sut.name() == "lengths");
  BOOST_TEST(sut.dimensions() == 1u);
}

BOOST_AUTO_TEST_CASE(the_text_that_was_unused_for_longest_leaves) {
  for (const auto* const text : {"a", "bb", "ccc"})
    runs("one", text);
  BOOST_TEST(!runs("one", "a"));
  BOOST_TEST(runs("one", "dddd"));
  BOOST_TEST(!runs("one", "a"));
  BOOST_TEST(!runs("one", "ccc"));
  BOOST_TEST(runs("one", "bb"));
}

BOOST_AUTO_TEST_CASE(a_namespace_with_few_texts_loses_none_to_one_with_many) {
  runs("few", "a");
  for (size_t i = 1; i < 50; ++i)
    runs("many", std::string(i, 'x'));
  BOOST_TEST(!runs("few", "a"));
  BOOST_TEST(!runs("many", std::string(49, 'x')));
  BOOST_TEST(runs("many", "x"));
}

BOOST_AUTO_TEST_CASE(of_a_divided_memo_each_namespace_has_its_part) {
  const index::encoder_memo divided{encoder, 5, 2};
  const auto runs_in = [&](const char* space, const char* text) {
    const auto before = encoder->runs.load();
    BOOST_TEST(bool{divided.encode_in(space, text)});
    return encoder->runs != before;
  };
  for (const bool others : {false, true}) {
    // Two of five, whatever the other one does.
    for (const auto* const text : {"a", "bb", "ccc"})
      runs_in("one", text);
    if (others)
      for (const auto* const text : {"a", "bb", "ccc", "dddd"})
        BOOST_TEST(runs_in("two", text));
    BOOST_TEST(!runs_in("one", "bb"));
    BOOST_TEST(!runs_in("one", "ccc"));
    BOOST_TEST(runs_in("one", "a"));
  }
  // More namespaces than parts remember nothing.
  BOOST_TEST(runs_in("three", "a"));
  BOOST_TEST(runs_in("three", "a"));
}

BOOST_AUTO_TEST_CASE(
  a_failure_and_a_text_without_namespace_are_not_remembered) {
  encoder->fails = true;
  BOOST_TEST(!sut.encode_in("one", "a"));
  encoder->fails = false;
  BOOST_TEST(runs("one", "a"));
  BOOST_TEST(bool{sut.encode("free")});
  BOOST_TEST(bool{sut.encode("free")});
  BOOST_TEST((sut.counts() == index::encoder_counts{4, 0}));
}

BOOST_AUTO_TEST_CASE(a_memo_of_none_remembers_nothing) {
  const index::encoder_memo none{encoder, 0};
  BOOST_TEST(bool{none.encode_in("one", "a")});
  BOOST_TEST(bool{none.encode_in("one", "a")});
  BOOST_TEST((none.counts() == index::encoder_counts{2, 0}));
}

BOOST_AUTO_TEST_CASE(long_texts_need_no_more_memory_than_short_ones) {
  const auto memory_of = [&](size_t text_bytes) {
    const index::encoder_memo memo{encoder, 100};
    const auto before = test::counted_memory::live();
    for (size_t i = 0; i < 100; ++i)
      BOOST_TEST(bool{memo.encode_in("one", std::string(text_bytes + i, 'x'))});
    return test::counted_memory::live() - before;
  };
  BOOST_TEST(memory_of(size_t{128} << 10) == memory_of(1));
  // What cache.encoder_memo says of it: these vectors have one number.
  BOOST_TEST(memory_of(1) <= 100 * (sizeof(float) + 220));
}

BOOST_AUTO_TEST_CASE(threads_get_the_vectors_of_their_own_texts) {
  std::vector<std::thread> all;
  std::atomic<int> faults{0};
  for (size_t thread = 0; thread < 4; ++thread)
    all.emplace_back([&, thread] {
      for (size_t i = 0; i < 500; ++i) {
        const std::string text(1 + (i + thread) % 5, 'x');
        const auto vector = sut.encode_in(i % 2 == 0 ? "even" : "odd", text);
        if (!vector || vector->front() != static_cast<float>(text.size()))
          ++faults;
      }
    });
  for (auto& x : all)
    x.join();
  BOOST_TEST(faults == 0);
  const auto told = sut.counts();
  BOOST_TEST(told.encoded + told.recalled == 2000u);
}

BOOST_AUTO_TEST_CASE(a_search_and_its_entry_share_a_run_for_one_tenant) {
  const test::store_folder folder;
  auto with = folder.options();
  const auto key = [](uint32_t seed, uint32_t tenant) {
    core::recipe run;
    run.seed = seed;
    run.steps = 10 + seed;
    return index::key_of(run, "", core::tenant_id{tenant});
  };
  for (const bool on_disk : {false, true}) {
    const auto own = std::make_shared<by_length>();
    const auto memo = std::make_shared<index::encoder_memo>(own, 10);
    with.encoder = memo;
    std::shared_ptr<index::kept_work> kept =
      std::make_shared<index::memory>(index::cache_bounds{1 << 20, 10}, memo);
    if (on_disk)
      kept = folder.open(with);
    kept->near(key(1, 1), "a fox", {1});
    BOOST_TEST(kept->keep(key(1, 1), "a fox", test::kept_states({8})));
    // This also holds if another run is requested.
    kept->near(key(2, 1), "a fox", {1});
    BOOST_TEST((kept->counts().encoder == index::encoder_counts{1, 2}));
    kept->near(key(1, 2), "a fox", {1});
    BOOST_TEST((kept->counts().encoder == index::encoder_counts{2, 2}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
