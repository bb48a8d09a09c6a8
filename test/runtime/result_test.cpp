// SPDX-License-Identifier: Apache-2.0
#include <atelier/atelier.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

using namespace atelier;

BOOST_AUTO_TEST_SUITE(result_test)

BOOST_AUTO_TEST_CASE(value_is_what_was_asked_for) {
  result<std::string> x{std::string{"made"}};
  BOOST_TEST(bool(x));
  BOOST_TEST(x.value() == "made");
  x.value() += " twice";
  BOOST_TEST(std::as_const(x).value() == "made twice");
  // A value that cannot be copied is moved out.
  result<std::unique_ptr<int>> y{std::make_unique<int>(3)};
  const std::unique_ptr<int> moved = std::move(y).value();
  BOOST_TEST(*moved == 3);
}

BOOST_AUTO_TEST_CASE(value_of_what_was_not_done_throws_why) {
  const result<int> x{failure{"overloaded", "come back later", {}}};
  BOOST_TEST(!x);
  BOOST_TEST(x.why().code == "overloaded");
  BOOST_CHECK_EXCEPTION(x.value(), failed, [](const failed& e) {
    return std::string{e.what()} == "come back later"
        && e.why().code == "overloaded";
  });
}

BOOST_AUTO_TEST_CASE(it_is_a_variant_for_those_who_visit) {
  const answer x{failure{"cancelled", "the request was cancelled", {}}};
  BOOST_TEST(std::get<failure>(x).code == "cancelled");
  BOOST_TEST(std::get_if<generated_image>(&x) == nullptr);
  BOOST_TEST(std::visit(
    [](const auto& one) {
      return std::is_same_v<decltype(one), const failure&>;
    },
    x));
}

BOOST_AUTO_TEST_CASE(a_refusal_at_the_start_throws_its_text) {
  engine_options options;
  options.set = {"devices = 5"};
  BOOST_CHECK_EXCEPTION(
    engine::start(options).value(), failed, [](const failed& e) {
      return std::string{e.what()}.find("devices") != std::string::npos;
    });
}

BOOST_AUTO_TEST_SUITE_END()
