// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/job_index.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

namespace {

std::shared_ptr<job_entry> job(uint64_t number, std::string id,
                               std::string owner, std::string key = {}) {
  auto x = std::make_shared<job_entry>();
  x->number = number;
  x->known.id = std::move(id);
  x->known.owner = std::move(owner);
  x->idempotency_key = std::move(key);
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(job_index_test)

BOOST_AUTO_TEST_CASE(job_is_found_by_name_number_and_key) {
  job_index sut;
  const auto x = job(7, "a", "ann", "once");
  sut.add(x);
  BOOST_TEST(sut.find(job_name{"a", "ann"}) == x);
  BOOST_TEST(sut.find(7) == x);
  BOOST_TEST(sut.find_twin("ann", "once") == x);
  BOOST_TEST(!sut.find(job_name{"a", "bob"}));
  BOOST_TEST(!sut.find_twin("bob", "once"));
  BOOST_TEST(!sut.find(8));
}

BOOST_AUTO_TEST_CASE(jobs_of_one_id_and_all_jobs_come_newest_first) {
  job_index sut;
  sut.add(job(2, "a", "bob"));
  sut.add(job(3, "a", "ann"));
  sut.add(job(1, "ab", "ann"));
  const auto found = sut.find_all("a");
  BOOST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0]->number == 3u);
  BOOST_TEST(found[1]->number == 2u);
  BOOST_TEST(sut.all().begin()->first == 3u);
  BOOST_TEST(sut.size() == 3u);
}

BOOST_AUTO_TEST_CASE(removed_job_is_found_by_nothing_and_its_name_is_free) {
  job_index sut;
  const auto x = job(7, "a", "ann", "once");
  sut.add(x);
  BOOST_TEST(sut.remove(7) == x);
  BOOST_TEST(!sut.find(job_name{"a", "ann"}));
  BOOST_TEST(!sut.find(7));
  BOOST_TEST(!sut.find_twin("ann", "once"));
  BOOST_TEST(!sut.remove(7));
  sut.add(job(8, "a", "ann", "once"));
  BOOST_TEST(sut.find_twin("ann", "once")->number == 8u);
}

BOOST_AUTO_TEST_CASE(jobs_without_a_key_are_nobodys_twins) {
  job_index sut;
  sut.add(job(1, "a", "ann"));
  BOOST_TEST(!sut.find_twin("ann", ""));
}

BOOST_AUTO_TEST_CASE(number_of_a_removed_job_is_not_given_again) {
  job_index sut;
  BOOST_TEST(sut.next_number() == 1u);
  sut.add(job(7, "a", "ann"));
  sut.add(job(3, "b", "ann"));
  BOOST_TEST(sut.next_number() == 8u);
  sut.remove(7);
  sut.add(job(4, "c", "ann"));
  BOOST_TEST(sut.next_number() == 8u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
