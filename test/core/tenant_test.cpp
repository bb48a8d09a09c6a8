// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/core/tenant.hpp>

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <set>
#include <span>
#include <string>

using namespace atelier;
using core::tenant_of;

BOOST_AUTO_TEST_SUITE(tenant_test)

BOOST_AUTO_TEST_CASE(a_tenant_is_half_of_its_names_digest) {
  BOOST_TEST(core::digits_of(tenant_of("abc"))
             == core::sha256_hex("abc").substr(0, 32));
  BOOST_TEST((tenant_of("") == core::tenant_id{}));
  BOOST_TEST(core::digits_of({}).empty());
}

// FNV-1a gives both the same 32 bits.
BOOST_AUTO_TEST_CASE(names_that_were_chosen_to_collide_are_two_tenants) {
  BOOST_TEST((tenant_of("mallory_bp9z9t3") != tenant_of("alice")));
  BOOST_TEST((tenant_of("liquid") != tenant_of("costarring")));
}

// With 32 bits, one of these pairs collides more often than not.
BOOST_AUTO_TEST_CASE(a_hundred_thousand_names_are_as_many_tenants) {
  constexpr size_t names = 100'000;
  std::set<core::tenant_id> seen{core::tenant_id{}};
  for (size_t i = 0; i < names; ++i)
    seen.insert(tenant_of("client-" + std::to_string(i)));
  BOOST_TEST(seen.size() == names + 1);
}

BOOST_AUTO_TEST_CASE(a_tenant_survives_its_bytes) {
  const auto x = tenant_of("alice");
  const auto bytes = core::bytes_of(x);
  BOOST_TEST((core::tenant_in(bytes) == x));
  BOOST_TEST(!core::tenant_in(std::span{bytes}.first(4)));
  const core::tenant_id y{0x0102030405060708, 0x090a0b0c0d0e0f10};
  BOOST_TEST(core::digits_of(y) == "0102030405060708090a0b0c0d0e0f10");
  BOOST_TEST((core::tenant_in(core::bytes_of(y)) == y));
}

BOOST_AUTO_TEST_SUITE_END()
