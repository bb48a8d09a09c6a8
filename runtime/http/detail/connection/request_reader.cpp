// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/core/error.hpp>
#include <atelier/runtime/http/detail/connection/request_reader.hpp>
#include <atelier/runtime/http/detail/connection/strict_framing.hpp>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace atelier::runtime::http::detail {

namespace {

namespace beast = boost::beast;
namespace net = boost::asio;
using beast::error_code;
using beast::string_view;

/// Initial capacity for a body, which then grows with the received bytes.
constexpr uint64_t first_body_bytes = 64 << 10;

/// Bytes of the shortest end of a body in chunks: "0" and two line ends.
constexpr size_t shortest_end = 5;

/// Fields that may occur only once: if one is repeated, some readers use the
/// first and others the last.
constexpr std::array<std::string_view, 5> single_fields{
  "origin", "authorization", "x-api-key", "content-type", "expect"};

size_t count_of(const fields& in, std::string_view name) {
  return static_cast<size_t>(std::count_if(
    in.begin(), in.end(), [&](const auto& x) { return x.first == name; }));
}

bool is_number(std::string_view x) {
  return !x.empty() && x.size() <= 19 && std::ranges::all_of(x, core::is_digit);
}

/// Returns the target of a request's first line, or as much as the line has.
std::string target_of(std::string_view line) {
  line.remove_prefix(std::min(line.find(' '), line.size()));
  line.remove_prefix(std::min<size_t>(1, line.size()));
  return std::string{line.substr(0, line.find(' '))};
}

} // namespace

class request_reader::parser : public beast::http::basic_parser<true> {
public:
  explicit parser(limits within) : within_(within) {
    // One more than the limit, so that the count here decides.
    header_limit(static_cast<uint32_t>(
      std::min<uint64_t>(within.head_bytes + 1, UINT32_MAX)));
    // take() counts the body; without a limit, this version of Beast accepts no
    // body.
    body_limit(UINT64_MAX);
  }

  size_t feed(std::string_view bytes) {
    if (!got_some()) {
      // A client may send an empty line after the previous body.
      size_t blank = 0;
      while (bytes.substr(blank).starts_with("\r\n"))
        blank += 2;
      if (blank > 0) {
        head_bytes_ += blank;
        if (head_bytes_ > within_.head_bytes)
          fail(431, "head_too_large", "the request has only empty lines");
        return blank;
      }
      // A lone carriage return may begin an empty line, and Beast would take it
      // for the first character of a method.
      if (bytes == "\r" || bytes.empty())
        return 0;
    }
    const bool in_head = state == stage::head;
    // Beast needs as many bytes when it sees the last chunk a second time, and
    // no end is shorter.
    const bool in_chunks = !in_head && chunked();
    if (in_head || in_chunks) {
      const auto fresh = bytes.substr(looked_);
      looked_ +=
        in_head ? framing_.look_at_head(fresh) : framing_.look_at_chunks(fresh);
      if (!framing_.fault().empty()) {
        if (target.empty())
          target = target_of(framing_.first_line());
        fail(400, "bad_request",
             fmt::format("the request is malformed: {}", framing_.fault()));
        return 0;
      }
    }
    if (in_chunks && bytes.size() < shortest_end)
      return 0;
    error_code error;
    const auto used = put(net::const_buffer{bytes.data(), bytes.size()}, error);
    if (in_head)
      head_bytes_ += used;
    looked_ -= std::min(looked_, used);
    if (error == beast::http::error::need_more) {
      if (in_head
            ? head_bytes_ + bytes.size() - used > within_.head_bytes
            // The lines between chunks are short; trailers count as a head.
            : bytes.size() - used > within_.head_bytes)
        refuse_head();
    } else if (error) {
      if (state != stage::failed)
        explain(error);
    } else if (in_head && head_bytes_ > within_.head_bytes) {
      refuse_head();
    }
    if (state == stage::failed)
      return used;
    if (is_done())
      state = stage::done;
    return used;
  }

  void fail(unsigned status, std::string code, std::string text) {
    state = stage::failed;
    why = {status, std::move(code), std::move(text)};
  }

  stage state = stage::head;
  refusal why;
  std::string target;
  request_message message;
  unsigned version = 11;
  bool keeps_alive = false;
  bool expects_continue = false;
  bool keeps_body = true;

private:
  void refuse_head() {
    fail(431, "head_too_large",
         fmt::format("the request's head has more than {} bytes",
                     within_.head_bytes));
  }

  void refuse_body() {
    fail(413, "too_large",
         fmt::format("the request's body has more than {} bytes",
                     within_.body_bytes));
  }

  void explain(error_code error) {
    if (error == beast::http::error::header_limit)
      return refuse_head();
    if (error == beast::http::error::body_limit)
      return refuse_body();
    if (error == beast::http::error::bad_version)
      return fail(505, "bad_version", "only HTTP/1.0 and 1.1 are supported");
    fail(400, "bad_request",
         fmt::format("the request is malformed: {}", error.message()));
  }

