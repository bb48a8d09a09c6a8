// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/forgotten_names.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

BOOST_AUTO_TEST_SUITE(forgotten_names_test)

BOOST_AUTO_TEST_CASE(name_is_known_to_its_owner_and_its_id_to_all) {
  forgotten_names sut{2};
  sut.remember({"a", "bob"});
  BOOST_TEST(sut.contains(job_name{"a", "bob"}));
  BOOST_TEST(!sut.contains(job_name{"a", "ann"}));
  BOOST_TEST(sut.contains(std::string{"a"}));
  BOOST_TEST(!sut.contains(std::string{""}));
  BOOST_TEST(!sut.contains(std::string{"b"}));
}

BOOST_AUTO_TEST_CASE(oldest_names_go_where_there_are_too_many) {
  forgotten_names sut{2};
  sut.remember("a");
  sut.remember("b");
  sut.remember("a");
  sut.remember("c");
  BOOST_TEST(!sut.contains(job_name{"a"}));
  BOOST_TEST(sut.contains(job_name{"b"}));
  BOOST_TEST(sut.contains(job_name{"c"}));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
