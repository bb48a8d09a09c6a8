// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/endpoint.hpp>
#include <atelier/core/ascii.hpp>
#include <atelier/runtime/http/client.hpp>
#include <atelier/runtime/http/detail/connection/origin.hpp>
#include <atelier/runtime/http/detail/connection/tls_doubt.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace atelier::runtime::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;
using core::ec;
using core::fail;
using core::result;

struct place {
  bool tls = false;
  config::endpoint endpoint;
  /// The value of the Host field.
  std::string authority;
  std::string target;
};

result<place> read_url(const std::string& url) {
  const auto fault = [&] {
    return fail(ec::invalid_argument,
                "'{}' is not a server address, such as "
                "http://127.0.0.1:7860",
                url);
  };
  place out;
  std::string_view rest = url;
  if (rest.starts_with("https://"))
    out.tls = true;
  else if (!rest.starts_with("http://"))
    return fault();
  rest.remove_prefix(out.tls ? 8 : 7);
  const auto end = std::min(rest.find_first_of("/?"), rest.size());
  out.authority = rest.substr(0, end);
  out.target = rest.substr(end);
  if (!out.target.starts_with('/'))
    out.target.insert(out.target.begin(), '/');
  const bool clean =
    std::all_of(out.target.begin(), out.target.end(),
                [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  auto where = config::parse_endpoint(out.authority);
  if (!where)
    where = config::parse_endpoint(out.authority + (out.tls ? ":443" : ":80"));
  if (!where || !clean)
    return fault();
  out.endpoint = std::move(*where);
  return out;
}

bool sends_key(const client_request& x) {
  return std::any_of(x.headers.begin(), x.headers.end(), [](const auto& field) {
    const auto name = core::lower_case(field.first);
    return name == "authorization" || name == "x-api-key";
  });
}

/// Makes one call, from the look-up to the reply.
class call {
public:
  call(const client_request& what, place to)
    : what_(what),
      to_(std::move(to)),
      context_(asio::ssl::context::tls_client) {
    request_.method_string({what.method.data(), what.method.size()});
    request_.target({to_.target.data(), to_.target.size()});
    request_.version(11);
    request_.set("Host", to_.authority);
    request_.set("User-Agent", "atelier");
    request_.set("Connection", "close");
    for (const auto& [name, value] : what.headers)
      request_.set(name, value);
    request_.body() = what.body;
    if (!what.body.empty() || what.method == "POST")
      request_.content_length(what.body.size());
    parser_.body_limit(what.most_bytes);
    parser_.skip(what.method == "HEAD");
  }

  result<client_reply> run() {
    resolver_.async_resolve(to_.endpoint.host,
                            std::to_string(to_.endpoint.port),
                            [this](error_code error, const auto& found) {
                              if (error)
                                return end(error, "look up");
                              connect(found);
                            });
    io_.run_for(what_.patience);
    if (!ended_)
      return fail(ec::deadline_missed, "{} did not answer within {:.0f} s",
                  to_.authority, core::to_seconds(what_.patience));
    if (why_)
      return *why_;
    return take_reply();
  }

private:
  void connect(const tcp::resolver::results_type& found) {
    asio::async_connect(socket_, found,
                        [this](error_code error, const tcp::endpoint&) {
                          if (error)
                            return end(error, "connect to");
                          if (to_.tls)
                            shake_hands();
                          else
                            talk(socket_);
                        });
  }

  void shake_hands() {
    error_code error;
    SSL_CTX_set_min_proto_version(context_.native_handle(), TLS1_2_VERSION);
    if (what_.any_certificate) {
      context_.set_verify_mode(asio::ssl::verify_none, error);
    } else {
      if (what_.authorities.empty())
        context_.set_default_verify_paths(error);
      else
        context_.load_verify_file(what_.authorities, error);
      if (error)
        return refuse_authorities(error);
      detail::trust_any_in_chain(context_.native_handle());
      context_.set_verify_mode(asio::ssl::verify_peer, error);
      context_.set_verify_callback(
        [this](bool trusted, asio::ssl::verify_context& at) {
          auto doubt = detail::doubt_of(
            trusted, at.native_handle(), to_.endpoint.host,
            asio::ssl::host_name_verification{to_.endpoint.host}(trusted, at));
          if (doubt)
            doubt_ = std::move(doubt);
          return !doubt_;
        },
        error);
    }
    tls_.emplace(socket_, context_);
    SSL_set_tlsext_host_name(tls_->native_handle(), to_.endpoint.host.c_str());
    tls_->async_handshake(asio::ssl::stream_base::client,
                          [this](error_code failed) {
                            if (failed)
                              return end_handshake(failed);
                            talk(*tls_);
                          });
  }

  void refuse_authorities(error_code error) {
    ended_ = true;
    why_ = fail(ec::invalid_argument,
                "--cacert: cannot read certificates from "
                "'{}': {}",
                what_.authorities, error.message());
  }

  void end_handshake(error_code error) {
    ended_ = true;
    why_ =
      fail(ec::unavailable, "cannot agree on TLS with {}: {}", to_.authority,
           doubt_ ? *doubt_ : detail::handshake_fault(error));
  }

  template <class Stream>
  void talk(Stream& with) {
    beast::http::async_write(
      with, request_, [this, &with](error_code failed, size_t) {
        // A server that refuses early may have closed its reading half after
        // sending the reason.
        written_ = failed;
        beast::http::async_read_header(
          with, buffer_, parser_, [this, &with](error_code error, size_t) {
            if (error)
              return end(*written_ ? *written_ : error,
                         *written_ ? "send to" : "read from");
            hear_out(with);
          });
      });
  }

  template <class Stream>
  void hear_out(Stream& with) {
    // The parser does not check its own limit against the length that a head
    // declares if the body arrived together with the head.
    if (const auto told = parser_.content_length();
        told && *told > what_.most_bytes)
      return end(beast::http::error::body_limit, "read from");
    beast::http::async_read(
      with, buffer_, parser_,
      [this](error_code error, size_t) { end(error, "read from"); });
  }

  void end(error_code error, const char* doing) {
    ended_ = true;
    if (!error)
      return;
    const bool there = parser_.got_some() || request_was_sent();
    // A server that expects TLS closes connections that do not begin with it.
    const bool unheard = !to_.tls && error == beast::http::error::end_of_stream;
    why_ = fail(there ? ec::io_failed : ec::unavailable, "cannot {} {}: {}{}",
                doing, to_.authority, error.message(),
                unheard ? "; if it expects TLS, use https://" : "");
  }

  bool request_was_sent() const {
    return written_.has_value() && !*written_;
  }

  client_reply take_reply() {
    auto got = parser_.release();
    client_reply out;
    out.status = got.result_int();
    for (const auto& x : got) {
      const auto name = x.name_string();
      out.headers.emplace_back(core::lower_case({name.data(), name.size()}),
                               std::string{x.value()});
    }
    out.body = std::move(got.body());
    return out;
  }

  const client_request& what_;
  place to_;
  asio::io_context io_;
  tcp::resolver resolver_{io_};
  tcp::socket socket_{io_};
  asio::ssl::context context_;
  std::optional<asio::ssl::stream<tcp::socket&>> tls_;
  beast::http::request<beast::http::string_body> request_;
  beast::http::response_parser<beast::http::string_body> parser_;
  beast::flat_buffer buffer_;
  std::optional<error_code> written_;
  std::optional<core::error> why_;
  /// Why the certificate is not trusted.
  std::optional<std::string> doubt_;
  bool ended_ = false;
};

} // namespace

result<client_reply> ask_server(const client_request& what) {
  auto to = read_url(what.url);
  if (!to)
    return to.why();
  if (!to->tls && !what.key_in_clear && sends_key(what)
      && !detail::is_loopback_host(to->authority))
    return fail(ec::invalid_argument,
                "--key: it would reach {} without encryption; use https://, or "
                "set ATELIER_INSECURE_KEY=1 to send it all the same",
                to->authority);
  try {
    return call{what, std::move(*to)}.run();
  } catch (const std::exception& e) {
    return fail(ec::io_failed, "asking {}: {}", what.url, e.what());
  }
}

} // namespace atelier::runtime::http
