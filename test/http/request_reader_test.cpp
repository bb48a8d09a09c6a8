// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/runtime/http/detail/connection/request_reader.hpp>

#include <boost/test/unit_test.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <algorithm>
#include <array>

namespace atelier::runtime::http::detail {

namespace {

using stage = request_reader::stage;

constexpr request_reader::limits some{2048, 4096, 16};

/// Passes the bytes in pieces of `piece` bytes, as a connection does; returns
/// the rest after the request.
std::string feed(request_reader& to, std::string_view bytes, size_t piece) {
  std::string waiting;
  while (!bytes.empty()) {
    const auto now = bytes.substr(0, piece);
    bytes.remove_prefix(now.size());
    waiting += now;
    for (;;) {
      if (to.where() == stage::done || to.where() == stage::failed)
        return waiting + std::string{bytes};
      const auto before = to.where();
      const auto used = to.feed(waiting);
      BOOST_TEST_REQUIRE(used <= waiting.size());
      waiting.erase(0, used);
      if (used == 0 && to.where() == before)
        break;
    }
  }
  return waiting;
}

unsigned status_of(const std::string& text,
                   request_reader::limits within = some,
                   size_t piece = 1 << 20) {
  request_reader x{within};
  feed(x, text, piece);
  return x.where() == stage::failed ? x.why().status : 0;
}

std::string get(const std::string& more = {}) {
  return "GET / HTTP/1.1\r\nHost: a\r\n" + more + "\r\n";
}

} // namespace

BOOST_AUTO_TEST_SUITE(request_reader_test)

BOOST_AUTO_TEST_CASE(a_request_is_read_in_pieces_of_any_size) {
  const std::string text =
    "POST /a?b HTTP/1.1\r\nHost: here\r\nX-Some:  Thing \r\nContent-Length: "
    "5\r\n\r\nhelloGET /";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    request_reader x{some};
    const auto rest = feed(x, text, piece);
    BOOST_TEST_REQUIRE((x.where() == stage::done));
    BOOST_TEST(rest == "GET /");
    BOOST_TEST(x.target() == "/a?b");
    BOOST_TEST(x.message().method == "POST");
    BOOST_TEST(x.message().body == "hello");
    BOOST_TEST(find_field(x.message().headers, "x-some") == "Thing");
    BOOST_TEST(x.keeps_alive());
    BOOST_TEST(x.version() == 11u);
  }
}

BOOST_AUTO_TEST_CASE(chunks_are_joined_and_trailers_dropped) {
  const std::string text =
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
    "5;x=y\r\nhello\r\n1\r\n \r\nA\r\n0123456789\r\n0\r\nX-Api-Key: k\r\n\r\nZ";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    request_reader x{some};
    const auto rest = feed(x, text, piece);
    BOOST_TEST_REQUIRE((x.where() == stage::done));
    BOOST_TEST(rest == "Z");
    BOOST_TEST(x.message().body == "hello 0123456789");
    BOOST_TEST(find_field(x.message().headers, "x-api-key").empty());
    BOOST_TEST(!x.declared_bytes().has_value());
  }
}

BOOST_AUTO_TEST_CASE(the_head_stops_before_the_body) {
  request_reader x{some};
  const std::string text =
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
    "Expect: 100-Continue\r\nConnection: close\r\n\r\nabc";
  const auto used = x.feed(text);
  BOOST_TEST(used == text.size() - 3);
  BOOST_TEST((x.where() == stage::body));
  BOOST_TEST((x.declared_bytes() == 3u));
  BOOST_TEST(x.expects_continue());
  BOOST_TEST(!x.keeps_alive());
}

BOOST_AUTO_TEST_CASE(empty_lines_before_a_request_are_skipped) {
  request_reader x{some};
  feed(x, "\r\n\r\n" + get(), 1);
  BOOST_TEST((x.where() == stage::done));
  std::string endless;
  for (int i = 0; i < 2000; ++i)
    endless += "\r\n";
  BOOST_TEST(status_of(endless) == 431u);
}

