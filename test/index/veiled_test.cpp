// SPDX-License-Identifier: Apache-2.0
#include "index/store_rig.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/index/memory.hpp>
#include <atelier/index/veiled.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <memory>
#include <set>

namespace {

using namespace atelier;
using core::ec;
using index::number_veil;
using test::code_of;

constexpr uint64_t numbers = uint64_t{1} << 48;

} // namespace

BOOST_AUTO_TEST_SUITE(veiled_test)

BOOST_AUTO_TEST_CASE(a_veil_permutes_the_numbers) {
  core::philox random{test::seed(), core::purpose::test};
  const auto sut = number_veil::random();
  const auto other = number_veil::random();
  size_t alike = 0;
  const auto n = test::scaled(100'000);
  for (size_t i = 0; i < n; ++i) {
    const auto x = i < n / 2 ? i : random.below(numbers);
    const auto veiled = sut.veiled(x);
    BOOST_REQUIRE(veiled < numbers);
    BOOST_REQUIRE(sut.unveiled(veiled) == x);
    BOOST_REQUIRE(sut.veiled(sut.unveiled(x)) == x);
    alike += veiled == other.veiled(x) ? 1u : 0u;
  }
  BOOST_TEST(alike < 2u);
}

// Veiled counts are spread as random numbers are: each bit differs between
// neighbours about half of the time.
BOOST_AUTO_TEST_CASE(the_distance_of_veiled_numbers_tells_nothing) {
  const auto sut = number_veil::random();
  constexpr int pairs = 2'000;
  for (const uint64_t distance : {1U, 2U, 1'000U})
    for (uint32_t bit = 0; bit < 48; ++bit) {
      int differ = 0;
      for (uint64_t i = 1; i <= pairs; ++i)
        differ += static_cast<int>(
          (sut.veiled(i) ^ sut.veiled(i + distance)) >> bit & 1);
      // Seven standard deviations.
      BOOST_TEST(std::abs(differ - pairs / 2) < 157);
    }
}

BOOST_AUTO_TEST_CASE(entries_are_known_by_their_veiled_numbers) {
  const auto kept =
    std::make_shared<index::memory>(index::cache_bounds{1 << 20, 10});
  index::veiled_work sut{kept, number_veil::random()};
  BOOST_TEST(sut.keep("k", "a red fox", test::kept_states({8})));
  index::leftover drawn;
  drawn.image = test::filled_bytes(8, 2);
  drawn.px = test::kept_px;
  BOOST_TEST(sut.keep("k", "a red fox", drawn));
  const auto found = sut.near("k", "a red fox", {10});
  BOOST_TEST_REQUIRE(found.size() == 2u);
  const auto last = found[0].entry;
  const auto first = found[1].entry;
  BOOST_TEST(last > 2u);
  BOOST_TEST(first > 2u);
  BOOST_TEST((code_of(sut.state(1, 5)) == ec::not_found));
  BOOST_TEST((code_of(sut.state(first, 5)) == ec::none));
  BOOST_TEST((code_of(sut.image(last, test::kept_px, 5)) == ec::none));
  // A list has the same numbers, in the order of the entries.
  const auto listed = [&](uint64_t after) {
    std::vector<uint64_t> out;
    const auto page = sut.list({after, 10});
    BOOST_TEST_REQUIRE(bool{page});
    for (const auto& x : *page)
      out.push_back(x.number);
    return out;
  };
  BOOST_TEST((listed(0) == std::vector{first, last}));
  BOOST_TEST((listed(first) == std::vector{last}));
  BOOST_TEST(listed(last).empty());
  BOOST_TEST(listed(UINT64_MAX).empty());
  BOOST_TEST(
    (sut.vector_of("k", "one cat") == kept->vector_of("k", "one cat")));
  BOOST_TEST(sut.extent("k")->entries == 2u);
  BOOST_TEST((sut.vectors("k", 10) == kept->vectors("k", 10)));
  BOOST_TEST(!sut.vectors("k", 10).empty());
  sut.drop_torn(first);
  BOOST_TEST((code_of(sut.state(first, 5)) == ec::not_found));
  BOOST_TEST(sut.counts().entries == 1u);
  // A page follows an entry that has left.
  BOOST_TEST((listed(first) == std::vector{last}));
}

BOOST_AUTO_TEST_SUITE_END()