  void stop(error_code& error) {
    error = beast::http::error::bad_value;
  }

  void on_request_impl(beast::http::verb, string_view method, string_view asked,
                       int spoken, error_code&) override {
    message.method.assign(method.data(), method.size());
    target.assign(asked.data(), asked.size());
    version = static_cast<unsigned>(spoken);
  }

  void on_response_impl(int, string_view, int, error_code&) override {}

  void on_field_impl(beast::http::field, string_view name, string_view value,
                     error_code& error) override {
    // Trailers are ignored: they say nothing that the head did not.
    if (state != stage::head)
      return;
    if (message.headers.size() == within_.fields) {
      fail(431, "head_too_large",
           fmt::format("the request has more than {} header fields",
                       within_.fields));
      return stop(error);
    }
    message.headers.emplace_back(core::lower_case({name.data(), name.size()}),
                                 std::string{value.data(), value.size()});
  }

  void on_header_impl(error_code& error) override {
    check_head();
    if (state == stage::failed)
      return stop(error);
    state = stage::body;
    keeps_alive = keep_alive();
  }

  void check_head() {
    const auto& in = message.headers;
    const auto hosts = count_of(in, "host");
    if (hosts > 1 || (hosts == 0 && version == 11))
      return fail(
        400, "bad_request",
        fmt::format("the request has {} Host fields, not one", hosts));
    if (hosts == 1 && find_field(in, "host").empty())
      return fail(400, "bad_request", "the Host field is empty");
    for (const auto name : single_fields)
      if (const auto times = count_of(in, name); times > 1)
        return fail(400, "bad_request",
                    fmt::format("the request has {} fields {}, but only one "
                                "is allowed",
                                times, name));
    const auto lengths = count_of(in, "content-length");
    const auto encodings = count_of(in, "transfer-encoding");
    if (lengths + encodings > 1)
      return fail(400, "bad_request",
                  "the request states its length more than once");
    if (lengths == 1 && !is_number(find_field(in, "content-length")))
      return fail(400, "bad_request", "Content-Length is not a number");
    if (encodings == 1) {
      if (version == 10)
        return fail(400, "bad_request",
                    "Transfer-Encoding is not allowed in HTTP/1.0");
      if (!core::same_word(find_field(in, "transfer-encoding"), "chunked"))
        return fail(501, "not_implemented",
                    "the only supported transfer encoding is chunked");
    }
    const auto expected = find_field(in, "expect");
    if (count_of(in, "expect") > 0) {
      if (!core::same_word(expected, "100-continue"))
        return fail(417, "bad_expectation",
                    "the only supported expectation is 100-continue");
      expects_continue = version == 11;
    }
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>& length,
                         error_code&) override {
    if (length && keeps_body)
      message.body.reserve(
        static_cast<size_t>(std::min<uint64_t>(*length, first_body_bytes)));
  }

  size_t on_body_impl(string_view body, error_code& error) override {
    return take(body, error);
  }

  void on_chunk_header_impl(std::uint64_t size, string_view,
                            error_code& error) override {
    // This check precedes the chunk's first byte.
    if (size > within_.body_bytes - taken_) {
      refuse_body();
      stop(error);
    }
  }

  size_t on_chunk_body_impl(std::uint64_t, string_view body,
                            error_code& error) override {
    return take(body, error);
  }

  void on_finish_impl(error_code&) override {}

  size_t take(string_view body, error_code& error) {
    taken_ += body.size();
    if (taken_ > within_.body_bytes) {
      refuse_body();
      stop(error);
      return 0;
    }
    if (keeps_body)
      message.body.append(body.data(), body.size());
    return body.size();
  }

  limits within_;
  strict_framing framing_;
  /// Number of bytes already examined among those that are passed again.
  size_t looked_ = 0;
  uint64_t head_bytes_ = 0;
  uint64_t taken_ = 0;
};

request_reader::request_reader(limits within)
  : parser_(std::make_unique<parser>(within)) {}

request_reader::~request_reader() = default;

size_t request_reader::feed(std::string_view bytes) {
  ATELIER_EXPECTS(where() == stage::head || where() == stage::body,
                  "a request that is not read yet");
  return parser_->feed(bytes);
}

request_reader::stage request_reader::where() const {
  return parser_->state;
}

const refusal& request_reader::why() const {
  return parser_->why;
}

const std::string& request_reader::target() const {
  return parser_->target;
}

request_message& request_reader::message() {
  return parser_->message;
}

unsigned request_reader::version() const {
  return parser_->version;
}

bool request_reader::keeps_alive() const {
  return parser_->keeps_alive;
}

bool request_reader::expects_continue() const {
  return parser_->expects_continue;
}

std::optional<uint64_t> request_reader::declared_bytes() const {
  const auto& in = parser_->message.headers;
  if (!find_field(in, "transfer-encoding").empty())
    return std::nullopt;
  const auto length = parser_->content_length();
  return length ? *length : 0;
}

void request_reader::discard() {
  parser_->keeps_body = false;
}

} // namespace atelier::runtime::http::detail
