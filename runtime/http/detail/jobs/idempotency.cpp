// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/runtime/http/detail/jobs/idempotency.hpp>
#include <atelier/runtime/http/detail/replies.hpp>
#include <atelier/runtime/http/multipart.hpp>

#include <fmt/format.h>

namespace atelier::runtime::http::detail {

namespace {

constexpr size_t longest_key = 255;
constexpr std::string_view header_name = "Idempotency-Key";

} // namespace

std::optional<reply_message> read_idempotency_key(const request_message& asked,
                                                  error_shape how,
                                                  job_request& into) {
  into.idempotency_key = find_field(asked.headers, "idempotency-key");
  if (into.idempotency_key.size() <= longest_key)
    return std::nullopt;
  return error_reply(how, 400, "invalid_argument",
                     fmt::format("Idempotency-Key has {} characters, outside "
                                 "1..{}",
                                 into.idempotency_key.size(), longest_key),
                     header_name);
}

std::string fingerprint_of(const request_message& asked) {
  auto text = asked.path + '\n';
  const auto type = find_field(asked.headers, "content-type");
  if (is_multipart(type))
    if (const auto parts = parse_multipart(type, asked.body)) {
      for (const auto& x : *parts)
        text += fmt::format("{}:{}:{}\n", x.name.size(), x.name,
                            core::sha256_hex(x.content));
      return core::sha256_hex(text);
    }
  return core::sha256_hex(text += asked.body);
}

reply_message refusal_reply(error_shape how, const failure& why) {
  if (why.code == jobs::key_reused)
    return error_reply(how, 422, why.code, why.text, header_name);
  if (why.code != jobs::limit_reached)
    return failure_reply(how, why);
  auto reply = error_reply(how, 429, why.code, why.text);
  add_retry_after(reply, why.retry_after);
  return reply;
}

} // namespace atelier::runtime::http::detail
