// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/simulation/simulate.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::test {

/// Runs a valid scenario, and checks that every request ends once and no
/// invariant breaks.
inline runtime::outcome ran(const runtime::scenario& x) {
  auto out = runtime::simulate(x);
  BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
  BOOST_TEST(out->broken == "");
  BOOST_TEST(out->completed + out->dropped == out->requests);
  return *out;
}

} // namespace atelier::test