BOOST_AUTO_TEST_CASE(what_two_readers_could_take_differently_is_refused) {
  const auto post = [](const std::string& more) {
    return status_of("POST / HTTP/1.1\r\nHost: a\r\n" + more
                     + "\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n");
  };
  BOOST_TEST(post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")
             == 400u);
  BOOST_TEST(post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")
             == 400u);
  BOOST_TEST(post("Content-Length: 5\r\nContent-Length: 6\r\n") == 400u);
  BOOST_TEST(post("Content-Length: 5\r\nContent-Length: 5\r\n") == 400u);
  BOOST_TEST(post("Content-Length: 5, 5\r\n") == 400u);
  BOOST_TEST(post("Content-Length: +5\r\n") == 400u);
  BOOST_TEST(post("Content-Length: -1\r\n") == 400u);
  BOOST_TEST(post("Content-Length: 0x5\r\n") == 400u);
  BOOST_TEST(post("Content-Length: 5 5\r\n") == 400u);
  BOOST_TEST(post("Content-Length:\r\n") == 400u);
  BOOST_TEST(post("Content-Length: 99999999999999999999\r\n") == 400u);
  BOOST_TEST(post("Content-Length: 18446744073709551616\r\n") == 400u);
  BOOST_TEST(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: "
                  "chunked\r\n")
             == 400u);
  BOOST_TEST(post("Transfer-Encoding: identity\r\nTransfer-Encoding: "
                  "chunked\r\n")
             == 400u);
  BOOST_TEST(post("Transfer-Encoding: gzip, chunked\r\n") == 501u);
  BOOST_TEST(post("Transfer-Encoding: chunked, identity\r\n") == 501u);
  BOOST_TEST(post("Transfer-Encoding: xchunked\r\n") == 501u);
  BOOST_TEST(post("Transfer-Encoding: \"chunked\"\r\n") == 501u);
  BOOST_TEST(post("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n") == 400u);
  BOOST_TEST(post("Transfer-Encoding : chunked\r\n") == 400u);
  BOOST_TEST(post("Content-Length : 5\r\n") == 400u);
  BOOST_TEST(post("Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n")
             == 400u);
  BOOST_TEST(status_of("POST / HTTP/1.0\r\nTransfer-Encoding: "
                       "chunked\r\n\r\n0\r\n\r\n")
             == 400u);
}

BOOST_AUTO_TEST_CASE(a_host_is_named_once) {
  BOOST_TEST(status_of("GET / HTTP/1.1\r\n\r\n") == 400u);
  BOOST_TEST(status_of("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n") == 400u);
  BOOST_TEST(status_of("GET / HTTP/1.1\r\nHost:\r\n\r\n") == 400u);
  BOOST_TEST(status_of("GET / HTTP/1.0\r\nHost: \r\n\r\n") == 400u);
  BOOST_TEST(status_of("GET / HTTP/1.0\r\n\r\n") == 0u);
}

BOOST_AUTO_TEST_CASE(fields_of_which_readers_take_one_come_once) {
  for (const std::string name :
       {"Origin", "Authorization", "X-API-Key", "Content-Type", "Expect"})
    BOOST_TEST(
      status_of(get(name + ": 100-continue\r\n" + name + ": 100-continue\r\n"))
        == 400u,
      name);
  BOOST_TEST(status_of(get("Accept: a\r\nAccept: b\r\n")) == 0u);
}

BOOST_AUTO_TEST_CASE(folded_lines_are_refused_however_they_come) {
  for (const size_t piece : {size_t{1}, size_t{9}, size_t{1} << 20}) {
    for (const std::string fields :
         {"A: b\r\n c\r\n", "A:\r\n\tb\r\n", "Content-Length:\r\n 33\r\n",
          "Transfer-Encoding:\r\n chunked\r\n"})
      BOOST_TEST(status_of(get(fields), some, piece) == 400u, fields);
    BOOST_TEST(status_of("GET / HTTP/1.1\r\n Host: a\r\n\r\n", some, piece)
               == 400u);
  }
}

