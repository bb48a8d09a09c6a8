// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/version.hpp>
#include <atelier/runtime/http/description_routes.hpp>
#include <atelier/runtime/http/detail/parameter_texts.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>

namespace atelier::runtime::http {

namespace {

using json = nlohmann::ordered_json;

json endpoints_of(const json& whole) {
  json all = json::array();
  for (const auto& [path, methods] : whole["paths"].items())
    for (const auto& [method, what] : methods.items()) {
      auto name = method;
      std::transform(name.begin(), name.end(), name.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      });
      all.push_back(
        {{"method", name}, {"path", path}, {"summary", what["summary"]}});
    }
  return {{"name", "atelier"},
          {"version", whole["info"]["version"]},
          {"openapi", "/openapi.json"},
          {"endpoints", all}};
}

void add(route_table& to, const char* path, const json& body) {
  const auto text = std::make_shared<const std::string>(body.dump());
  to.add({"GET", path, scope::anyone, error_shape::openai,
          [text](const std::shared_ptr<exchange>& x) {
            reply_message reply;
            reply.body = *text;
            x->reply(std::move(reply));
          }});
}

} // namespace

void add_description_routes(route_table& to) {
  auto whole = json::parse(openapi_text());
  whole["info"]["version"] = core::version();
  whole["components"]["schemas"]["Drawing"]["properties"].update(
    detail::parameter_schemas());
  // The file already has the fields that the web UI describes differently, and
  // those that only img2img has.
  auto& drawing = whole["components"]["schemas"]["WebUiDrawing"]["properties"];
  const auto& from_image =
    whole["components"]["schemas"]["Img2ImgCall"]["properties"];
  const auto from_table = detail::webui_schemas();
  for (const auto& [name, schema] : from_table.items())
    if (!drawing.contains(name) && !from_image.contains(name))
      drawing[name] = schema;
  add(to, "/openapi.json", whole);
  add(to, "/v1", endpoints_of(whole));
}

} // namespace atelier::runtime::http
