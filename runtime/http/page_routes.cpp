// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/page_files.hpp>
#include <atelier/runtime/http/page_routes.hpp>

#include <memory>
#include <string>

namespace atelier::runtime::http {

namespace {

/// The page loads nothing from elsewhere, runs no script but its own, and is in
/// nobody's frame.
constexpr auto content_policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; "
  "connect-src 'self' blob:; img-src 'self' data: blob:; base-uri 'none'; "
  "form-action 'none'; frame-ancestors 'none'";

std::string content_type(std::string_view name) {
  if (name.ends_with(".html"))
    return "text/html; charset=utf-8";
  return name.ends_with(".css") ? "text/css; charset=utf-8"
                                : "text/javascript; charset=utf-8";
}

void add_file(route_table& to, std::string pattern, const page_file& file) {
  route x;
  x.method = "GET";
  x.pattern = std::move(pattern);
  x.needs = scope::anyone;
  x.answer = [file](const std::shared_ptr<exchange>& with) {
    reply_message reply;
    reply.content_type = content_type(file.name);
    reply.headers = {{"Content-Security-Policy", content_policy},
                     {"Referrer-Policy", "no-referrer"},
                     {"Cache-Control", "no-cache"}};
    reply.body = file.text;
    with->reply(std::move(reply));
  };
  to.add(std::move(x));
}

} // namespace

void add_page_routes(route_table& to) {
  for (const auto& file : page_files())
    add_file(to,
             file.name == "index.html" ? std::string{"/"}
                                       : "/page/" + std::string{file.name},
             file);
}

} // namespace atelier::runtime::http
