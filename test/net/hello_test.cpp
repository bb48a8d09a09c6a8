// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/net/link.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using runtime::link_hello;
using runtime::mismatch;

namespace {

const link_hello ours{1, 10, 0, {1, 1}};
const link_hello theirs{1, 10, 3, {2, 2}};

core::ec refusal(const link_hello& from,
                 std::optional<actors::node_id> expected = {}) {
  const auto why = mismatch(ours, from, expected);
  return why ? why->code : core::ec::none;
}

} // namespace

BOOST_AUTO_TEST_SUITE(hello_test)

BOOST_AUTO_TEST_CASE(another_node_of_the_same_build_is_a_partner) {
  BOOST_CHECK(refusal(theirs) == core::ec::none);
  BOOST_CHECK(refusal(theirs, actors::node_id{3}) == core::ec::none);
}

BOOST_AUTO_TEST_CASE(another_protocol_or_build_is_refused) {
  auto x = theirs;
  x.protocol = 2;
  BOOST_CHECK(refusal(x) == core::ec::incompatible);
  x = theirs;
  x.build = 11;
  BOOST_CHECK(refusal(x) == core::ec::incompatible);
}

BOOST_AUTO_TEST_CASE(a_node_that_is_not_the_expected_one_is_refused) {
  BOOST_CHECK(refusal(theirs, actors::node_id{4})
              == core::ec::invalid_argument);
}

BOOST_AUTO_TEST_CASE(this_node_and_its_number_are_refused) {
  auto x = theirs;
  x.boot = ours.boot;
  BOOST_CHECK(refusal(x) == core::ec::invalid_argument);
  x = theirs;
  x.node = ours.node;
  BOOST_CHECK(refusal(x) == core::ec::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
