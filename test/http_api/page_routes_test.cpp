// SPDX-License-Identifier: Apache-2.0
#include "support/api_rig.hpp"
#include <atelier/core/page_colours.hpp>
#include <atelier/core/report_page.hpp>
#include <atelier/core/version.hpp>
#include <atelier/runtime/http/cluster_routes.hpp>
#include <atelier/runtime/http/page_files.hpp>
#include <atelier/runtime/http/page_routes.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using runtime::http::find_field;
using runtime::http::scope;

struct fixture : test::api_rig {
  fixture() {
    runtime::http::add_page_routes(routes);
    runtime::http::cluster_context with;
    with.images = images;
    with.condition = condition;
    with.recent = recent;
    with.counted = std::make_shared<runtime::http::metrics>();
    with.all = all;
    runtime::http::add_cluster_routes(routes, with);
  }

  nlohmann::json body_of(const std::string& path) {
    return nlohmann::json::parse(get(path)->answered->body);
  }

  std::shared_ptr<runtime::http::recent_images> recent =
    std::make_shared<runtime::http::recent_images>(clocks().steady);
  std::shared_ptr<runtime::http::health> condition =
    std::make_shared<runtime::http::health>(images, "1", clocks().steady);
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(page_routes_test, fixture)

BOOST_AUTO_TEST_CASE(the_page_and_all_that_it_names_are_there) {
  const auto page = get("/")->answered.value();
  BOOST_TEST(page.status == 200u);
  BOOST_TEST(page.content_type == "text/html; charset=utf-8");
  BOOST_TEST(find_field(page.headers, "Content-Security-Policy")
               .starts_with("default-src 'none'"));
  size_t named = 0;
  for (const auto& file : runtime::http::page_files()) {
    if (file.name == "index.html")
      continue;
    const auto got = get("/page/" + std::string{file.name})->answered.value();
    BOOST_TEST(got.body == file.text);
    named += page.body.find("page/" + std::string{file.name}) != page.body.npos;
  }
  // These are the style and the first script; the other scripts are imported.
  BOOST_TEST(named == 2u);
}

BOOST_AUTO_TEST_CASE(the_page_needs_no_key_and_loads_nothing_from_elsewhere) {
  BOOST_TEST((routes.find("GET", "/").found->needs == scope::anyone));
  for (const auto& file : runtime::http::page_files()) {
    auto text = std::string{file.text};
    // This is the name of a language, which the browser does not load.
    const std::string svg = "http://www.w3.org/2000/svg";
    if (const auto at = text.find(svg); at != text.npos)
      text.erase(at, svg.size());
    BOOST_TEST(text.find("http://") == text.npos, file.name);
    BOOST_TEST(text.find("https://") == text.npos, file.name);
    BOOST_TEST(text.find("<script>") == text.npos, file.name);
    BOOST_TEST(text.find(" style=") == text.npos, file.name);
  }
}

BOOST_AUTO_TEST_CASE(the_page_fetches_images_from_where_it_came) {
  // Behind a proxy the addresses in replies may name another host or scheme.
  for (const auto& file : runtime::http::page_files())
    BOOST_TEST(file.text.find("imageUrl(image.url)") == file.text.npos,
               file.name);
}

BOOST_AUTO_TEST_CASE(the_page_reads_no_seed_as_a_number) {
  const auto create = get("/page/create.js")->answered.value().body;
  BOOST_TEST(create.find("'native_only', 'seed'];") != create.npos);
  const auto api = get("/page/api.js")->answered.value().body;
  BOOST_TEST(api.find("await call('GET', path)).json()") == api.npos);
  BOOST_TEST(api.find("parse(data.join(") != api.npos);
  BOOST_TEST(api.find("body: body ? write(body)") != api.npos);
}

BOOST_AUTO_TEST_CASE(the_page_speaks_of_images) {
  const auto page = get("/")->answered->body;
  BOOST_TEST(page.find("icture") == page.npos);
}

BOOST_AUTO_TEST_CASE(reports_have_the_colours_of_the_page) {
  const auto files = runtime::http::page_files();
  const auto css =
    std::ranges::find(files, "page.css", &runtime::http::page_file::name);
  BOOST_REQUIRE(css != files.end());
  const std::string colours{core::page_colours()};
  BOOST_TEST(css->text.starts_with(colours));
  BOOST_TEST(core::report_head("t").find(colours) != std::string::npos);
  // Neither sets another colour.
  BOOST_TEST(css->text.find(":root", colours.size()) == css->text.npos);
}

BOOST_AUTO_TEST_CASE(the_variants_are_told) {
  const auto known = body_of("/v1/variants").at("data");
  BOOST_REQUIRE(known.size() == images->known.size());
  BOOST_TEST(known[0].at("name") == images->known.front().name);
  BOOST_TEST(known[0].at("steps") == images->known.front().steps);
}

BOOST_AUTO_TEST_CASE(the_cluster_is_for_admins_and_tells_recent_images) {
  BOOST_TEST((routes.find("GET", "/v1/cluster").found->needs == scope::admin));
  generated_image p;
  p.variant = "base@50";
  p.took.total = 1500ms;
  recent->note(p);
  const auto x = body_of("/v1/cluster");
  BOOST_REQUIRE(x.at("recent").size() == 1u);
  BOOST_TEST(x["recent"][0].at("variant") == "base@50");
  BOOST_TEST(x["recent"][0].at("seconds") == 1.5);
  BOOST_TEST(x.at("requests").at("waiting") == 0);
  BOOST_TEST(x.at("quick_build") == core::is_quick_build());
}

// Its hits and routes would tell a key of others' prompts.
BOOST_AUTO_TEST_CASE(metrics_are_for_admins_and_in_the_text_format) {
  BOOST_TEST((routes.find("GET", "/metrics").found->needs == scope::admin));
  for (int i = 0; i < 4; ++i)
    enter(wish());
  const auto got = get("/metrics")->answered.value();
  BOOST_TEST(got.content_type == "text/plain; version=0.0.4; charset=utf-8");
  BOOST_TEST(got.body.find("\natelier_jobs_open 4\n") != got.body.npos);
}

BOOST_AUTO_TEST_CASE(of_recent_images_only_so_many_are_kept) {
  for (int i = 0; i < 5000; ++i)
    recent->note({});
  BOOST_TEST(recent->all().size() == 4096u);
}

BOOST_AUTO_TEST_SUITE_END()
