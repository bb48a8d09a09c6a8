// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/result.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <set>

using namespace atelier::core;

BOOST_AUTO_TEST_SUITE(error_test)

BOOST_AUTO_TEST_CASE(every_code_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(ec::internal); ++i) {
    const auto name = to_string(static_cast<ec>(i));
    BOOST_TEST(name != "unknown");
    BOOST_TEST(names.insert(name).second);
  }
  BOOST_TEST(to_string(static_cast<ec>(200)) == "unknown");
}

BOOST_AUTO_TEST_CASE(fail_formats_its_sentence) {
  const error what = fail(ec::not_found, "model '{}' of {}", "x", 3);
  BOOST_TEST(what.text == "model 'x' of 3");
  BOOST_TEST(to_string(what) == "not_found: model 'x' of 3");
}

BOOST_AUTO_TEST_CASE(result_holds_a_value_or_an_error) {
  result<int> good = 7;
  BOOST_TEST(static_cast<bool>(good));
  BOOST_TEST(*good == 7);
  result<int> bad = fail(ec::io_failed, "no");
  BOOST_TEST(!bad);
  BOOST_TEST(bad.why().text == "no");
  result<void> done;
  BOOST_TEST(static_cast<bool>(done));
  result<void> not_done = fail(ec::stopping, "late");
  BOOST_TEST(!not_done);
  BOOST_TEST((not_done.why().code == ec::stopping));
}

BOOST_AUTO_TEST_CASE(result_moves_what_cannot_be_copied) {
  result<std::unique_ptr<int>> sut = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = *std::move(sut);
  BOOST_TEST(*taken == 5);
}

BOOST_AUTO_TEST_SUITE_END()
