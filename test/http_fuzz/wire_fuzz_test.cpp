// SPDX-License-Identifier: Apache-2.0
#include "corpus.hpp"
#include "fuzzed_door.hpp"
#include <atelier/runtime/http/server.hpp>

#include <boost/test/unit_test.hpp>
#include <http/plain_client.hpp>
#include <support/eventually.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

namespace atelier::test {

namespace {

using namespace runtime::http;

/// A real server with all APIs, on a free port.
struct wire_fuzz {
  wire_fuzz() {
    server::options with;
    with.settings = fuzzed_door::settings().http;
    with.settings.listen = "127.0.0.1:0";
    with.settings.read = std::chrono::seconds{5};
    with.routes = door.all().routes;
    auto started = server::start(with);
    BOOST_TEST_REQUIRE(static_cast<bool>(started));
    sut = std::move(*started);
    const auto url = sut->url();
    port = static_cast<uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
  }

  const corpus from = corpus::read();
  fuzzed_door door;
  std::unique_ptr<server> sut;
  uint16_t port = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(wire_fuzz_test, wire_fuzz)

BOOST_AUTO_TEST_CASE(connections_end_in_order) {
  mutator changes{seed(), 9, from.words};
  const auto count = scaled(30'000);
  size_t good = 0;
  for (size_t i = 0; i < count; ++i) {
    std::string text;
    for (auto n = 1 + changes.below(2); n > 0; --n)
      text +=
        changes.spoil(changes.pick(from.requests), changes.pick(from.requests));
    plain_client c{port};
    // The request is sent in two pieces. The server may have refused it after
    // the first.
    const auto cut = changes.below(text.size() + 1);
    c.send(std::string_view{text}.substr(0, cut));
    c.send(std::string_view{text}.substr(cut));
    if (changes.below(4) == 0) {
      c.reset();
      continue;
    }
    c.shut();
    const auto x = c.hear();
    const bool fine = x.status < 500 || x.status == 501 || x.status == 505;
    if (!fine)
      BOOST_FAIL("execution " << i << ": status " << x.status << "\n"
                              << x.body << "\n"
                              << text);
    good += x.status == 200 || x.status == 202 ? 1u : 0u;
  }
  BOOST_TEST(good * 50 > count);
  // Nothing remains of any input, and a valid client is served.
  BOOST_TEST(eventually([&] { return sut->counts().open_connections == 0; }));
  BOOST_TEST(sut->counts().body_bytes_held == 0u);
  BOOST_TEST(plain_client{port}.ask(request("GET", "/health")).status != 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
