// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/make_classifier.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;

BOOST_AUTO_TEST_SUITE(make_classifier_test)

BOOST_AUTO_TEST_CASE(without_a_folder_there_is_none) {
  const auto x = runtime::make_classifier({});
  BOOST_REQUIRE(!x);
  BOOST_CHECK(x.why().code == core::ec::not_found);
  BOOST_TEST(x.why().text == "classifier.folder: it names none");
}

#ifdef ATELIER_WITH_TORCH
BOOST_AUTO_TEST_CASE(the_shipped_one_is_opened) {
  config::settings s;
  s.classifier.folder = ATELIER_SOURCE_DIR "/models/classifier";
  const auto x = runtime::make_classifier(s);
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_TEST((*x)->levels().size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_not_there_is_told_by_its_option) {
  config::settings s;
  s.classifier.folder = "/nowhere";
  const auto x = runtime::make_classifier(s);
  BOOST_REQUIRE(!x);
  BOOST_CHECK(x.why().code == core::ec::not_found);
  BOOST_TEST(
    x.why().text.starts_with("classifier.folder: /nowhere/config.json"),
    x.why().text);
}
#else
BOOST_AUTO_TEST_CASE(a_build_without_models_says_so) {
  config::settings s;
  s.classifier.folder = ATELIER_SOURCE_DIR "/models/classifier";
  const auto x = runtime::make_classifier(s);
  BOOST_REQUIRE(!x);
  BOOST_CHECK(x.why().code == core::ec::not_found);
  BOOST_TEST(x.why().text.ends_with(
    "classifiers are not built in (configure with ATELIER_WITH_TORCH=ON for "
    "models)"));
}
#endif

BOOST_AUTO_TEST_SUITE_END()
