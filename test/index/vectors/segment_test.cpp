// SPDX-License-Identifier: Apache-2.0
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/index/text_vector.hpp>
#include <atelier/index/vectors/detail/codes.hpp>
#include <atelier/index/vectors/detail/products.hpp>
#include <atelier/index/vectors/detail/segment.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

namespace {

using namespace atelier;
namespace detail = index::detail;
using vector = std::vector<float>;

// Vectors around one centre. With little noise, their codes do not tell which
// of them is nearer.
class source {
public:
  source(size_t dimensions, double noise, core::philox& random)
    : noise_(noise), random_(random) {
    for (size_t i = 0; i < dimensions; ++i)
      centre_.push_back(static_cast<float>(random.normal()));
  }

  vector draw() {
    auto out = centre_;
    double squares = 0;
    for (auto& x : out) {
      x += static_cast<float>(noise_ * random_.normal());
      squares += static_cast<double>(x) * x;
    }
    for (auto& x : out)
      x = static_cast<float>(x / std::sqrt(squares));
    return out;
  }

private:
  vector centre_;
  double noise_;
  core::philox& random_;
};

detail::entry_ptr entry_of(uint64_t number, const vector& unit) {
  auto out = std::make_shared<detail::entry>();
  out->number = number;
  out->unit = unit;
  return out;
}

std::vector<index::near_vector> best_of(std::vector<index::near_vector> all,
                                        size_t most) {
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair{a.similarity, a.number}
         > std::pair{b.similarity, b.number};
  });
  all.resize(std::min(most, all.size()));
  return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(segment_test)

BOOST_AUTO_TEST_CASE(no_product_is_above_its_limit) {
  core::philox random{test::seed(), core::purpose::test, core::request_id{1}};
  const auto& products = detail::chosen_products();
  double least_room = 1;
  for (const size_t n : {1u, 2u, 7u, 64u, 256u, 768u})
    for (const double noise : {0.0, 1e-3, 0.1, 1.0, 10.0}) {
      source from{n, noise, random};
      for (int i = 0; i < 50; ++i) {
        const auto a = from.draw();
        const auto b = from.draw();
        std::vector<int8_t> a_codes(n);
        std::vector<int8_t> b_codes(n);
        const auto a_scale = detail::encode(a, a_codes.data());
        const auto b_scale = detail::encode(b, b_codes.data());
        const auto limit =
          detail::limit_of(products.of_codes(a_codes.data(), b_codes.data(), n),
                           a_scale, b_scale);
        const auto product = products.exact(a.data(), b.data(), n);
        BOOST_TEST(limit >= product);
        least_room = std::min(least_room, limit - product);
      }
    }
  // The limit is near enough to be of use.
  BOOST_TEST(least_room < 0.01);
}

// A search beside what was found elsewhere finds the same as one that compares
// all vectors: also among vectors that the codes do not distinguish, equal
// ones, and ones that are gone.
BOOST_AUTO_TEST_CASE(the_nearest_are_those_of_comparing_all) {
  core::philox random{test::seed(), core::purpose::test, core::request_id{2}};
  for (int round = 0; round < 200; ++round) {
    const auto dimensions = 1 + random.below(100);
    source from{dimensions, std::pow(10, -static_cast<double>(random.below(6))),
                random};
    detail::segment of;
    std::vector<detail::entry_ptr> all;
    const auto count = random.below(200);
    for (uint64_t i = 0; i < count; ++i) {
      const bool again = !all.empty() && random.below(4) == 0;
      all.push_back(
        entry_of(i, again ? all[random.below(all.size())]->unit : from.draw()));
      of.append(all.back());
      if (random.below(5) == 0)
        all[random.below(all.size())]->gone = true;
    }
    if (random.below(2) == 0)
      of.fill(all);
    const auto wanted = from.draw();
    std::vector<index::near_vector> elsewhere;
    for (uint64_t i = 0; i < random.below(4); ++i)
      elsewhere.push_back({1'000 + i, index::similarity(wanted, from.draw())});
    std::erase_if(elsewhere, [](const auto& x) { return x.similarity <= 0; });
    auto expected = elsewhere;
    for (const auto& x : all)
      if (const auto likeness = index::similarity(wanted, x->unit);
          likeness > 0 && !x->gone)
        expected.push_back({x->number, likeness});
    const auto most = random.below(10);
    auto found = elsewhere;
    of.near(wanted, most, {}, found);
    BOOST_TEST_REQUIRE((best_of(found, most) == best_of(expected, most)));
    std::set<uint64_t> once;
    for (const auto& x : found)
      BOOST_TEST_REQUIRE(once.insert(x.number).second);
  }
}

BOOST_AUTO_TEST_CASE(a_copy_does_not_change_with_the_next_entries) {
  core::philox random{test::seed(), core::purpose::test, core::request_id{3}};
  source from{16, 1, random};
  detail::segment of;
  std::vector<detail::segment> versions;
  for (uint64_t i = 0; i < 150; ++i) {
    versions.push_back(of);
    of.append(entry_of(i, from.draw()));
  }
  for (uint64_t i = 0; i < 150; ++i) {
    BOOST_TEST(versions[i].slots() == i);
    const auto live = versions[i].live_after(i / 2);
    BOOST_TEST_REQUIRE(live.size() == i - i / 2);
    for (size_t j = 0; j < live.size(); ++j)
      BOOST_TEST(live[j]->number == i / 2 + j);
  }
}

BOOST_AUTO_TEST_SUITE_END()
