// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/restored_jobs.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

namespace {

std::vector<generation> requests(const std::vector<std::string>& prompts) {
  std::vector<generation> out(prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i)
    out[i].prompt = prompts[i];
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(restored_jobs_test)

BOOST_AUTO_TEST_CASE(requests_are_there_until_their_job_ends) {
  restored_jobs sut;
  sut.add(7, requests({"a", "b"}));
  sut.add(3, requests({"c"}));
  BOOST_TEST((sut.all() == std::vector<uint64_t>{3, 7}));
  BOOST_TEST(sut.request(7, 1).prompt == "b");
  BOOST_TEST(sut.contains(7));
  sut.end(7);
  sut.end(8);
  BOOST_TEST(!sut.contains(7));
  BOOST_TEST((sut.all() == std::vector<uint64_t>{3}));
}

BOOST_AUTO_TEST_CASE(suspect_request_is_submitted_again_as_suspect) {
  restored_jobs sut;
  sut.add(7, requests({"a", "b"}));
  sut.suspect(7, 1, {"finishing", 0, 3, 1});
  BOOST_TEST(sut.request(7, 0).suspected.trials == 0u);
  BOOST_TEST(sut.request(7, 1).suspected.trials == 1u);
  BOOST_TEST(sut.request(7, 1).suspected.phase == "finishing");
}

BOOST_AUTO_TEST_CASE(suspicion_against_an_unknown_image_changes_nothing) {
  restored_jobs sut;
  sut.add(7, requests({"a"}));
  sut.suspect(7, 1, {"finishing", 0, 3, 1});
  sut.suspect(8, 0, {"finishing", 0, 3, 1});
  BOOST_TEST(!sut.contains(8));
  BOOST_TEST(sut.request(7, 0).suspected.trials == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
