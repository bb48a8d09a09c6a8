// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/incoming_request.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

namespace atelier::runtime::http::detail {

namespace {

using event = incoming_request::event;

constexpr request_reader::limits some{2048, 4096, 16};

const std::string head =
  "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";

/// Bodies that may have three bytes, of which another caller holds one.
struct rig {
  rig() {
    sut.begin(some);
    other.must_grow(1);
  }

  /// Feeds the request, and expects all of the bytes to be consumed.
  event feed(std::string_view bytes) {
    const auto got = sut.feed(bytes);
    BOOST_TEST(got.used == bytes.size());
    return got.what;
  }

  byte_shares::part part() const {
    return {bodies, "ann", {3, 3}};
  }

  std::shared_ptr<byte_shares> bodies = std::make_shared<byte_shares>();
  byte_shares::part other{bodies, "bob", {3, 3}};
  incoming_request sut;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(incoming_request_test, rig)

BOOST_AUTO_TEST_CASE(head_is_reported_once_and_before_the_body_counts) {
  // A reader consumes whole lines of the head.
  constexpr size_t first_line = 18;
  BOOST_TEST((feed(head.substr(0, first_line)) == event::more));
  BOOST_TEST(!sut.has_head());
  const auto got = sut.feed(head.substr(first_line) + "ab");
  BOOST_TEST((got.what == event::head));
  BOOST_TEST(got.used == head.size() - first_line);
  BOOST_TEST(sut.has_head());
  BOOST_TEST(sut.reads_body());
  BOOST_TEST(bodies->held() == 1u);
  sut.count_for(part());
  BOOST_TEST((feed("ab") == event::more));
  BOOST_TEST(bodies->held() == 3u);
}

BOOST_AUTO_TEST_CASE(body_above_the_limit_is_full_before_it_is_whole) {
  feed(head);
  sut.count_for(part());
  BOOST_TEST((feed("abc") == event::full));
  sut.drop();
  BOOST_TEST(bodies->held() == 1u);
  // The next request is told apart from this one.
  BOOST_TEST(sut.has_head());
  sut.await();
  BOOST_TEST(!sut.has_head());
  BOOST_TEST(!sut.reads_body());
}

BOOST_AUTO_TEST_CASE(taken_request_holds_what_its_body_counts) {
  other.clear();
  feed(head);
  sut.count_for({bodies, "ann", {9, 9}});
  const auto got = sut.feed("abcdeGET");
  BOOST_TEST((got.what == event::done));
  BOOST_TEST(got.used == 5u);
  {
    const auto [asked, held] = sut.take();
    BOOST_TEST(asked.body == "abcde");
    BOOST_TEST(held.bytes() == 5u);
    sut.drop();
    BOOST_TEST(bodies->held() == 5u);
  }
  BOOST_TEST(bodies->held() == 0u);
}

BOOST_AUTO_TEST_CASE(request_without_a_body_has_a_head_and_is_done) {
  BOOST_TEST((feed("GET / HTTP/1.1\r\nHost: a\r\n\r\n") == event::head));
  BOOST_TEST((feed("") == event::done));
}

BOOST_AUTO_TEST_CASE(error_in_the_head_is_reported_without_a_head) {
  BOOST_TEST((sut.feed("GET\r\n\r\n").what == event::failed));
  BOOST_TEST(!sut.has_head());
  BOOST_TEST(sut.reader().why().status == 400u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
