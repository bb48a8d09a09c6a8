// SPDX-License-Identifier: Apache-2.0
#include "support/counted_memory.hpp"
#include <atelier/index/detail/answer_counts.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace atelier;
using index::detail::answer_counts;

BOOST_AUTO_TEST_SUITE(answer_counts_test)

BOOST_AUTO_TEST_CASE(entries_of_one_key_and_text_answer_together) {
  answer_counts sut{2};
  const auto fox = index::digest_of_words("a fox");
  const auto owl = index::digest_of_words("an owl");
  sut.enter(1, "k", fox);
  sut.enter(2, "k", fox);
  sut.enter(3, "k", owl);
  sut.enter(4, "l", fox);
  using numbers = std::vector<uint64_t>;
  for (const uint64_t x : {1u, 3u, 4u})
    BOOST_TEST(sut.count(x).empty());
  BOOST_TEST((sut.count(2) == numbers{1, 2}));
  BOOST_TEST((sut.count(3) == numbers{3}));
  BOOST_TEST(sut.of(1) == 1u);
  sut.leave(4);
  sut.leave(4);
  BOOST_TEST(sut.of(4) == 0u);
  BOOST_TEST(sut.count(4).empty());
}

// A key has the negative prompt, which may be long.
BOOST_AUTO_TEST_CASE(long_keys_need_no_more_memory_than_short_ones) {
  const auto memory_of = [](size_t key_bytes) {
    const auto before = test::counted_memory::live();
    answer_counts sut{2};
    for (uint64_t i = 0; i < 100; ++i)
      sut.enter(i, std::string(key_bytes + i, 'x'), {});
    return test::counted_memory::live() - before;
  };
  BOOST_TEST(memory_of(size_t{128} << 10) == memory_of(1));
}

BOOST_AUTO_TEST_SUITE_END()
