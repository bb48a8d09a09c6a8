// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/route.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

namespace {

using namespace atelier;

struct words {
  int count = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(own_facts_test)

BOOST_AUTO_TEST_CASE(a_type_has_one_value) {
  planning::own_facts sut;
  BOOST_TEST(sut.find<words>() == nullptr);
  sut.set(words{3});
  sut.set(std::string{"blue"});
  sut.set(words{4});
  BOOST_TEST(sut.find<words>()->count == 4);
  BOOST_TEST(*sut.find<std::string>() == "blue");
}

BOOST_AUTO_TEST_CASE(facts_learn_what_is_new) {
  planning::facts known;
  known.own.set(words{3});
  known.own.set(std::string{"blue"});
  planning::facts found;
  found.own.set(words{5});
  known.learn(std::move(found));
  BOOST_TEST(known.own.find<words>()->count == 5);
  BOOST_TEST(*known.own.find<std::string>() == "blue");
}

BOOST_AUTO_TEST_CASE(what_was_asked_for_is_known_although_nothing_was_found) {
  planning::own_facts sut;
  BOOST_TEST(!sut.tried("words"));
  sut.note_tried({"words", "colours"});
  BOOST_TEST(sut.tried("words"));
  BOOST_TEST(sut.tried("colours"));
  BOOST_TEST(!sut.tried("sizes"));
}

BOOST_AUTO_TEST_SUITE_END()
