// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/core/error.hpp>
#include <atelier/runtime/http/detail/connection/reply_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

std::string_view reason_of(unsigned status) {
  using entry = std::pair<unsigned, std::string_view>;
  static constexpr std::array reasons{
    entry{200, "OK"},
    entry{201, "Created"},
    entry{202, "Accepted"},
    entry{204, "No Content"},
    entry{206, "Partial Content"},
    entry{301, "Moved Permanently"},
    entry{302, "Found"},
    entry{303, "See Other"},
    entry{304, "Not Modified"},
    entry{307, "Temporary Redirect"},
    entry{308, "Permanent Redirect"},
    entry{400, "Bad Request"},
    entry{401, "Unauthorized"},
    entry{403, "Forbidden"},
    entry{404, "Not Found"},
    entry{405, "Method Not Allowed"},
    entry{406, "Not Acceptable"},
    entry{408, "Request Timeout"},
    entry{409, "Conflict"},
    entry{410, "Gone"},
    entry{411, "Length Required"},
    entry{412, "Precondition Failed"},
    entry{413, "Payload Too Large"},
    entry{414, "URI Too Long"},
    entry{415, "Unsupported Media Type"},
    entry{417, "Expectation Failed"},
    entry{422, "Unprocessable Entity"},
    entry{429, "Too Many Requests"},
    entry{431, "Request Header Fields Too Large"},
    entry{499, "Client Closed Request"},
    entry{500, "Internal Server Error"},
    entry{501, "Not Implemented"},
    entry{502, "Bad Gateway"},
    entry{503, "Service Unavailable"},
    entry{504, "Gateway Timeout"},
    entry{505, "HTTP Version Not Supported"},
  };
  const auto* const i =
    std::find_if(reasons.begin(), reasons.end(),
                 [&](const entry& x) { return x.first == status; });
  return i == reasons.end() ? std::string_view{"Unknown"} : i->second;
}

std::string one_line(std::string_view x) {
  std::string out{x};
  out.erase(std::remove_if(out.begin(), out.end(),
                           [](unsigned char c) {
                             return (c < 0x20 && c != '\t') || c == 0x7f;
                           }),
            out.end());
  return out;
}

bool has(const fields& in, std::string_view name) {
  return std::any_of(in.begin(), in.end(), [&](const auto& x) {
    return core::same_word(x.first, name);
  });
}

bool may_have_body(unsigned status) {
  return status >= 200 && status != 204 && status != 304;
}

} // namespace

std::string head_text(const reply_message& x, const reply_form& how,
                      std::optional<uint64_t> body_bytes) {
  std::string out;
  const auto add = [&](std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(out), "{}: {}\r\n", name, value);
  };
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", x.status,
                 reason_of(x.status));
  add("Server", "atelier");
  if (may_have_body(x.status)) {
    if (!x.content_type.empty())
      add("Content-Type", one_line(x.content_type));
    if (body_bytes)
      add("Content-Length", fmt::format("{}", *body_bytes));
    else if (how.version == 11)
      add("Transfer-Encoding", "chunked");
  }
  add("X-Content-Type-Options", "nosniff");
  if (x.content_type.starts_with("application/json")
      && !has(x.headers, "cache-control"))
    add("Cache-Control", "no-store");
  if (!how.origin.empty()) {
    add("Access-Control-Allow-Origin", how.origin);
    add("Access-Control-Expose-Headers",
        "Location, Retry-After, traceparent, x-request-id, x-should-retry");
    add("Vary", "Origin");
  }
  if (!how.request_id.empty())
    add("x-request-id", how.request_id);
  if (!how.trace.empty())
    add("traceparent", how.trace);
  for (const auto& [name, value] : x.headers)
    add(one_line(name), one_line(value));
  if (!how.keep_alive)
    add("Connection", "close");
  else if (how.version == 10)
    add("Connection", "keep-alive");
  out += "\r\n";
  return out;
}

std::string event_text(std::string_view name, std::string_view data) {
  std::string out;
  if (!name.empty()) {
    out += "event: ";
    out += one_line(name);
    out += '\n';
  }
  for (;;) {
    const auto end = std::min(data.find_first_of("\r\n"), data.size());
    out += "data: ";
    out += data.substr(0, end);
    out += '\n';
    if (end == data.size())
      break;
    const bool pair = data.substr(end).starts_with("\r\n");
    data.remove_prefix(end + (pair ? 2 : 1));
  }
  out += '\n';
  return out;
}

event_frame frame_of(std::string_view name, uint64_t data_bytes, bool chunked) {
  event_frame out;
  if (!name.empty())
    out.before = fmt::format("event: {}\n", one_line(name));
  out.before += "data: ";
  out.after = "\n\n";
  if (chunked) {
    const auto bytes = out.before.size() + data_bytes + out.after.size();
    out.before = fmt::format("{:x}\r\n{}", bytes, out.before);
    out.after += "\r\n";
  }
  return out;
}

std::string chunk_text(std::string_view text) {
  ATELIER_EXPECTS(!text.empty(), "an empty chunk is the last one");
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

} // namespace atelier::runtime::http::detail
