// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/guarded.hpp>

#include <boost/test/unit_test.hpp>

#include <new>
#include <stdexcept>

using namespace atelier;
using core::ec;

namespace {

template <class F>
core::error what_comes_of(std::string_view in, F f) {
  const auto x = core::guarded("stage", "safety", in,
                               [&]() -> core::result<int> { return f(); });
  return x ? core::error{} : x.why();
}

} // namespace

BOOST_AUTO_TEST_SUITE(guarded_test)

BOOST_AUTO_TEST_CASE(results_pass) {
  BOOST_TEST((what_comes_of("run", [] { return 7; }) == core::error{}));
  const auto why = core::fail(ec::bad_payload, "not safe");
  BOOST_TEST(
    (what_comes_of("run", [&]() -> core::result<int> { return why; }) == why));
}

BOOST_AUTO_TEST_CASE(what_is_thrown_is_an_error_that_names_whose_it_is) {
  BOOST_TEST(
    (what_comes_of("run", []() -> int { throw std::runtime_error{"no model"}; })
     == core::fail(ec::internal, "stage 'safety' threw in run: "
                                 "no model")));
  BOOST_TEST((what_comes_of("", []() -> int { throw std::bad_alloc{}; })
              == core::fail(ec::out_of_resources,
                            "stage 'safety' threw: out of memory")));
  BOOST_TEST(
    (what_comes_of("end", []() -> int { throw 7; })
     == core::fail(ec::internal, "stage 'safety' threw in end: something "
                                 "that is not an exception")));
}

BOOST_AUTO_TEST_SUITE_END()
