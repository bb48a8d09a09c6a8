// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/batching/decode_turns.hpp>

#include <boost/test/unit_test.hpp>

#include <vector>

using namespace atelier;
using namespace atelier::gpu;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(decode_turns_test)

namespace {

core::ticket of(uint64_t id) {
  return {core::request_id{id}, 1};
}

constexpr core::tenant_id much{1};
constexpr core::tenant_id little{2};

struct crowd {
  // Eight rows have steps of 80 ms, and eight ended rows have images to decode.
  crowd() {
    for (uint64_t i = 1; i <= 16; ++i)
      sut.enter(of(i), much);
    for (uint64_t i = 1; i <= 8; ++i)
      running.push_back(of(i));
    for (uint64_t i = 9; i <= 16; ++i)
      images.push_back(of(i));
    for (int i = 0; i < 10; ++i)
      sut.ran(running, 80ms);
  }

  decode_turns sut;
  std::vector<core::ticket> running;
  std::vector<core::ticket> images;
};

} // namespace

BOOST_FIXTURE_TEST_CASE(of_one_tenant_the_first_goes_first, crowd) {
  BOOST_TEST(sut.first(images) == 0u);
  BOOST_TEST(sut.may_go(images[0], running, 0ms, 9ms, 80ms));
  BOOST_TEST(sut.may_go(images[0], running, 150ms, 9ms, 80ms));
  BOOST_TEST(!sut.may_go(images[0], running, 155ms, 9ms, 80ms));
}

BOOST_AUTO_TEST_CASE(images_go_by_shares) {
  decode_turns sut;
  for (uint64_t i = 1; i <= 2; ++i)
    sut.enter(of(i), core::tenant_id{i}, i == 1 ? 1 : 4);
  const std::vector<core::ticket> images{of(1), of(2)};
  size_t of_second = 0;
  for (int i = 0; i < 100; ++i) {
    const auto next = sut.first(images);
    sut.decoded(images[next], 10ms);
    of_second += next;
  }
  BOOST_TEST(of_second == 80u);
}

BOOST_FIXTURE_TEST_CASE(a_larger_share_is_decoded_in_one_go, crowd) {
  sut.enter(of(100), little, 4);
  sut.ran(std::vector{of(100)}, 10ms);
  BOOST_TEST(sut.may_go(of(100), running, 1s, 9ms, 10ms));
  // An equal share has as much as two steps between two of the others.
  sut.enter(of(101), core::tenant_id{3});
  BOOST_TEST(sut.may_go(of(101), running, 10ms, 9ms, 10ms));
  BOOST_TEST(!sut.may_go(of(101), running, 12ms, 9ms, 10ms));
  // It takes turns with its own rows, too.
  auto with_own = running;
  with_own.push_back(of(100));
  BOOST_TEST(!sut.may_go(of(100), with_own, 12ms, 9ms, 10ms));
  // Once it had more than they for its share, it waits like others.
  sut.decoded(of(100), 10s);
  BOOST_TEST(!sut.may_go(of(100), running, 12ms, 9ms, 10ms));
}

BOOST_FIXTURE_TEST_CASE(a_larger_share_has_a_lead, crowd) {
  sut.enter(of(100), little, 100);
  const std::vector<core::ticket> own{of(100)};
  sut.ran(own, 10ms);
  sut.decoded(of(100), 1s);
  BOOST_TEST(!sut.may_go(images[0], own, 0ms, 9ms, 10ms));
  sut.decoded(of(100), 10s);
  BOOST_TEST(sut.may_go(images[0], own, 0ms, 9ms, 10ms));
}

BOOST_FIXTURE_TEST_CASE(who_comes_does_not_wait_for_others_images, crowd) {
  sut.enter(of(100), little);
  const std::vector<core::ticket> own{of(100)};
  for (uint32_t i = 0; i < 4; ++i) {
    // The earlier parts do not count, because they may be long ago.
    sut.decoded(images[0], 9ms);
    BOOST_TEST(!sut.may_go(images[0], own, 0ms, 9ms, 10ms));
    sut.ran(own, 10ms);
  }
  images.push_back(of(100));
  BOOST_TEST(sut.first(images) == 8u);
  BOOST_TEST(sut.may_go(of(100), running, 0ms, 9ms, 80ms));
}

BOOST_FIXTURE_TEST_CASE(others_images_end_all_the_same, crowd) {
  sut.enter(of(100), little);
  const std::vector<core::ticket> own{of(100)};
  sut.decoded(images[0], 9ms);
  int steps = 0;
  while (!sut.may_go(images[0], own, 0ms, 9ms, 1ms)) {
    BOOST_REQUIRE(++steps <= 4);
    sut.ran(own, 1ms);
  }
  BOOST_TEST(steps == 4);
  // Only one part may run. The next may run once the other row has had as much
  // time.
  BOOST_TEST(!sut.may_go(images[0], own, 9ms, 9ms, 10ms));
  for (int i = 0; i < 200; ++i)
    sut.ran(own, 10ms);
  BOOST_TEST(sut.may_go(images[0], own, 9ms, 9ms, 10ms));
}

BOOST_AUTO_TEST_CASE(who_was_away_owes_nothing_to_who_came_meanwhile) {
  decode_turns sut;
  sut.enter(of(1), much);
  const std::vector<core::ticket> first{of(1)};
  for (int i = 0; i < 1000; ++i)
    sut.ran(first, 80ms);
  sut.leave(of(1));
  sut.enter(of(2), little);
  sut.enter(of(3), much);
  const std::vector<core::ticket> running{of(2)};
  sut.decoded(of(2), 1ms);
  sut.ran(running, 10ms);
  BOOST_TEST(sut.may_go(of(3), running, 0ms, 9ms, 10ms));
}

BOOST_FIXTURE_TEST_CASE(nobody_saves_up_time, crowd) {
  sut.enter(of(100), little);
  sut.leave(of(100));
  for (int i = 0; i < 1000; ++i)
    sut.ran(running, 80ms);
  sut.enter(of(101), little);
  const std::vector<core::ticket> own{of(101)};
  // The row has at most one step in advance.
  sut.ran(own, 90ms);
  BOOST_TEST(sut.may_go(images[0], own, 0ms, 9ms, 10ms));
}

BOOST_AUTO_TEST_CASE(rows_that_are_unknown_are_of_nobody) {
  decode_turns sut;
  sut.leave(of(1));
  const std::vector<core::ticket> all{of(1), of(2)};
  BOOST_TEST(sut.first(all) == 0u);
  BOOST_TEST(sut.may_go(of(1), all, 0ms, 1ms, 1ms));
}

BOOST_AUTO_TEST_SUITE_END()
