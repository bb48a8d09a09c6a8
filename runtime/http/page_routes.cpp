// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/parameter_texts.hpp>
#include <atelier/runtime/http/page_files.hpp>
#include <atelier/runtime/http/page_routes.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

namespace atelier::runtime::http {

namespace {

/// The page loads nothing from elsewhere, runs only its own scripts, and cannot
/// be put into a frame.
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

/// Returns the text of a file. The parameters that are added to the index do
/// not change while the program runs.
std::string_view shown_text(const page_file& x) {
  static const auto& index = *new auto([] {
    const auto files = page_files();
    const auto i = std::ranges::find(files, "index.html", &page_file::name);
    return i == files.end() ? std::string{} : detail::with_parameters(i->text);
  }());
  return x.name == "index.html" ? std::string_view{index} : x.text;
}

void show(exchange& x, std::string_view name) {
  const auto files = page_files();
  const auto i = std::find_if(files.begin(), files.end(),
                              [&](const auto& y) { return y.name == name; });
  if (i == files.end())
    return x.reply(error_reply(
      error_shape::openai, 404, "not_found",
      fmt::format("the page has no file '{}'", name.substr(0, 128))));
  reply_message reply;
  reply.content_type = content_type(i->name);
  reply.headers = {{"Content-Security-Policy", content_policy},
                   {"Referrer-Policy", "no-referrer"},
                   {"Cache-Control", "no-cache"}};
  reply.body = shown_text(*i);
  x.reply(std::move(reply));
}

} // namespace

void add_page_routes(route_table& to) {
  const auto add = [&](const char* pattern, handler answer) {
    to.add(
      {"GET", pattern, scope::anyone, error_shape::openai, std::move(answer)});
  };
  add("/", [](const std::shared_ptr<exchange>& x) { show(*x, "index.html"); });
  add("/page/{file}", [](const std::shared_ptr<exchange>& x) {
    show(*x, find_field(x->asked().parts, "file"));
  });
}

} // namespace atelier::runtime::http
