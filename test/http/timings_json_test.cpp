// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/timings_json.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(timings_json_test)

BOOST_AUTO_TEST_CASE(times_come_back_as_they_went) {
  timings x;
  x.queue = 1500us;
  x.denoise = 2s;
  x.postprocess = 1ns;
  x.total = 10min;
  const auto text = timings_json(x).dump();
  BOOST_TEST(
    text.starts_with(R"({"queue":1.5,"classify":0.0,"retrieve":0.0,)"));
  const auto back = read_timings(nlohmann::json::parse(text));
  BOOST_TEST((back.queue == x.queue));
  BOOST_TEST((back.denoise == x.denoise));
  BOOST_TEST((back.postprocess == x.postprocess));
  BOOST_TEST((back.total == x.total));
  BOOST_TEST((back.decode == 0ns));
}

BOOST_AUTO_TEST_CASE(what_is_no_time_is_none) {
  for (const auto* text :
       {"null", "[1]", "7", "{}", R"({"total":"1"})", R"({"total":-1})",
        R"({"total":1e300})", R"({"total":null})"})
    BOOST_TEST((read_timings(nlohmann::json::parse(text)).total == 0ns), text);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http
