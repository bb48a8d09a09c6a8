// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/client_stream.hpp>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <array>

namespace atelier::runtime::http::detail {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

/// A client and the server's end of its connection.
struct pair_of_ends {
  pair_of_ends() {
    tcp::acceptor door{io, {asio::ip::make_address("127.0.0.1"), 0}};
    client.connect(door.local_endpoint());
    client_stream::socket server{asio::make_strand(io)};
    door.accept(server);
    sut = std::make_unique<client_stream>(std::move(server), nullptr);
  }

  void run() {
    io.restart();
    io.run();
  }

  asio::io_context io;
  tcp::socket client{io};
  std::unique_ptr<client_stream> sut;
};

} // namespace

BOOST_AUTO_TEST_SUITE(client_stream_test)

BOOST_AUTO_TEST_CASE(address_is_the_clients_and_bytes_go_both_ways) {
  pair_of_ends x;
  BOOST_TEST(x.sut->begin() == "127.0.0.1");
  BOOST_TEST(!x.sut->secure());
  x.sut->write("pong", [](error_code error, size_t bytes) {
    BOOST_TEST(!error);
    BOOST_TEST(bytes == 4u);
  });
  x.run();
  std::array<char, 4> got{};
  asio::read(x.client, asio::buffer(got));
  BOOST_TEST(std::string(got.data(), 4) == "pong");
  asio::write(x.client, asio::buffer("ping", 4));
  size_t read = 0;
  x.sut->read(got, [&](error_code, size_t bytes) { read = bytes; });
  x.run();
  BOOST_TEST(std::string(got.data(), read) == "ping");
}

BOOST_AUTO_TEST_CASE(after_the_output_ended_the_clients_end_is_still_read) {
  pair_of_ends x;
  x.sut->end_output();
  std::array<char, 4> got{};
  error_code error;
  x.client.read_some(asio::buffer(got), error);
  BOOST_TEST((error == asio::error::eof));
  x.client.shutdown(tcp::socket::shutdown_send);
  error_code seen;
  x.sut->read(got, [&](error_code e, size_t) { seen = e; });
  x.run();
  BOOST_TEST((seen == asio::error::eof));
}

BOOST_AUTO_TEST_CASE(close_ends_a_read_under_way) {
  pair_of_ends x;
  std::array<char, 4> got{};
  error_code seen;
  x.sut->read(got, [&](error_code e, size_t) { seen = e; });
  x.sut->close();
  x.run();
  BOOST_TEST((seen == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
