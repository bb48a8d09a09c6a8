// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/active_tenants.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>

using namespace atelier;
using namespace std::chrono_literals;

namespace {

constexpr core::tenant_id ann{1};
constexpr core::tenant_id ben{2};
constexpr core::tenant_id cid{3};

bool none(core::tenant_id) {
  return false;
}

core::time_point at(core::timespan x) {
  return core::time_point{x};
}

} // namespace

BOOST_AUTO_TEST_SUITE(active_tenants_test)

BOOST_AUTO_TEST_CASE(who_has_requests_is_active_however_long) {
  actors::active_tenants sut;
  sut.set_time(at(1s));
  sut.came(ann);
  sut.came(ben);
  sut.set_time(at(1h));
  BOOST_TEST(sut.count_others(ann, none) == 1u);
  BOOST_TEST(sut.count_others(cid, none) == 2u);
  BOOST_TEST(sut.count_others(ann, [](auto x) { return x == ben; }) == 0u);
}

BOOST_AUTO_TEST_CASE(who_had_one_is_remembered_for_a_moment) {
  actors::active_tenants sut;
  sut.came(ann);
  sut.came(ann);
  sut.set_time(at(5s));
  sut.left(ann);
  sut.set_time(at(60s));
  BOOST_TEST(sut.count_others(ben, none) == 1u);
  sut.left(ann);
  sut.set_time(at(61s));
  BOOST_TEST(sut.count_others(ben, none) == 1u);
  sut.set_time(at(62s));
  BOOST_TEST(sut.count_others(ben, none) == 0u);
  sut.came(ann);
  BOOST_TEST(sut.count_others(ben, none) == 1u);
}

BOOST_AUTO_TEST_CASE(who_departed_is_told_once) {
  actors::active_tenants sut;
  sut.came(ann);
  sut.came(ben);
  sut.left(ann);
  BOOST_TEST(!sut.forget_departed());
  sut.set_time(at(2s));
  BOOST_TEST(sut.forget_departed());
  BOOST_TEST(!sut.forget_departed());
  BOOST_TEST(sut.count_others(cid, none) == 1u);
}

BOOST_AUTO_TEST_CASE(time_does_not_go_back) {
  actors::active_tenants sut;
  sut.set_time(at(10s));
  sut.came(ann);
  sut.left(ann);
  sut.set_time(at(12s));
  sut.set_time(at(1s));
  BOOST_TEST(sut.count_others(ben, none) == 0u);
}

BOOST_AUTO_TEST_CASE(the_unnamed_tenant_and_unknown_ones_do_not_count) {
  actors::active_tenants sut;
  sut.came({});
  sut.left({});
  sut.left(ben);
  BOOST_TEST(sut.count_others(ann, none) == 0u);
  sut.came(ben);
  sut.left(ben);
  sut.left(ben);
  BOOST_TEST(sut.count_others(ann, none) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
