// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/core/log.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/connection/authentication.hpp>
#include <atelier/runtime/http/detail/connection/forwarded.hpp>
#include <atelier/runtime/http/detail/connection/origin.hpp>
#include <atelier/runtime/http/detail/connection/request_id.hpp>
#include <atelier/runtime/http/detail/connection/target.hpp>
#include <atelier/runtime/http/detail/connection/trace_context.hpp>

#include <boost/beast/core/string.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace atelier::runtime::http::detail {

namespace {

/// Returns the host that a request names. The host of an absolute target has
/// precedence.
std::string_view host_of(const request_message& asked, const target& to) {
  return to.authority.empty() ? find_field(asked.headers, "host")
                              : std::string_view{to.authority};
}

/// Refuses a body that would have to be unpacked: a small one could fill the
/// memory.
std::optional<reply_message> judge_encoding(const request_message& asked,
                                            error_shape how) {
  const auto encoding = find_field(asked.headers, "content-encoding");
  if (encoding.empty() || core::same_word(encoding, "identity"))
    return std::nullopt;
  auto reply = error_reply(
    how, 415, "unsupported_encoding",
    fmt::format("Content-Encoding '{}' is not supported: send the body as it "
                "is",
                encoding.substr(0, 60)));
  reply.headers.emplace_back("Accept-Encoding", "identity");
  return reply;
}

reply_message come_later(error_shape how, core::timespan wait,
                         std::string_view why) {
  auto reply = error_reply(how, 429, "rate_limit_exceeded", why);
  add_retry_after(reply, wait);
  return reply;
}

} // namespace

authentication::authentication(options with) : with_(std::move(with)) {
  allow_origins(std::move(with_.origins));
  trust(with_.proxies);
}

void authentication::allow_origins(std::vector<std::string> origins) {
  auto next =
    std::make_shared<const std::vector<std::string>>(std::move(origins));
  const std::lock_guard guard{mutex_};
  origins_ = std::move(next);
}

void authentication::trust(const std::vector<std::string>& proxies) {
  auto next = std::make_shared<std::vector<config::network>>();
  for (const auto& x : proxies)
    next->push_back(config::parse_network(x).value());
  const std::lock_guard guard{mutex_};
  proxies_ = std::move(next);
}

error_shape authentication::shape_for(std::string_view target) const {
  return with_.routes->find({}, target).errors;
}

bool authentication::is_allowed_origin(std::string_view origin) const {
  const auto all = [&] {
    const std::lock_guard guard{mutex_};
    return origins_;
  }();
  return std::find(all->begin(), all->end(), origin) != all->end();
}

authentication::entry authentication::judge(request_message& asked,
                                            const std::string& text,
                                            core::time_point now) const {
  auto out = look_up(asked, text, now);
  out.client = asked.client;
  out.path = asked.path;
  out.key = asked.key;
  return out;
}

authentication::entry authentication::look_up(request_message& asked,
                                              const std::string& text,
                                              core::time_point now) const {
  entry out;
  asked.request_id = out.request_id = request_id_of(asked.headers, with_.draw);
  if (with_.draw)
    asked.trace = out.trace = own_span(asked.headers, with_.draw());
  auto to = parse_target(text);
  if (!to) {
    out.errors = shape_for(text);
    out.refused = error_reply(out.errors, 400, "bad_request", to.why().text);
    return out;
  }
  // Requests to a proxy name the host twice.
  if (!to->authority.empty()
      && find_field(asked.headers, "host") != to->authority) {
    out.refused = error_reply(out.errors, 400, "bad_request",
                              "the address and the Host field differ");
    return out;
  }
  if (to->path == "*" && asked.method != "OPTIONS") {
    out.refused = error_reply(out.errors, 400, "bad_request",
                              "the address '*' is only for OPTIONS");
    return out;
  }
  asked.host = host_of(asked, *to);
  if (auto faulty = read_proxies(asked)) {
    out.errors = shape_for(text);
    out.refused = error_reply(out.errors, 400, "bad_request", *faulty);
    return out;
  }
  asked.path = std::move(to->path);
  asked.query = std::move(to->query);
  auto match = with_.routes->find(asked.method, asked.path);
  out.to = match.found;
  out.errors = match.errors;
  asked.parts = std::move(match.parts);
  // Browsers always name a host.
  if (const auto host = host_of(asked, *to);
      with_.only_loopback_hosts && !host.empty() && !is_loopback_host(host)) {
    out.refused = error_reply(
      out.errors, 403, "forbidden_host",
      fmt::format("without keys this server answers only to localhost; the "
                  "request names the host '{}': use http.keys, or serve every "
                  "client with http.without_key = \"anywhere\" (serve "
                  "--insecure)",
                  host.substr(0, 100)));
    return out;
  }
  if (const auto origin = find_field(asked.headers, "origin");
      is_allowed_origin(origin))
    out.origin = origin;
  if (asked.method == "OPTIONS" && out.to == nullptr) {
    out.refused = options_reply(asked, out, match.allowed);
    return out;
  }
  out.refused = judge_origin(asked, out);
  if (out.refused)
    return out;
  if (out.to == nullptr) {
    if (match.allowed.empty()) {
      out.refused = no_such_endpoint(asked, out.errors);
      return out;
    }
    out.refused = error_reply(out.errors, 405, "method_not_allowed",
                              "this address only supports " + match.allowed);
    out.refused->headers.emplace_back("Allow", match.allowed + ", OPTIONS");
    return out;
  }
  out.refused = judge_key(asked, out, now);
  if (!out.refused && out.to->takes_body)
    out.refused = judge_encoding(asked, out.errors);
  return out;
}

