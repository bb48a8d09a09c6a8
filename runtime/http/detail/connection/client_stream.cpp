// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/client_stream.hpp>

namespace atelier::runtime::http::detail {

using boost::system::error_code;
using tcp = boost::asio::ip::tcp;

std::string client_stream::begin() {
  error_code ignored;
  socket_.set_option(tcp::no_delay{true}, ignored);
  const auto end = socket_.remote_endpoint(ignored);
  return end.address().to_string(ignored);
}

void client_stream::end_output() {
  bare_ = true;
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void client_stream::close() {
  error_code ignored;
  socket_.close(ignored);
}

} // namespace atelier::runtime::http::detail
