// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/request_account.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace atelier::runtime::http::detail {

namespace {

/// An account whose server notes what it counts and logs.
struct rig {
  server::options options() {
    server::options out;
    out.done = [this](const std::string& method, const std::string&,
                      unsigned status, double seconds) {
      done.push_back(method + " " + std::to_string(status));
      took = seconds;
    };
    out.log = [this](const answered_request& x) {
      logged.push_back(std::string{x.client} + " " + std::to_string(x.bytes));
    };
    return out;
  }

  void close(unsigned status) {
    sut.close(status, entry, "peer", start + 2s);
  }

  const core::time_point start{1h};
  std::vector<std::string> done;
  std::vector<std::string> logged;
  double took = 0;
  std::shared_ptr<server_state> state =
    std::make_shared<server_state>(options(), true);
  authentication::entry entry;
  request_account sut{state};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(request_account_test, rig)

BOOST_AUTO_TEST_CASE(request_is_counted_once_and_the_server_rests_then) {
  sut.begin(start);
  sut.method("POST");
  sut.work();
  BOOST_TEST(state->busy == 1u);
  BOOST_TEST(state->counts->requests == 1u);
  sut.answer(200);
  sut.sent(10);
  sut.sent(5);
  close(sut.status());
  close(499);
  BOOST_TEST((done == std::vector<std::string>{"POST 200"}));
  BOOST_TEST((logged == std::vector<std::string>{"peer 15"}));
  BOOST_TEST(took == 2.0);
  BOOST_TEST(state->busy == 0u);
  BOOST_TEST(state->counts->replies[2] == 1u);
  BOOST_TEST(state->counts->replies[4] == 0u);
}

BOOST_AUTO_TEST_CASE(client_that_leaves_before_the_answer_is_counted) {
  sut.begin(start);
  sut.work();
  close(499);
  BOOST_TEST(state->counts->replies[4] == 1u);
  BOOST_TEST(state->busy == 0u);
}

BOOST_AUTO_TEST_CASE(refused_request_is_counted_without_work) {
  sut.begin(start);
  sut.answer(408);
  entry.client = "behind the proxy";
  close(sut.status());
  BOOST_TEST((done == std::vector<std::string>{" 408"}));
  BOOST_TEST((logged == std::vector<std::string>{"behind the proxy 0"}));
}

BOOST_AUTO_TEST_CASE(connection_without_a_request_counts_nothing) {
  close(499);
  BOOST_TEST(done.empty());
  BOOST_TEST(logged.empty());
}

BOOST_AUTO_TEST_CASE(next_request_begins_with_no_bytes_sent) {
  sut.begin(start);
  sut.answer(200);
  sut.sent(10);
  close(200);
  sut.begin(start);
  sut.answer(404);
  sut.sent(3);
  close(404);
  BOOST_TEST((logged == std::vector<std::string>{"peer 10", "peer 3"}));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
