// SPDX-License-Identifier: Apache-2.0
#include "support/fake_exchange.hpp"
#include "support/fake_images.hpp"
#include <atelier/core/sha256.hpp>
#include <atelier/runtime/http/doors.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::test {

using namespace runtime::http;

namespace {

/// All APIs of a server with keys, whose engine is the test.
struct keys_rig {
  explicit keys_rig(uint32_t images, uint32_t steps, uint32_t jobs = 10'000)
    : callers(std::make_shared<access>(std::vector<access_key>{
      {"ann", core::sha256_hex("apple"), scope::user, 0, images, steps},
      {"bob", core::sha256_hex("banana"), scope::user, 0}})) {
    const auto condition = std::make_shared<health>(
      engine, "1.2.3", [] { return core::time_point{}; });
    settings.http.jobs = jobs;
    made =
      doors::make({engine, condition, settings, nullptr, nullptr, {}, callers});
  }

  std::shared_ptr<fake_exchange> post(std::string path,
                                      const nlohmann::json& body,
                                      std::string key = "ann",
                                      fields headers = {}) {
    request_message x;
    x.method = "POST";
    x.path = std::move(path);
    x.body = body.dump();
    x.headers = std::move(headers);
    x.headers.emplace_back("content-type", "application/json");
    x.key = std::move(key);
    x.caller = scope::user;
    const auto match = made.routes->find(x.method, x.path);
    auto e = std::make_shared<fake_exchange>(std::move(x));
    match.found->answer(e);
    return e;
  }

  /// Returns the states of ann's jobs, newest first.
  std::vector<std::string> states() {
    request_message x;
    x.method = "GET";
    x.path = "/v1/jobs";
    x.key = "ann";
    x.caller = scope::user;
    auto e = std::make_shared<fake_exchange>(std::move(x));
    made.routes->find("GET", "/v1/jobs").found->answer(e);
    std::vector<std::string> out;
    const auto told = e->body();
    for (const auto& one : told["data"])
      out.push_back(one["status"]);
    return out;
  }

  /// Checks that a call is refused for now, and names the limit.
  static void check_refused(const fake_exchange& x, const std::string& limit) {
    BOOST_TEST_REQUIRE(x.status() == 429u);
    BOOST_TEST(x.answered->body.find(limit) != std::string::npos,
               x.answered->body);
    BOOST_TEST(x.answered->body.find("rate_limit_exceeded")
               != std::string::npos);
    const auto wait = find_field(x.answered->headers, "Retry-After");
    BOOST_TEST_REQUIRE(!wait.empty());
    BOOST_TEST(std::stoi(std::string{wait}) >= 1);
    BOOST_TEST(std::stoi(std::string{wait}) <= 60);
  }

  std::shared_ptr<fake_images> engine = std::make_shared<fake_images>();
  config::settings settings;
  std::shared_ptr<access> callers;
  doors made;
};

} // namespace

BOOST_AUTO_TEST_SUITE(limits_of_keys_test)

BOOST_AUTO_TEST_CASE(each_api_counts_the_images_of_a_key) {
  keys_rig rig{6, 0};
  BOOST_TEST(rig.post("/v1/jobs", {{"prompt", "a"}, {"n", 2}})->status()
             == 202u);
  const auto drawn =
    rig.post("/v1/images/generations", {{"prompt", "a"}, {"n", 2}});
  const auto webui = rig.post(
    "/sdapi/v1/txt2img", {{"prompt", "a"}, {"batch_size", 1}, {"n_iter", 2}});
  BOOST_TEST(!drawn->answered);
  BOOST_TEST(!webui->answered);
  BOOST_TEST(rig.engine->count() == 6u);
  rig.check_refused(*rig.post("/v1/jobs", {{"prompt", "a"}}),
                    "6 that its key has per minute (images_per_minute)");
  rig.check_refused(*rig.post("/v1/images/generations", {{"prompt", "a"}}),
                    "images_per_minute");
  rig.check_refused(*rig.post("/sdapi/v1/txt2img", {{"prompt", "a"}}),
                    "images_per_minute");
  BOOST_TEST(rig.engine->count() == 6u);
  BOOST_TEST(rig.post("/v1/jobs", {{"prompt", "a"}, {"n", 9}}, "bob")->status()
             == 202u);
}

BOOST_AUTO_TEST_CASE(steps_are_those_of_all_images) {
  keys_rig rig{0, 0};
  const auto own = rig.engine->known.front().steps;
  rig.callers->replace(
    {{"ann", core::sha256_hex("apple"), scope::user, 0, 0, 4 * own}});
  BOOST_TEST(rig.post("/v1/jobs", {{"prompt", "a"}, {"n", 2}})->status()
             == 202u);
  BOOST_TEST(rig.post("/v1/jobs", {{"prompt", "a"}, {"steps", own}})->status()
             == 202u);
  rig.check_refused(
    *rig.post("/v1/images/generations", {{"prompt", "a"}, {"n", 2}}),
    "(steps_per_minute)");
  rig.check_refused(
    *rig.post("/v1/jobs", {{"prompt", "a"}, {"steps", own + 1}}),
    "(steps_per_minute)");
}

BOOST_AUTO_TEST_CASE(a_call_above_a_whole_limit_is_wrong) {
  keys_rig rig{3, 0};
  const auto x = rig.post("/v1/jobs", {{"prompt", "a"}, {"n", 4}});
  BOOST_TEST(x->status() == 400u);
  BOOST_TEST(x->body()["error"]["message"]
             == "the call asks for 4 images, and its key has 3 per minute "
                "(images_per_minute)");
}

BOOST_AUTO_TEST_CASE(calls_that_are_refused_or_repeated_take_nothing) {
  keys_rig rig{3, 0};
  rig.engine->refuse_after = 1;
  BOOST_TEST(rig.post("/v1/jobs", {{"prompt", "a"}, {"n", 3}})->status()
             == 429u);
  rig.engine->refuse_after.reset();
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(rig
                 .post("/v1/jobs", {{"prompt", "a"}, {"n", 3}}, "ann",
                       {{"idempotency-key", "k"}})
                 ->status()
               == 202u);
  rig.check_refused(*rig.post("/v1/jobs", {{"prompt", "a"}}),
                    "images_per_minute");
}

BOOST_AUTO_TEST_CASE(call_that_an_allowance_refuses_leaves_the_earlier_job) {
  using texts = std::vector<std::string>;
  keys_rig rig{3, 0};
  const auto call = [&] {
    return rig.post("/v1/images/generations", {{"prompt", "a"}, {"n", 2}},
                    "ann", {{"idempotency-key", "k"}});
  };
  call();
  rig.engine->fail(1, "internal");
  BOOST_TEST(rig.states() == texts{"failed"}, boost::test_tools::per_element());
  rig.check_refused(*call(), "images_per_minute");
  BOOST_TEST(rig.states() == texts{"failed"}, boost::test_tools::per_element());
  rig.callers->give_images_back("ann", 2, 0);
  BOOST_TEST(!call()->answered);
  BOOST_TEST(rig.states() == texts{"queued"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(requests_have_the_share_of_their_key) {
  keys_rig rig{0, 0};
  rig.callers->replace(
    {{"ann", core::sha256_hex("apple"), scope::user, 0, 0, 0, 7},
     {"bob", core::sha256_hex("banana"), scope::user}});
  rig.post("/v1/jobs", {{"prompt", "a"}});
  rig.post("/v1/images/generations", {{"prompt", "a"}});
  rig.post("/v1/jobs", {{"prompt", "a"}}, "bob");
  BOOST_TEST(rig.engine->at(1).wanted.share == 7u);
  BOOST_TEST(rig.engine->at(2).wanted.share == 7u);
  BOOST_TEST(rig.engine->at(3).wanted.share == 1u);
}

BOOST_AUTO_TEST_CASE(call_that_finds_no_room_for_its_job_takes_nothing) {
  keys_rig rig{2, 0, 1};
  BOOST_TEST(rig.post("/v1/jobs", {{"prompt", "a"}})->status() == 202u);
  const auto refused = rig.post("/v1/jobs", {{"prompt", "a"}});
  BOOST_TEST(refused->status() == 429u);
  BOOST_TEST(refused->answered->body.find("http.jobs") != std::string::npos);
  rig.engine->finish(1);
  BOOST_TEST(rig.post("/v1/jobs", {{"prompt", "a"}})->status() == 202u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
