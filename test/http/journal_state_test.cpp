// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/journal_state.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

namespace {

/// Calls all of them, and returns their number.
size_t call(const std::vector<journal_state::call>& x) {
  for (const auto& one : x)
    one();
  return x.size();
}

} // namespace

BOOST_AUTO_TEST_SUITE(journal_state_test)

BOOST_AUTO_TEST_CASE(repeated_call_waits_until_the_journal_was_asked) {
  journal_state sut;
  int called = 0;
  BOOST_TEST(sut.is_undecided());
  sut.wait([&] { ++called; });
  sut.wait([&] { ++called; });
  sut.doubt();
  BOOST_TEST(sut.is_undecided());
  BOOST_TEST(call(sut.keep()) == 2u);
  BOOST_TEST(called == 2);
  BOOST_TEST(!sut.is_undecided());
  BOOST_TEST(sut.is_kept());
  // Each is called once.
  BOOST_TEST(call(sut.keep()) == 0u);
}

BOOST_AUTO_TEST_CASE(job_is_in_doubt_until_the_journal_answers) {
  journal_state sut;
  BOOST_TEST(!sut.is_in_doubt());
  sut.doubt();
  sut.keep();
  BOOST_TEST(sut.is_in_doubt());
  sut.answer();
  BOOST_TEST(!sut.is_in_doubt());
  BOOST_TEST(sut.is_kept());
}

BOOST_AUTO_TEST_CASE(refused_job_is_not_kept_whatever_comes_first) {
  for (const bool asked_first : {false, true}) {
    journal_state sut;
    sut.wait([] {});
    if (asked_first)
      BOOST_TEST(call(sut.keep()) == 1u);
    BOOST_TEST(call(sut.refuse({"full", "no room", {}}))
               == (asked_first ? 0u : 1u));
    BOOST_TEST(call(sut.keep()) == 0u);
    BOOST_TEST(!sut.is_kept());
    BOOST_TEST(!sut.is_undecided());
    BOOST_TEST_REQUIRE(sut.refusal().has_value());
    BOOST_TEST(sut.refusal()->code == "full");
  }
}

BOOST_AUTO_TEST_CASE(dropped_callbacks_are_not_returned) {
  journal_state sut;
  sut.wait([] {});
  sut.drop_waiting();
  BOOST_TEST(sut.keep().empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
