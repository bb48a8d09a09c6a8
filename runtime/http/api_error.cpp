// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/json_text.hpp>
#include <atelier/core/log.hpp>
#include <atelier/core/not_loaded.hpp>
#include <atelier/runtime/http/api_error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

namespace atelier::runtime::http {

namespace {

using core::ec;
using nlohmann::json;

struct meaning {
  ec code;
  unsigned status;
  /// Whether the client may read the text: it describes what the client sent.
  bool told;
};

constexpr std::array meanings{
  meaning{ec::none, 200, true},
  meaning{ec::invalid_argument, 400, true},
  meaning{ec::bad_payload, 400, true},
  meaning{ec::not_found, 404, true},
  meaning{ec::cancelled, 499, true},
  meaning{ec::overloaded, 429, true},
  meaning{ec::deadline_missed, 504, true},
  meaning{ec::bad_config, 500, false},
  meaning{ec::io_failed, 500, false},
  meaning{ec::out_of_resources, 503, false},
  meaning{ec::poison, 500, false},
  meaning{ec::unavailable, 503, false},
  meaning{ec::incompatible, 503, false},
  meaning{ec::stopping, 503, true},
  meaning{ec::internal, 500, false},
};

static_assert(meanings.size() == static_cast<size_t>(ec::internal) + 1);

const meaning& meaning_of(std::string_view code) {
  const auto* const i =
    std::find_if(meanings.begin(), meanings.end(), [&](const auto& x) {
      return core::to_string(x.code) == code;
    });
  return i == meanings.end() ? meanings.back() : *i;
}

/// Returns the type of an error, as OpenAI's clients know it.
std::string_view openai_type(unsigned status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 429:
      return "rate_limit_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

/// Whether the same request would fail again. OpenAI's clients repeat requests
/// with these statuses unless a header forbids it: a conflict, what the server
/// lacks, a request that ended its worker, and one that is late.
bool fails_again(unsigned status, std::string_view code) {
  return status == 409 || status == 501 || status == 505
      || code == core::to_string(ec::poison)
      || code == core::to_string(ec::deadline_missed);
}

json body_of(error_shape how, unsigned status, std::string_view code,
             std::string_view text, std::string_view param) {
  if (how == error_shape::a1111)
    return {{"error", code}, {"detail", text}, {"body", ""}, {"errors", text}};
  json error{{"message", text},
             {"type", openai_type(status)},
             {"param", nullptr},
             {"code", code}};
  if (!param.empty())
    error["param"] = param;
  return {{"error", std::move(error)}};
}

} // namespace

unsigned status_of(std::string_view code) {
  return meaning_of(code).status;
}

failure starting_failure() {
  return {"unavailable", std::string{starting_text}, std::chrono::seconds{1}};
}

bool is_told(const failure& why) {
  return meaning_of(why.code).told || why.text == starting_text;
}

std::string public_text(const failure& why, std::optional<uint64_t> number) {
  if (is_told(why))
    return why.text;
  const auto at = why.text.find(core::not_loaded);
  if (core::to_string(ec::unavailable) == why.code && at != std::string::npos) {
    const auto variant = why.text.substr(0, at);
    return number
           ? fmt::format("{} cannot be loaded; the server's log says why, as "
                         "error {}",
                         variant, *number)
           : fmt::format("{} cannot be loaded; the server's log says why",
                         variant);
  }
  return number ? fmt::format("the server could not do this ({}); its log says "
                              "why, as error {}",
                              why.code, *number)
                : fmt::format("the server could not do this ({}); its log says "
                              "why",
                              why.code);
}

reply_message error_reply(error_shape how, const failure& why,
                          std::string_view param) {
  const auto& means = meaning_of(why.code);
  std::optional<uint64_t> number;
  if (!is_told(why)) {
    static std::atomic<uint64_t> count{0};
    number = ++count;
    core::log_error("error {} reported to a client: {}: {}", *number, why.code,
                    why.text);
  }
  auto reply =
    error_reply(how, means.status, why.code, public_text(why, number), param);
  if (why.retry_after.count() > 0)
    add_retry_after(reply, why.retry_after);
  return reply;
}

void add_retry_after(reply_message& to, std::chrono::nanoseconds wait) {
  to.headers.emplace_back(
    "Retry-After",
    fmt::format("{}", std::chrono::ceil<std::chrono::seconds>(wait).count()));
}

reply_message error_reply(error_shape how, unsigned status,
                          std::string_view code, std::string_view text,
                          std::string_view param) {
  reply_message reply;
  reply.status = status;
  if (fails_again(status, code))
    reply.headers.emplace_back("x-should-retry", "false");
  // The text may contain bytes that a client sent and that are not UTF-8.
  reply.body = core::json_text(body_of(how, status, code, text, param));
  return reply;
}

} // namespace atelier::runtime::http
