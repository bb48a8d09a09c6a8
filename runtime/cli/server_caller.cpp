// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/console.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/server_caller.hpp>

#include <nlohmann/json.hpp>

#include <utility>

namespace atelier::runtime::cli {

using core::ec;
using core::fail;
using core::result;
using nlohmann::json;

failure failure_in(const http::client_reply& reply) {
  failure why;
  const auto body = json::parse(reply.body, nullptr, false);
  if (const auto error = body.is_object() ? body.find("error") : body.end();
      body.is_object() && error != body.end() && error->is_object()) {
    if (const auto code = error->find("code");
        code != error->end() && code->is_string())
      why.code = *code;
    if (const auto text = error->find("message");
        text != error->end() && text->is_string())
      why.text = *text;
  }
  if (why.code.empty())
    why.code = fmt::format("status_{}", reply.status);
  why.code = without_controls(why.code);
  why.text = without_controls(why.text);
  return why;
}

server_caller::server_caller(server_options options)
  : options_(std::move(options)) {
  while (options_.url.ends_with('/'))
    options_.url.pop_back();
}

result<http::client_reply> server_caller::ask(std::string_view method,
                                              std::string_view path,
                                              std::string body,
                                              http::fields headers) const {
  http::client_request what;
  what.method = method;
  what.url = options_.url + std::string{path};
  what.headers = std::move(headers);
  what.authorities = options_.authorities;
  what.key_in_clear = key_may_be_seen();
  if (options_.key)
    what.headers.emplace_back("Authorization", "Bearer " + *options_.key);
  if (!body.empty()) {
    what.headers.emplace_back("Content-Type", "application/json");
    what.patience = options_.patience;
  }
  what.body = std::move(body);
  return http::ask_server(what);
}

result<void> server_caller::check() const {
  const auto reply = ask("GET", "/health");
  if (!reply)
    return reply.why();
  const auto x = json::parse(reply->body, nullptr, false);
  if (x.is_object() && x.contains("status"))
    return {};
  return fail(ec::unavailable,
              "{} answers with status {}, but is not an Atelier server",
              show_value(options_.url), reply->status);
}

} // namespace atelier::runtime::cli