BOOST_AUTO_TEST_CASE(lines_end_with_both_characters) {
  for (const size_t piece : {size_t{1}, size_t{9}, size_t{1} << 20}) {
    for (const std::string text :
         {"GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\rHost: a\r\r",
          "GET / HTTP/1.1\r\nHost: a\n\r\n", "\nGET / HTTP/1.1\r\n",
          "GET / HTTP/1.1\r\nHost: a\r\nB: c\n\r\n"})
      BOOST_TEST(status_of(text, some, piece) == 400u, text);
    const std::string chunked =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const std::string text :
         {"1\na\r\n0\r\n\r\n", "1\r\na\n0\r\n\r\n", "1\r\na\r\n0\n\n",
          "1\ra\r\n0\r\n\r\n", "0\r\nA: b\n\r\n", "0\r\nA: b\r\n c\r\n\r\n",
          ";x\r\na\r\n0\r\n\r\n"})
      BOOST_TEST(status_of(chunked + text, some, piece) == 400u, text);
    BOOST_TEST(status_of(chunked + "1\r\n\n\r\n0\r\n\r\n", some, piece) == 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_malformed_head_still_says_what_it_asks_for) {
  request_reader x{some};
  feed(x, "GET /sdapi/v1/x HTTP/1.1\nHost: a\n\n", 1 << 20);
  BOOST_TEST((x.where() == stage::failed));
  BOOST_TEST(x.target() == "/sdapi/v1/x");
}

BOOST_AUTO_TEST_CASE(what_is_no_http_is_refused) {
  for (const std::string text :
       {"\x16\x03\x01\x02\x00\x01", "GET\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n",
        "G\tET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost a\r\n\r\n", "GET / HTTP/1.1\r\n: a\r\n\r\n",
        "GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nB: \x01\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nB: c\rd\r\n\r\n"})
    BOOST_TEST(status_of(text) == 400u, text);
  BOOST_TEST(status_of("GET / HTTP/2.0\r\nHost: a\r\n\r\n") == 505u);
  BOOST_TEST(status_of("GET / HTTP/1.2\r\nHost: a\r\n\r\n") == 505u);
  BOOST_TEST(status_of(get("Expect: tea\r\n")) == 417u);
}

BOOST_AUTO_TEST_CASE(large_heads_are_refused_however_they_come) {
  const std::string value(3000, 'a');
  for (const size_t piece : {size_t{1}, size_t{100}, size_t{1} << 20}) {
    BOOST_TEST(status_of(get("B: " + value + "\r\n"), some, piece) == 431u);
    BOOST_TEST(status_of("GET /" + value, some, piece) == 431u);
    std::string endless = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (int i = 0; i < 15; ++i)
      endless += "F" + std::to_string(i) + ": " + value.substr(0, 200) + "\r\n";
    BOOST_TEST(status_of(endless, some, piece) == 431u);
  }
  std::string many;
  for (int i = 0; i < 16; ++i)
    many += "A: b\r\n";
  BOOST_TEST(status_of(get(many)) == 431u);
  BOOST_TEST(status_of(get(many.substr(6))) == 0u);
}

BOOST_AUTO_TEST_CASE(a_head_may_be_as_large_as_its_limit) {
  const auto rest = get("B: \r\n").size();
  const auto of = [&](size_t size) {
    return get("B: " + std::string(size - rest, 'a') + "\r\n");
  };
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{1} << 20}) {
    BOOST_TEST(status_of(of(2048), some, piece) == 0u);
    BOOST_TEST(status_of(of(2049), some, piece) == 431u);
  }
}