/// Fills in what trusted proxies say of the client. Returns what is wrong with
/// it, if anything is.
std::optional<std::string> authentication::read_proxies(
  request_message& asked) const {
  const auto trusted = [&] {
    const std::lock_guard guard{mutex_};
    return proxies_;
  }();
  if (trusted->empty())
    return std::nullopt;
  auto told = read_forwarded(asked.headers, asked.client, *trusted);
  if (!told)
    return told.why().text;
  if (!told->client.empty())
    asked.client = std::move(told->client);
  if (!told->host.empty())
    asked.host = std::move(told->host);
  asked.scheme = std::move(told->scheme);
  return std::nullopt;
}

/// Returns a reply that names the nearest endpoints, if any is near.
reply_message authentication::no_such_endpoint(const request_message& asked,
                                               error_shape how) const {
  constexpr size_t most_named = 3;
  constexpr size_t most_shown = 200;
  std::string known;
  for (const auto& x : with_.routes->nearest(asked.path, most_named))
    known += (known.empty() ? "; nearest: " : ", ") + x;
  return error_reply(
    how, 404, "not_found",
    fmt::format("no such endpoint: {} {}{}{}", asked.method,
                asked.path.substr(0, most_shown), known,
                with_.routes->find("GET", "/openapi.json").found != nullptr
                  ? "; /openapi.json lists all"
                  : ""));
}

std::optional<reply_message> authentication::judge_origin(
  const request_message& asked, const entry& so_far) const {
  const auto origin = find_field(asked.headers, "origin");
  if (origin.empty() || !so_far.origin.empty() || is_safe_method(asked.method)
      || is_same_origin(origin, asked.host))
    return std::nullopt;
  return error_reply(so_far.errors, 403, "forbidden_origin",
                     "pages of this origin may not use this server; "
                     "http.origins names those that may");
}

reply_message authentication::options_reply(const request_message& asked,
                                            const entry& so_far,
                                            const std::string& allowed) const {
  if (allowed.empty() && asked.path != "*")
    return no_such_endpoint(asked, so_far.errors);
  const auto method =
    find_field(asked.headers, "access-control-request-method");
  const bool preflight =
    !method.empty() && !find_field(asked.headers, "origin").empty();
  if (preflight && so_far.origin.empty())
    return error_reply(so_far.errors, 403, "forbidden_origin",
                       "pages of this origin may not use this server; "
                       "http.origins names those that may");
  reply_message reply;
  reply.status = 204;
  reply.content_type.clear();
  if (!allowed.empty())
    reply.headers.emplace_back("Allow", allowed + ", OPTIONS");
  if (preflight) {
    reply.headers.emplace_back("Access-Control-Allow-Methods", allowed);
    // Client libraries send fields of their own, and none of them is harmful.
    if (const auto wanted =
          find_field(asked.headers, "access-control-request-headers");
        !wanted.empty())
      reply.headers.emplace_back("Access-Control-Allow-Headers", wanted);
    reply.headers.emplace_back("Access-Control-Max-Age", "600");
  }
  return reply;
}

std::optional<reply_message> authentication::judge_key(
  request_message& asked, entry& so_far, core::time_point now) const {
  using kind = access::verdict::kind;
  auto verdict = with_.callers->judge(asked.headers, so_far.to->needs, now,
                                      so_far.to->follows);
  // The reply does not tell whether the key is right: on a route without keys
  // it is the reply to a request without one.
  const bool has_key = verdict.unknown_key || !verdict.sha256.empty()
                    || verdict.outcome == kind::wrong_key;
  if (has_key)
    if (const auto wait = wrong_keys_->wait(asked.client, now);
        wait.count() > 0) {
      if (so_far.to->needs != scope::anyone)
        return come_later(so_far.errors, wait,
                          "this address has sent too many wrong keys");
      verdict = {};
    }
  so_far.key_sha256 = std::move(verdict.sha256);
  asked.key = verdict.name;
  asked.caller = verdict.caller;
  if (verdict.unknown_key || verdict.outcome == kind::wrong_key)
    if (const auto n = wrong_keys_->count(asked.client, now))
      core::log_warn("{} sent {} wrong {}", asked.client, *n,
                     *n == 1 ? "key" : "keys");
  switch (verdict.outcome) {
    case kind::let_in:
      if (so_far.to->needs == scope::admin && !is_safe_method(asked.method))
        core::log_warn("admin '{}' at {}: {} {}", asked.key, asked.client,
                       asked.method, asked.path);
      break;
    case kind::no_key:
    case kind::wrong_key: {
      auto reply = error_reply(
        so_far.errors, 401, "invalid_api_key",
        verdict.outcome == kind::no_key
          ? "a key is needed: send it as 'Authorization: Bearer KEY'"
          : "the key is not valid for this server");
      reply.headers.emplace_back("WWW-Authenticate",
                                 "Bearer realm=\"atelier\"");
      return reply;
    }
    case kind::not_allowed:
      return error_reply(so_far.errors, 403, "not_allowed",
                         "the key may not do this: only an admin's key may");
    case kind::later:
      return come_later(so_far.errors, verdict.retry_after,
                        "the key has used its requests of this minute");
  }
  return std::nullopt;
}

} // namespace atelier::runtime::http::detail
