// SPDX-License-Identifier: Apache-2.0
#include "support/api_rig.hpp"
#include <atelier/core/parameters.hpp>
#include <atelier/runtime/http/description_routes.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_lists.hpp>
#include <atelier/runtime/http/detail/parameter_texts.hpp>
#include <atelier/runtime/http/page_routes.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>

using namespace atelier;
using nlohmann::ordered_json;
using runtime::http::detail::parameter_schemas;

namespace {

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(parameter_texts_test)

BOOST_AUTO_TEST_CASE(schemas_say_type_and_range) {
  const auto sut = parameter_schemas();
  for (const auto& x : core::parameters)
    for (const auto name : {x.name, x.also, x.localai})
      if (!name.empty())
        BOOST_TEST(sut.contains(std::string{name}), name);
  BOOST_TEST(sut["steps"]
             == (ordered_json{{"type", "integer"},
                              {"description", core::parameters[0].doc},
                              {"minimum", 1}}));
  BOOST_TEST(sut["num_inference_steps"]["description"] == "The same as steps.");
  BOOST_TEST(sut["step"]["minimum"] == 0);
  BOOST_TEST(sut["strength"]["type"] == "number");
  BOOST_TEST(sut["strength"]["minimum"] == 0.001);
  BOOST_TEST(sut["strength"]["maximum"] == 1);
  BOOST_TEST(sut["karras"]["type"] == "boolean");
  BOOST_TEST(sut["sampler"]["enum"] == core::sampler_names);
  BOOST_TEST(sut["noise"]["enum"] == core::noise_source_names);
}

BOOST_AUTO_TEST_CASE(calls_of_the_web_ui_have_what_the_table_gives_them) {
  test::api_rig r;
  runtime::http::add_description_routes(r.routes);
  const auto whole =
    ordered_json::parse(r.get("/openapi.json")->answered->body);
  const auto& all = whole["components"]["schemas"];
  for (const auto& x : core::parameters) {
    const std::string name{x.webui_field};
    const bool there = all["WebUiDrawing"]["properties"].contains(name)
                    || all["Img2ImgCall"]["properties"].contains(name);
    BOOST_TEST(there == !name.empty(), x.name);
  }
  const auto& rescale = all["WebUiDrawing"]["properties"]["guidance_rescale"];
  BOOST_TEST(rescale["maximum"] == 1);
}

BOOST_AUTO_TEST_CASE(the_page_asks_for_every_parameter) {
  test::api_rig r;
  runtime::http::add_page_routes(r.routes);
  const auto page = r.get("/")->answered->body;
  for (const auto& x : core::parameters)
    BOOST_TEST(holds(page, fmt::format("name=\"{}\"", x.name)), x.name);
  for (const auto name : core::sampler_names)
    BOOST_TEST(holds(page, fmt::format("<option>{}</option>", name)), name);
  BOOST_TEST(!holds(page, "<!--"));
  BOOST_TEST(
    holds(page, "<input name=\"eta\" type=\"number\" min=\"0\" max=\"1\""));
  BOOST_TEST(holds(page, "<input name=\"karras\" type=\"checkbox\">"));
}

BOOST_AUTO_TEST_CASE(the_web_ui_is_told_every_sampler) {
  const auto sut = runtime::http::detail::a1111_samplers();
  BOOST_TEST_REQUIRE(sut.size() == core::sampler_count);
  for (size_t i = 0; i < sut.size(); ++i) {
    const auto& row = row_of(core::samplers_of_webui[i]);
    BOOST_TEST(sut[i]["name"] == row.webui);
    BOOST_TEST(sut[i]["aliases"][0] == row.name);
  }
}

BOOST_AUTO_TEST_CASE(the_document_names_every_parameter_and_sampler) {
  std::ifstream in{ATELIER_HTTP_API_DOC};
  std::stringstream text;
  text << in.rdbuf();
  for (const auto& x : core::parameters)
    BOOST_TEST(holds(text.str(), fmt::format("`{}`", x.name)), x.name);
  for (const auto name : core::sampler_names)
    BOOST_TEST(holds(text.str(), fmt::format("`{}`", name)), name);
}

BOOST_AUTO_TEST_SUITE_END()