BOOST_AUTO_TEST_CASE(large_bodies_are_refused) {
  const std::string chunked =
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto chunk = "1000\r\n" + std::string(4096, 'a') + "\r\n";
  BOOST_TEST(status_of(chunked + chunk + "0\r\n\r\n") == 0u);
  BOOST_TEST(status_of(chunked + chunk + "1\r\na\r\n0\r\n") == 413u);
  // The refusal comes before the promised bytes.
  BOOST_TEST(status_of(chunked + "FFFFFFFFFFFFFFFF\r\na") == 413u);
  BOOST_TEST(status_of(chunked + "1001\r\na") == 413u);
  BOOST_TEST(
    status_of(chunked + "800\r\n" + std::string(2048, 'a') + "\r\n801\r\na")
    == 413u);
  BOOST_TEST(status_of(chunked + "FFFFFFFFFFFFFFFFF\r\na") == 400u);
  BOOST_TEST(status_of(chunked + std::string(5000, '0') + "1") == 400u);
  BOOST_TEST(status_of(chunked + "0000000000000001\r\na\r\n0\r\n\r\n") == 0u);
  BOOST_TEST(status_of(chunked + "G\r\nab\r\n") == 400u);
  BOOST_TEST(status_of(chunked + "1\r\nab\r\n0\r\n") == 400u);
  BOOST_TEST(status_of(chunked + "1;" + std::string(3000, 'a')) == 431u);
  BOOST_TEST(status_of(chunked + "0\r\nA: " + std::string(3000, 'a')) == 431u);
}

BOOST_AUTO_TEST_CASE(a_discarded_body_is_not_kept) {
  request_reader x{some};
  const std::string text =
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n";
  x.feed(text);
  x.discard();
  x.feed("abc");
  BOOST_TEST((x.where() == stage::done));
  BOOST_TEST(x.message().body.empty());
}

BOOST_AUTO_TEST_CASE(mutated_requests_end_in_order) {
  core::philox random{test::seed(), core::purpose::test};
  const std::array<std::string, 4> seeds{
    get("Connection: keep-alive\r\nExpect: 100-continue\r\n"),
    "POST /a?b=%20 HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5;x=\"y\"\r\nhello\r\n0\r\nA: b\r\n\r\n",
    "GET http://a/ HTTP/1.0\r\nAuthorization: Basic YTpi\r\nA: b "
    "c\r\n\r\n"};
  const std::array<std::string, 8> words{
    "\r\n",     "Content-Length: ", "chunked", "Transfer-Encoding: ",
    "\r\n\r\n", "FFFFFFFFFFFFFFFF", " ",       "0\r\n\r\n"};
  const auto count = test::scaled(1'000'000);
  size_t good = 0;
  for (size_t i = 0; i < count; ++i) {
    auto text = seeds[random.below(seeds.size())];
    for (auto n = random.below(4); n > 0; --n) {
      const auto at = random.below(text.size() + 1);
      switch (random.below(4)) {
        case 0:
          if (at < text.size())
            text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text.erase(at, random.below(8));
          break;
        case 2:
          text.insert(at, words[random.below(words.size())]);
          break;
        default:
          text.insert(
            at, text.substr(random.below(text.size() + 1), random.below(40)));
      }
      if (text.empty())
        text = "\r";
    }
    request_reader whole{some};
    const auto rest = feed(whole, text, text.size());
    request_reader pieces{some};
    const auto rest_of_pieces =
      feed(pieces, text, 1 + random.below(text.size()));
    // The result does not depend on the pieces, except that a fault may be
    // found earlier.
    BOOST_TEST_REQUIRE(
      ((whole.where() == stage::done) == (pieces.where() == stage::done)),
      text);
    if (whole.where() == stage::failed) {
      BOOST_TEST_REQUIRE(whole.why().status >= 400);
      BOOST_TEST_REQUIRE(whole.why().status < 600);
    } else if (whole.where() == stage::done) {
      ++good;
      BOOST_TEST_REQUIRE(rest == rest_of_pieces);
      BOOST_TEST_REQUIRE(whole.message().body == pieces.message().body);
      BOOST_TEST_REQUIRE((whole.message().headers == pieces.message().headers));
      BOOST_TEST_REQUIRE(whole.message().body.size() <= some.body_bytes);
    }
  }
  BOOST_TEST(good > count / 10);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
