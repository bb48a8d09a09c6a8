// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/version.hpp>
#include <atelier/runtime/http/description_routes.hpp>
#include <atelier/runtime/http/doors.hpp>

#include <boost/test/unit_test.hpp>
#include <http/still_images.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace atelier::runtime::http {

namespace {

using nlohmann::json;

/// Keeps the reply that it gets.
class one_exchange : public exchange {
public:
  const request_message& asked() const override {
    return asked_;
  }

  void drop_body() override {
    asked_.body = std::string{};
  }

  void reply(reply_message x) override {
    answered = std::move(x);
  }

  void begin_events() override {}

  void event(std::string_view, std::string_view) override {}

  void end_events() override {}

  void on_gone(std::function<void()>) override {}

  reply_message answered;

private:
  request_message asked_;
};

struct fixture {
  fixture() {
    const auto images = std::make_shared<test::still_images>();
    const auto condition =
      std::make_shared<health>(images, "1", [] { return core::time_point{}; });
    const config::settings settings;
    made = doors::make({images, condition, settings});
    whole = get("/openapi.json");
  }

  json get(const char* path) const {
    const auto found = made.routes->find("GET", path);
    BOOST_TEST_REQUIRE(found.found != nullptr);
    BOOST_TEST((found.found->needs == scope::anyone));
    const auto x = std::make_shared<one_exchange>();
    found.found->answer(x);
    BOOST_TEST(x->answered.status == 200u);
    return json::parse(x->answered.body);
  }

  doors made;
  json whole;
};

std::string upper(std::string x) {
  std::transform(x.begin(), x.end(), x.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return x;
}

/// Follows every "$ref" below `x`.
void check_references(const json& whole, const json& x) {
  if (x.is_object()) {
    if (const auto i = x.find("$ref"); i != x.end()) {
      const auto text = i->get<std::string>();
      BOOST_TEST_REQUIRE(text.starts_with("#/"), text);
      BOOST_TEST(whole.contains(json::json_pointer{text.substr(1)}), text);
    }
    for (const auto& [key, value] : x.items())
      check_references(whole, value);
  } else if (x.is_array()) {
    for (const auto& value : x)
      check_references(whole, value);
  }
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(description_routes_test, fixture)

BOOST_AUTO_TEST_CASE(every_route_is_described_and_nothing_else) {
  std::set<std::string> described;
  for (const auto& [path, methods] : whole["paths"].items())
    for (const auto& [method, what] : methods.items()) {
      described.insert(upper(method) + " " + path);
      // The description also says which routes need a key.
      const auto found = made.routes->find(upper(method), path);
      BOOST_TEST_REQUIRE(found.found != nullptr, method << " " << path);
      const bool open = what.contains("security") && what["security"].empty();
      BOOST_TEST(open == (found.found->needs == scope::anyone), path);
      const bool web = what["responses"]["default"]["$ref"]
                    == "#/components/responses/WebUiError";
      BOOST_TEST(web == (found.found->errors == error_shape::a1111), path);
    }
  std::set<std::string> there;
  for (const auto& x : made.routes->all())
    there.insert(x.method + " " + x.pattern);
  BOOST_TEST(described == there, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_description_is_whole) {
  BOOST_TEST(whole["openapi"] == "3.1.0");
  BOOST_TEST(whole["info"]["version"] == core::version());
  check_references(whole, whole);
  std::set<std::string> names;
  std::set<std::string> tags;
  for (const auto& x : whole["tags"])
    tags.insert(x["name"].get<std::string>());
  for (const auto& [path, methods] : whole["paths"].items())
    for (const auto& [method, what] : methods.items()) {
      BOOST_TEST(!what["summary"].get<std::string>().empty());
      BOOST_TEST(names.insert(what["operationId"]).second, path);
      BOOST_TEST(tags.contains(what["tags"][0].get<std::string>()));
      // DELETE of a job cancels it or removes it.
      const bool two_ways = what["operationId"] == "deleteV1JobsId";
      BOOST_TEST(what["responses"].size() == (two_ways ? 3u : 2u));
      // The names in the path are its parameters.
      std::set<std::string> parts;
      for (const auto& x : what.value("parameters", json::array()))
        if (x["in"] == "path")
          parts.insert("{" + x["name"].get<std::string>() + "}");
      for (const auto& part : parts)
        BOOST_TEST(path.find(part) != std::string::npos);
      BOOST_TEST(static_cast<size_t>(std::count(path.begin(), path.end(), '{'))
                 == parts.size());
    }
}

BOOST_AUTO_TEST_CASE(the_endpoints_are_listed_in_short) {
  const auto v = get("/v1");
  BOOST_TEST(v["name"] == "atelier");
  BOOST_TEST(v["version"] == core::version());
  BOOST_TEST(v["openapi"] == "/openapi.json");
  BOOST_TEST(v["endpoints"].size() == made.routes->all().size());
  BOOST_TEST(v["endpoints"][0].contains("summary"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http
