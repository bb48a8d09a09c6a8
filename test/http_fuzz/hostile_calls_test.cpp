// SPDX-License-Identifier: Apache-2.0
#include "corpus.hpp"
#include "fuzzed_door.hpp"
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/server.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <http/plain_client.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <thread>

namespace atelier::test {

namespace {

using namespace runtime::http;
using nlohmann::json;

/// One API, with a call that contains an image.
struct hostile_api {
  const char* path;
  error_shape errors;
  /// A body in which "@" marks the image.
  const char* body;
};

constexpr std::array apis{
  hostile_api{"/v1/images/edits", error_shape::openai,
              R"({"prompt":"a","image":"@"})"},
  hostile_api{"/sdapi/v1/img2img", error_shape::a1111,
              R"({"prompt":"a","init_images":["@"],"steps":4})"},
  hostile_api{"/v1/jobs", error_shape::openai,
              R"({"prompt":"a","image":"@"})"}};

/// Sends hostile calls over a socket to each API.
struct hostile_calls {
  void start() {
    with.routes = door.all().routes;
    with.settings.listen = "127.0.0.1:0";
    auto started = server::start(with);
    BOOST_TEST_REQUIRE(static_cast<bool>(started));
    sut = std::move(*started);
    const auto url = sut->url();
    port = static_cast<uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
  }

  /// Checks a refusal's status and shape; returns its text.
  std::string refused(const heard& x, unsigned status, error_shape how,
                      std::string_view path) {
    BOOST_TEST(x.status == status, path << ": " << x.body.substr(0, 300));
    reply_message reply;
    reply.status = x.status;
    reply.body = x.body;
    BOOST_TEST(fault_of(reply, how) == "", path);
    return x.body;
  }

  std::string refused_image(const hostile_api& api, const std::string& image) {
    std::string body = api.body;
    body.replace(body.find('@'), 1, image);
    auto c = plain_client{port};
    const auto x = c.ask(
      request("POST", api.path, "Content-Type: application/json\r\n", body));
    if (x.status != 202)
      return refused(x, 400, api.errors, api.path);
    // A job reports the fault of its image later.
    const auto poll = json::parse(x.body)["poll_url"].get<std::string>();
    const auto seen = c.ask(request("GET", poll));
    BOOST_TEST(seen.status == 200u);
    const auto job = json::parse(seen.body);
    BOOST_TEST(job["status"] == "failed", seen.body);
    BOOST_TEST(job["error"]["code"] == "bad_payload", seen.body);
    return seen.body;
  }

  fuzzed_door door;
  server::options with;
  std::unique_ptr<server> sut;
  uint16_t port = 0;
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(hostile_calls_test, hostile_calls)

BOOST_AUTO_TEST_CASE(paths_that_climb_are_refused) {
  start();
  for (const auto& api : apis)
    for (const std::string climb :
         {"/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
          "/..%2f..%2fetc/passwd", "/..%5c..%5cwindows", "/./x"}) {
      const auto path = api.path + climb;
      const auto text = refused(plain_client{port}.ask(request("GET", path)),
                                400, api.errors, path);
      BOOST_TEST(has(text, "segment"), text);
    }
}

BOOST_AUTO_TEST_CASE(no_address_is_fetched) {
  start();
  for (const auto& api : apis)
    for (const auto* address :
         {"http://169.254.169.254/latest/meta-data/", "https://localhost/a.png",
          "file:///etc/passwd", "ftp://10.0.0.1/a", "gopher://127.0.0.1:70/1",
          "data:text/html;base64,PGh0bWw+", "//127.0.0.1/a.png",
          "/etc/passwd"}) {
      const auto text = refused_image(api, address);
      BOOST_TEST(!has(text, "root:"), text);
    }
}

BOOST_AUTO_TEST_CASE(a_image_of_50000_times_50000_is_refused_by_its_head) {
  start();
  const auto all = corpus::read();
  std::string bomb;
  for (const auto& [name, file] : all.images)
    if (name == "bomb.png")
      bomb =
        to_base64({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
  BOOST_TEST_REQUIRE(!bomb.empty());
  for (const auto& api : apis)
    BOOST_TEST(has(refused_image(api, bomb), "50000"), api.path);
}

BOOST_AUTO_TEST_CASE(a_form_of_10000_parts_is_refused) {
  start();
  std::string body;
  for (int i = 0; i < 10'000; ++i)
    body += fmt::format(
      "--XX\r\nContent-Disposition: form-data; name=\"p{}\"\r\n\r\n1\r\n", i);
  body += "--XX--\r\n";
  for (const auto& api : apis) {
    const auto text =
      refused(plain_client{port}.ask(request(
                "POST", api.path,
                "Content-Type: multipart/form-data; boundary=XX\r\n", body)),
              400, api.errors, api.path);
    // The other APIs have no forms.
    BOOST_TEST(has(text, std::string_view{api.path} == "/v1/images/edits"
                           ? "64 parts"
                           : "JSON object"),
               text);
  }
}

BOOST_AUTO_TEST_CASE(a_prompt_of_100_mb_is_refused_before_it_is_read) {
  start();
  for (const auto& api : apis) {
    // Only the length of the body is sent.
    auto c = plain_client{port};
    const auto told =
      c.ask(fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\n"
                        "Content-Length: 100000000\r\n\r\n",
                        api.path));
    BOOST_TEST(has(refused(told, 413, api.errors, api.path), "100000000"));
  }
  BOOST_TEST(sut->counts().body_bytes_held == 0u);
}

BOOST_AUTO_TEST_CASE(a_prompt_of_100_mb_in_chunks_is_cut_off) {
  start();
  for (const auto& api : apis) {
    auto c = plain_client{port};
    std::thread sending{[&] {
      c.send(fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n"
                         "5f5e100\r\n{{\"prompt\":\"",
                         api.path));
      const std::string block(1 << 20, 'x');
      for (int i = 0; i < 100 && c.send(block); ++i) {
      }
    }};
    const auto x = c.hear();
    sending.join();
    refused(x, 413, api.errors, api.path);
  }
}

BOOST_AUTO_TEST_CASE(a_prompt_of_100_mb_that_may_come_is_refused_by_its_field) {
  with.settings.body_bytes = 200'000'000;
  with.settings.read = std::chrono::minutes{5};
  start();
  const auto body = "{\"prompt\":\"" + std::string(100'000'000, 'x') + "\"}";
  for (const auto* path :
       {"/v1/images/generations", "/sdapi/v1/txt2img", "/v1/jobs"}) {
    auto how = error_shape::openai;
    for (const auto& api : apis)
      if (std::string_view{path}.substr(0, 7)
          == std::string_view{api.path}.substr(0, 7))
        how = api.errors;
    const auto text = refused(
      plain_client{port}.ask(request("POST", path, {}, body)), 400, how, path);
    BOOST_TEST(has(text, "prompt has 100000000 bytes"), text);
    BOOST_TEST(text.size() < 1000u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
