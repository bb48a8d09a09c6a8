// SPDX-License-Identifier: Apache-2.0

// The bodies of orders and replies of stages, as they cross processes.

#include "support/stage_orders.hpp"
#include "support/stage_values.hpp"
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>

namespace {

using namespace atelier;
using core::typed_body;

template <class Body>
void crosses(const Body& x) {
  const typed_body here = typed_body::of(x);
  BOOST_REQUIRE(here.as<Body>());
  BOOST_TEST((**here.as<Body>() == x));
  const std::string bytes = here.to_bytes();
  const auto there = typed_body::from_bytes(bytes).as<Body>();
  BOOST_REQUIRE(there);
  BOOST_TEST((**there == x));
  for (size_t n = 0; n < bytes.size(); ++n)
    BOOST_REQUIRE(!typed_body::from_bytes(bytes.substr(0, n)).as<Body>());
  BOOST_TEST(!typed_body::from_bytes(bytes + '\0').as<Body>());
}

// Any sequence of bytes is a body or an error.
template <class Body>
void stands_garbage() {
  core::philox random{1, core::purpose::test};
  for (int i = 0; i < 1'000; ++i) {
    std::string bytes(random.below(80), ' ');
    for (auto& c : bytes)
      c = static_cast<char>(random.below(256));
    if (const auto read = typed_body::from_bytes(bytes).as<Body>())
      BOOST_TEST(typed_body::of(**read).to_bytes() == bytes);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(stage_bodies_test)

BOOST_AUTO_TEST_CASE(bodies_cross_processes_whole_or_not_at_all) {
  test::each_stage_value([](const auto& x) { crosses(x); });
}

BOOST_AUTO_TEST_CASE(garbage_is_a_body_or_an_error) {
  test::each_stage_value([]<class T>(const T&) { stands_garbage<T>(); });
}

BOOST_AUTO_TEST_CASE(a_body_of_another_type_is_refused) {
  const auto body = typed_body::of(actors::finish_stage::done{3, "sum"});
  const auto as = body.as<actors::prepare_stage::work>();
  BOOST_REQUIRE(!as);
  BOOST_TEST((as.why().code == core::ec::bad_payload));
}

BOOST_AUTO_TEST_CASE(a_number_without_a_name_is_refused) {
  auto x = actors::prepare_stage::work{};
  x.recipe.noise =
    static_cast<core::noise_source>(core::enum_count<core::noise_source>);
  BOOST_TEST(!typed_body::from_bytes(typed_body::of(x).to_bytes())
                .as<actors::prepare_stage::work>());
}

BOOST_AUTO_TEST_SUITE_END()
