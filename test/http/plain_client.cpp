// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>
#include <http/plain_client.hpp>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace atelier::test {

struct plain_client::channel {
  int fd = -1;
  SSL_CTX* context = nullptr;
  SSL* tls = nullptr;

  ~channel() {
    SSL_free(tls);
    SSL_CTX_free(context);
    if (fd >= 0)
      close(fd);
  }
};

plain_client::plain_client(uint16_t port, bool tls, int receive_bytes)
  : channel_(std::make_unique<channel>()) {
  auto& x = *channel_;
  x.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  BOOST_TEST_REQUIRE(x.fd >= 0);
  const timeval patience{30, 0};
  setsockopt(x.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(x.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (receive_bytes > 0)
    setsockopt(x.fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes,
               sizeof receive_bytes);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  BOOST_TEST_REQUIRE(
    connect(x.fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  if (!tls)
    return;
  x.context = SSL_CTX_new(TLS_client_method());
  x.tls = SSL_new(x.context);
  SSL_set_fd(x.tls, x.fd);
  if (SSL_connect(x.tls) != 1) {
    SSL_free(x.tls);
    x.tls = nullptr;
  }
}

plain_client::~plain_client() = default;
plain_client::plain_client(plain_client&&) noexcept = default;

bool plain_client::send(std::string_view bytes) {
  auto& x = *channel_;
  while (!bytes.empty()) {
    const auto n =
      x.tls != nullptr
        ? SSL_write(x.tls, bytes.data(), static_cast<int>(bytes.size()))
        : ::send(x.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

int64_t plain_client::serial() const {
  if (channel_->tls == nullptr)
    return 0;
  auto* const x = SSL_get1_peer_certificate(channel_->tls);
  int64_t out = 0;
  if (x != nullptr)
    ASN1_INTEGER_get_int64(&out, X509_get0_serialNumber(x));
  X509_free(x);
  return out;
}

bool plain_client::fill() {
  auto& x = *channel_;
  std::array<char, 16384> block;
  const auto n = x.tls != nullptr
                 ? SSL_read(x.tls, block.data(), static_cast<int>(block.size()))
                 : recv(x.fd, block.data(), block.size(), 0);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    BOOST_FAIL("nothing came, and no end");
  if (n <= 0)
    return false;
  waiting_.append(block.data(), static_cast<size_t>(n));
  return true;
}

std::string plain_client::take(size_t bytes) {
  while (waiting_.size() < bytes && fill()) {
  }
  auto out = waiting_.substr(0, bytes);
  waiting_.erase(0, out.size());
  return out;
}

void plain_client::read_some() {
  fill();
  waiting_.clear();
}

std::string plain_client::read_until(std::string_view mark) {
  size_t at = 0;
  while ((at = waiting_.find(mark)) == std::string::npos)
    if (!fill())
      return take(waiting_.size());
  return take(at + mark.size());
}

heard plain_client::hear(bool head_only) {
  heard x;
  auto head = read_until("\r\n\r\n");
  if (!head.starts_with("HTTP/1.1 ") || !head.ends_with("\r\n\r\n"))
    return x;
  x.status = static_cast<unsigned>(std::stoul(head.substr(9, 3)));
  for (auto at = head.find("\r\n") + 2; at + 2 < head.size();) {
    const auto end = head.find("\r\n", at);
    const auto colon = head.find(": ", at);
    auto name = head.substr(at, colon - at);
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    x.headers.emplace_back(name, head.substr(colon + 2, end - colon - 2));
    at = end + 2;
  }
  if (head_only || x.status == 204 || x.status == 304 || x.status < 200)
    return x;
  if (x.field("transfer-encoding") == "chunked") {
    for (;;) {
      const auto size = std::stoul("0" + read_until("\r\n"), nullptr, 16);
      x.body += take(size);
      if (read_until("\r\n").empty() || size == 0)
        return x;
    }
  }
  if (const auto length = x.field("content-length"); !length.empty()) {
    x.body = take(std::stoul(length));
    return x;
  }
  while (fill()) {
  }
  x.body = std::exchange(waiting_, {});
  return x;
}

heard plain_client::ask(std::string_view bytes) {
  send(bytes);
  return hear();
}

bool plain_client::at_end() {
  bool nothing = waiting_.empty();
  while (fill())
    nothing = false;
  return nothing;
}

void plain_client::shut() {
  shutdown(channel_->fd, SHUT_WR);
}

void plain_client::reset() {
  const linger at_once{1, 0};
  setsockopt(channel_->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(std::exchange(channel_->fd, -1));
}

bool plain_client::had_handshake() const {
  return channel_->tls != nullptr;
}

std::string request(std::string_view method, std::string_view target,
                    std::string_view more, std::string_view body) {
  std::string out{method};
  out += ' ';
  out += target;
  out += " HTTP/1.1\r\n";
  if (!more.starts_with("Host:")
      && more.find("\nHost:") == std::string_view::npos)
    out += "Host: localhost\r\n";
  if (!body.empty())
    out += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  out += more;
  out += "\r\n";
  out += body;
  return out;
}

} // namespace atelier::test
