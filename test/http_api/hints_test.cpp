// SPDX-License-Identifier: Apache-2.0
#include "support/api_rig.hpp"
#include <atelier/runtime/http/a1111_routes.hpp>
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/description_routes.hpp>
#include <atelier/runtime/http/detail/hints.hpp>
#include <atelier/runtime/http/detail/parameter_texts.hpp>
#include <atelier/runtime/http/job_routes.hpp>
#include <atelier/runtime/http/openai_routes.hpp>

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <sstream>

using namespace atelier;
using namespace atelier::runtime::http;
using nlohmann::json;

namespace {

using texts = std::vector<std::string>;

struct rig : test::api_rig {
  rig() {
    add_openai_routes(routes, all, context());
    add_a1111_routes(routes, all, context());
    add_job_routes(routes, all, context());
    images->bytes_of = [](const generation&) { return png(16, 16); };
  }

  /// Lets the call's image be drawn; returns the texts of the reply's notes.
  texts notes(const std::string& path, json body) {
    body["prompt"] = "a cat";
    const auto got = post_json(path, body);
    BOOST_TEST_REQUIRE(got->status() == 0u,
                       (got->answered ? got->answered->body : ""));
    images->finish(images->count());
    BOOST_TEST_REQUIRE(got->status() == 200u);
    const auto v = got->body();
    texts told;
    if (path.starts_with("/v1")) {
      for (const auto& x : v["data"][0]["notes"]) {
        BOOST_TEST(x["code"] == "field_ignored");
        told.push_back(x["text"]);
      }
      return told;
    }
    std::istringstream lines{
      json::parse(v["info"].get<std::string>())["comments"].get<std::string>()};
    for (std::string line; std::getline(lines, line);)
      told.push_back(line);
    return told;
  }

  texts generate(const json& body) {
    return notes("/v1/images/generations", body);
  }

  texts draw(const json& body) {
    return notes("/sdapi/v1/txt2img", body);
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(hints_test)

BOOST_AUTO_TEST_CASE(hints_are_taken_and_noted) {
  rig r;
  BOOST_TEST((r.generate({{"style", "natural"}})
              == texts{"style \"natural\": it has no effect, the prompt alone "
                       "sets the style"}));
  const auto all = r.generate({{"style", "natural"},
                               {"input_fidelity", "high"},
                               {"mode", 1},
                               {"generator_device", "cuda"},
                               {"enable_teacache", true}});
  BOOST_TEST(all.size() == 5u);
  BOOST_TEST((r.draw({{"restore_faces", true}})
              == texts{"restore_faces true: it has no effect, there is no face "
                       "restoration"}));
  BOOST_TEST((r.draw({{"override_settings", {{"randn_source", "NV"}}}})
              == texts{"randn_source \"NV\": it has no effect, noise is drawn "
                       "on the CPU"}));
}

BOOST_AUTO_TEST_CASE(what_is_done_anyway_is_not_noted) {
  rig r;
  BOOST_TEST(r.generate({{"style", "vivid"},
                         {"input_fidelity", "low"},
                         {"mode", 0},
                         {"generator_device", "cpu"},
                         {"enable_teacache", false},
                         {"moderation", "low"},
                         {"user", "u"}})
               .empty());
  BOOST_TEST(r.draw({{"restore_faces", false},
                     {"override_settings",
                      {{"randn_source", "CPU"},
                       {"forge_additional_modules", json::array()}}}})
               .empty());
}

BOOST_AUTO_TEST_CASE(hints_that_are_none_are_refused) {
  rig r;
  for (const auto& [field, value] :
       std::vector<std::pair<std::string, json>>{{"style", "loud"},
                                                 {"input_fidelity", 1},
                                                 {"mode", json::array()},
                                                 {"enable_teacache", "yes"}}) {
    const auto got =
      r.post_json("/v1/images/generations", {{"prompt", "a"}, {field, value}});
    BOOST_TEST(got->status() == 400u, field);
    BOOST_TEST(got->body()["error"]["param"] == field);
  }
  BOOST_TEST(r.post_json("/sdapi/v1/txt2img",
                         {{"override_settings", {{"randn_source", "TPU"}}}})
               ->status()
             == 400u);
}

BOOST_AUTO_TEST_CASE(options_that_have_no_effect_are_noted_with_each_image) {
  rig r;
  const auto set = [&](const json& body) {
    return r.post_json("/sdapi/v1/options", body)->status();
  };
  BOOST_TEST(set({{"randn_source", "GPU"}}) == 200u);
  BOOST_TEST(set({{"randn_source", "TPU"}}) == 400u);
  BOOST_TEST(r.get("/sdapi/v1/options")->body()["randn_source"] == "GPU");
  BOOST_TEST(r.draw(json::object()).size() == 1u);
  BOOST_TEST(
    r.draw({{"override_settings", {{"randn_source", "CPU"}}}}).empty());
  r.key = "bob";
  BOOST_TEST(r.draw(json::object()).empty());
  r.key = "ann";
  BOOST_TEST(set({{"randn_source", "CPU"}}) == 200u);
  BOOST_TEST(r.draw(json::object()).empty());
}

BOOST_AUTO_TEST_CASE(the_documentation_has_them_all) {
  std::ifstream file{ATELIER_HTTP_API_DOC};
  std::stringstream text;
  text << file.rdbuf();
  const auto doc = text.str();
  BOOST_TEST_REQUIRE(!doc.empty());
  const std::string head = "| hint | of | values | not noted | note |\n"
                           "| --- | --- | --- | --- | --- |\n";
  std::string wanted = head;
  for (const auto& x : detail::hints())
    wanted += "| `" + std::string{x.field} + "` | "
            + (x.api == "openai"  ? "OpenAI"
               : x.api == "a1111" ? "the web UI"
                                  : "the web UI's options")
            + " | " + std::string{x.values} + " | " + std::string{x.quiet}
            + " | " + std::string{x.note} + " |\n";
  BOOST_TEST(doc.find(wanted + "\n") != std::string::npos,
             "docs/http-api.md lacks this table:\n"
               << wanted);
}

BOOST_AUTO_TEST_CASE(fields_that_are_described_are_taken) {
  rig r;
  auto whole = json::parse(openapi_text());
  whole["components"]["schemas"]["Drawing"]["properties"].update(
    json::parse(detail::parameter_schemas().dump()));
  const auto& schemas = whole["components"]["schemas"];
  const auto image = to_base64(test::api_rig::png(16, 16));
  for (const auto& [path, name, base] :
       std::vector<std::tuple<std::string, std::string, json>>{
         {"/v1/images/generations", "GenerationCall", {{"prompt", "a"}}},
         {"/v1/images/edits", "EditCall", {{"prompt", "a"}, {"image", image}}},
         {"/v1/images/variations", "VariationCall", {{"image", image}}},
         {"/v1/jobs", "JobCall", {{"prompt", "a"}}}}) {
    auto properties = schemas[name]["properties"];
    for (const auto& part : schemas[name]["allOf"]) {
      const auto at = part["$ref"].get<std::string>();
      properties.update(schemas[at.substr(at.rfind('/') + 1)]["properties"]);
    }
    auto body = base;
    for (const auto& [field, ignored] : properties.items())
      if (!body.contains(field))
        body[field] = nullptr;
    const auto got = r.post_json(path, body);
    BOOST_TEST((got->status() == 0u || got->status() == 202u),
               name << ": " << (got->answered ? got->answered->body : ""));
    body["unheard_of"] = nullptr;
    BOOST_TEST(r.post_json(path, body)->status() == 400u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
