// SPDX-License-Identifier: Apache-2.0
#include "support/api_rig.hpp"
#include <atelier/runtime/http/admin_routes.hpp>
#include <atelier/runtime/http/drained_images.hpp>
#include <atelier/runtime/http/job_routes.hpp>

#include <boost/test/unit_test.hpp>

#include <utility>

using namespace atelier;
using namespace atelier::runtime::http;
using nlohmann::json;

namespace {

/// A fake engine with a state that the test sets.
struct shown_images : test::fake_images {
  engine_status status() const override {
    engine_status x;
    x.policy = "argus";
    x.policy_is_automatic = true;
    x.plan_version = 3;
    x.waiting = 1;
    x.running = 2;
    x.workers = {{"cpu:0", {"tiny@8"}, true, 2, 16, 8, false, false, "old"}};
    x.processes = {{"device 0", 42, 1, true, true, {}, "restart the server"}};
    x.routes = {{"light", {{"tiny@8", "tiny@50"}}, {}, {0.75, 0}},
                {"cascade", {{"tiny@8"}, {"other@4"}}, 0, {0.25, 1}}};
    x.thresholds = {0.5};
    x.deferred = {0.375};
    x.admitted_rates = {1.5, 0.25};
    x.reasons = {"base@50 is too slow", "so tiny@8 draws"};
    x.objective = 0.75;
    x.saturated = true;
    x.infeasible = "deadline_ms 40: one image takes 50 ms";
    x.profiles = costs;
    x.cache = cache;
    return x;
  }

  static profile_status told(std::string kind, std::string text) {
    return {std::move(kind),
            std::make_shared<const std::string>(std::move(text))};
  }

  std::vector<profile_status> costs{told("", R"({"variants":[]})"),
                                    told("slow", R"({"variants":[1]})")};
  std::optional<cache_status> cache;
};

/// An engine with a cache of these entries.
struct cached_images : test::fake_images {
  atelier::result<std::vector<cache_entry>> cache_entries(
    const cache_query& which) const override {
    if (fault)
      return *fault;
    std::vector<cache_entry> out;
    for (const auto& x : entries)
      if (x.entry > which.after && out.size() < which.most
          && (!which.tenant || x.tenant == tenant_digits(*which.tenant)))
        out.push_back(x);
    return out;
  }

  static cache_entry entry(uint64_t number, std::string_view tenant) {
    cache_entry x;
    x.entry = number;
    x.tenant = tenant_digits(tenant);
    x.prompt_sha256 = "abc";
    x.prompt = "a red ball";
    x.model = "tiny";
    x.variant = "tiny@8";
    x.width = 64;
    x.height = 32;
    x.steps = {5, 10};
    x.depth = 1;
    x.bytes = 300;
    x.answers = 2;
    x.saved_steps = 15;
    x.made = -100;
    x.tier = "disk";
    return x;
  }

  std::vector<cache_entry> entries{entry(3, "alice"), entry(5, ""),
                                   entry(8, "alice"), entry(9, "mallory")};
  std::optional<failure> fault;
};

struct rig : test::api_rig {
  rig() {
    settings.http.keys = "/etc/secret/keys";
    settings.http.private_key = "/etc/secret/key.pem";
    settings.http.certificate = "/etc/secret/certificate.pem";
    shown->known = images->known;
    condition = std::make_shared<health>(shown, "1.2.3", clocks().steady);
    condition->enter(health::stage::running);
    condition->refresh();
    auto with = context();
    with.images = drained(images, condition);
    jobs_here = std::make_shared<jobs>(with.images, job_limits{}, clocks());
    add_job_routes(routes, jobs_here, with);
    callers = std::make_shared<runtime::http::access>(std::vector<access_key>{
      {"alice", "", scope::user, 0}, {"bob", "", scope::user, 0}});
    // The list of entries has an engine of its own.
    route_table of_entries;
    add_admin_routes(of_entries,
                     {cached, condition, jobs_here, settings, with, callers});
    add_admin_routes(routes, {images, condition, jobs_here, settings});
    entries = std::move(of_entries);
    who = scope::admin;
  }

  exchange_ptr send(std::string method, std::string path,
                    std::string body = {}) {
    request_message x;
    x.method = std::move(method);
    x.path = std::move(path);
    x.body = std::move(body);
    return ask(std::move(x));
  }

  /// Returns the reply to a call for entries.
  exchange_ptr list(fields query) {
    request_message x;
    x.method = "GET";
    x.path = "/v1/admin/caches/entries";
    x.query = std::move(query);
    std::swap(routes, entries);
    auto out = ask(std::move(x));
    std::swap(routes, entries);
    return out;
  }

  std::shared_ptr<cached_images> cached = std::make_shared<cached_images>();
  std::shared_ptr<runtime::http::access> callers;
  route_table entries;
  std::shared_ptr<shown_images> shown = std::make_shared<shown_images>();
  config::settings settings;
  std::shared_ptr<health> condition;
  std::shared_ptr<jobs> jobs_here;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(admin_routes_test, rig)

BOOST_AUTO_TEST_CASE(all_of_them_are_for_admins_alone) {
  size_t count = 0;
  for (const auto& x : routes.all())
    if (x.pattern.starts_with("/v1/admin/")) {
      ++count;
      BOOST_TEST((x.needs == scope::admin), x.pattern);
    }
  BOOST_TEST(count == 13u);
}

BOOST_AUTO_TEST_CASE(the_plan_in_force_is_told) {
  const auto x = get("/v1/admin/plan")->body();
  BOOST_TEST(x["policy"] == "argus");
  BOOST_TEST(x["version"] == 3);
  BOOST_TEST(x["workers"][0]["variants"][0] == "tiny@8");
  BOOST_TEST(x["workers"][0]["kind"] == "old");
  BOOST_TEST(
    x["routes"].dump()
    == R"([{"name":"light","shares":[0.75,0.0],"stages":)"
       R"([["tiny@8","tiny@50"]]},{"name":"cascade","shares":)"
       R"([0.25,1.0],"stages":[["tiny@8"],["other@4"]],"threshold":0}])");
  BOOST_TEST(x["thresholds"][0] == 0.5);
  BOOST_TEST(x["deferred"][0] == 0.375);
  BOOST_TEST(x["admitted_rates"].dump() == "[1.5,0.25]");
  BOOST_TEST(x["reasons"].dump()
             == R"(["base@50 is too slow","so tiny@8 draws"])");
  BOOST_TEST(x["objective"] == 0.75);
  BOOST_TEST(x["saturated"] == true);
  BOOST_TEST(x["infeasible"] == "deadline_ms 40: one image takes 50 ms");
}

BOOST_AUTO_TEST_CASE(the_policy_in_use_is_named_and_whether_auto_chose_it) {
  const auto named = [](const nlohmann::json& x) {
    BOOST_TEST(x["policy"] == "argus");
    BOOST_TEST(x["policy_automatic"] == true);
  };
  named(get("/v1/admin/plan")->body());
  named(get("/v1/admin/topology")->body());
  named(nlohmann::json::parse(condition->reply(scope::admin).body));
  BOOST_TEST(!nlohmann::json::parse(condition->reply(scope::anyone).body)
                .contains("policy"));
}

BOOST_AUTO_TEST_CASE(the_costs_of_plans_are_told_as_a_file) {
  const auto x = get("/v1/admin/profile");
  BOOST_TEST(x->status() == 200u);
  BOOST_TEST(x->answered->body == *shown->costs[0].text);
  const auto of_kind = [&](std::string kind) {
    request_message m;
    m.method = "GET";
    m.path = "/v1/admin/profile";
    m.query = {{"kind", std::move(kind)}};
    return ask(std::move(m));
  };
  BOOST_TEST(of_kind("slow")->answered->body == *shown->costs[1].text);
  const auto unknown = of_kind("fast");
  BOOST_TEST(unknown->status() == 404u);
  BOOST_TEST(unknown->answered->body.find("'fast'") != std::string::npos);
  shown->costs.clear();
  condition->refresh();
  BOOST_TEST(get("/v1/admin/profile")->status() == 503u);
}

BOOST_AUTO_TEST_CASE(workers_and_processes_are_told) {
  const auto x = get("/v1/admin/workers")->body();
  BOOST_TEST(x["workers"][0]["device"] == "cpu:0");
  BOOST_TEST(x["workers"][0]["kind"] == "old");
  BOOST_TEST(x["workers"][0]["seats"] == 16);
  BOOST_TEST(x["processes"][0]["pid"] == 42);
  BOOST_TEST(x["processes"][0]["fault"] == "restart the server");
}

BOOST_AUTO_TEST_CASE(the_topology_tells_no_secret) {
  const auto got = get("/v1/admin/topology");
  BOOST_TEST(got->body()["devices"][0]["name"] == "cpu:0");
  BOOST_TEST(got->body()["devices"][0]["kind"] == "cpu");
  BOOST_TEST(got->body()["toml"].get<std::string>().find("[http]")
             != std::string::npos);
  BOOST_TEST(got->answered->body.find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(kept_images_are_counted) {
  BOOST_TEST(get("/v1/admin/caches")->body()["results"]["bytes"] == 0);
  post("/v1/jobs", R"({"prompt":"a"})");
  images->finish(1);
  const auto x = get("/v1/admin/caches")->body();
  BOOST_TEST(x["results"]["jobs"] == 1);
  BOOST_TEST(x["results"]["bytes"].get<uint64_t>() > 100u);
  BOOST_TEST(x["results"]["disk_bytes"] == 0);
}

BOOST_AUTO_TEST_CASE(what_is_remembered_is_told_where_anything_is) {
  BOOST_TEST(!get("/v1/admin/caches")->body().contains("earlier_work"));
  auto& c = shown->cache.emplace();
  c.entries = 2;
  c.most_entries = 9;
  c.bytes = 300;
  c.most_bytes = 1000;
  c.hits = 5;
  c.misses = 7;
  c.evicted = 11;
  c.torn = 13;
  c.evicted_payloads = 14;
  c.captured = 17;
  c.checked = 23;
  c.agreed = 19;
  c.failures = 29;
  c.pending = 3;
  c.overflowed = 21;
  c.spent = 31;
  c.encoded = 37;
  c.recalled = 41;
  c.compares = "images";
  c.encoded_images = 43;
  c.reads_left_out = true;
  c.predictor = {43, 47, 53, 50, 0.75, {}, 0.25, 59, 61, 3};
  condition->refresh();
  const auto x = get("/v1/admin/caches")->body()["earlier_work"];
  BOOST_TEST(x.dump()
             == R"({"agreed":19,"bytes":300,"captured":17,"checked":23,)"
                R"("compares":"images","encoded":37,"encoded_images":43,)"
                R"("entries":2,"evicted":11,"evicted_payloads":14,)"
                R"("eviction":"lru",)"
                R"("failures":29,"hits":5,"misses":7,"most_bytes":1000,)"
                R"("most_entries":9,"overflowed":21,"pending":3,)"
                R"("predictor":{"checked":53,"failures":61,)"
                R"("false_alarms":0.25,"precision":0.75,"recall":null,)"
                R"("said_hits":43,"said_misses":47,"samples":50,)"
                R"("trained_keys":3,"trainings":59},"reads_left_out":true,)"
                R"("recalled":41,"spent":31,"torn":13,)"
                R"("writes_left_out":false})");
}

BOOST_AUTO_TEST_CASE(entries_of_the_cache_are_listed_page_by_page) {
  const auto first = list({{"limit", "2"}});
  BOOST_TEST(first->status() == 200u);
  BOOST_TEST(first->body()["object"] == "list");
  BOOST_TEST(first->body()["has_more"] == true);
  auto x = first->body()["data"][0];
  BOOST_TEST(x.value("age_s", 0) > 0);
  x.erase("age_s");
  auto expected = json::parse(
    R"({"entry":3,"key":"alice","prompt":"a red ball","prompt_sha256":"abc",
        "model":"tiny","variant":"tiny@8","size":"64x32","steps":[5,10],
        "image":false,"depth":1,"bytes":300,"answers":2,"saved_steps":15,
        "created":-100,"tier":"disk"})");
  expected["tenant"] = tenant_digits("alice");
  BOOST_TEST((x == expected), x.dump());
  // Clients without a key have no tenant.
  BOOST_TEST(first->body()["data"][1]["key"] == "");
  BOOST_TEST(first->body()["data"][1]["tenant"] == "");
  const auto rest = list({{"limit", "2"}, {"after", "5"}})->body();
  BOOST_TEST(rest["has_more"] == false);
  BOOST_TEST(rest["data"].size() == 2u);
  BOOST_TEST(rest["data"][0]["entry"] == 8);
  // The server has no key of this name any longer.
  BOOST_TEST(!rest["data"][1].contains("key"));
  BOOST_TEST(list({{"key", "alice"}})->body()["data"].size() == 2u);
  BOOST_TEST(list({{"key", ""}})->body()["data"].size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_page_of_entries_is_refused_by_name) {
  for (const auto& [name, value] : {std::pair{"limit", "0"},
                                    {"limit", "1001"},
                                    {"after", "x"},
                                    {"after", "-1"}}) {
    const auto got = list({{name, value}});
    BOOST_TEST(got->status() == 400u, name << " " << value);
    BOOST_TEST(got->body()["error"]["param"] == name);
  }
  cached->fault = failure{"not_found", "the engine has no cache", {}};
  BOOST_TEST(list({})->status() == 404u);
  BOOST_TEST(list({})->body()["error"]["message"] == "the engine has no cache");
}

BOOST_AUTO_TEST_CASE(a_drained_server_finishes_what_runs_and_takes_no_more) {
  const auto before = post("/v1/jobs", R"({"prompt":"a"})");
  BOOST_TEST(before->status() == 202u);
  BOOST_TEST(get("/v1/admin/drain")->body()["draining"] == false);
  const auto drained = send("POST", "/v1/admin/drain");
  BOOST_TEST(drained->status() == 200u);
  BOOST_TEST(drained->body()["draining"] == true);
  BOOST_TEST(drained->body()["open_jobs"] == 1);
  BOOST_TEST(condition->reply(scope::anyone).status == 503u);
  BOOST_TEST(condition->word() == "draining");

  const auto refused = post("/v1/jobs", R"({"prompt":"b"})");
  BOOST_TEST(refused->status() == 503u);
  BOOST_TEST(find_field(refused->answered->headers, "Retry-After") == "5");
  BOOST_TEST(refused->body()["error"]["code"] == "stopping");
  BOOST_TEST(images->count() == 1u);

  images->finish(1);
  const std::string id = before->body()["id"];
  BOOST_TEST(get("/v1/jobs/" + id)->body()["status"] == "completed");

  BOOST_TEST(send("DELETE", "/v1/admin/drain")->body()["draining"] == false);
  BOOST_TEST(condition->word() == "ok");
  BOOST_TEST(post("/v1/jobs", R"({"prompt":"c"})")->status() == 202u);
}

BOOST_AUTO_TEST_CASE(the_level_of_the_log_is_read_and_refused_by_name) {
  BOOST_TEST(get("/v1/admin/log")->body()["level"] == "off");
  for (const auto* body : {R"({"level":"loud"})", R"({"level":7})", "{}"}) {
    const auto got = send("PUT", "/v1/admin/log", body);
    BOOST_TEST(got->status() == 400u, body);
    BOOST_TEST(got->body()["error"]["param"] == "level", body);
  }
  BOOST_TEST(send("PUT", "/v1/admin/log", "[]")->status() == 400u);
  BOOST_TEST(send("PUT", "/v1/admin/log", R"({"level":"info","x":1})")->status()
             == 400u);
  // No log runs in a test.
  BOOST_TEST(send("PUT", "/v1/admin/log", R"({"level":"info"})")->status()
             == 409u);
}

BOOST_AUTO_TEST_CASE(models_are_loaded_and_unloaded_by_hand) {
  for (const auto* what : {"load", "unload"}) {
    const auto got = send("POST", std::string{"/v1/admin/models/tiny/"} + what);
    BOOST_TEST(got->status() == 202u);
    BOOST_TEST(got->body()["model"] == "tiny");
  }
  const decltype(images->moved) expected{{"tiny", true}, {"tiny", false}};
  BOOST_TEST((images->moved == expected));
}

BOOST_AUTO_TEST_CASE(a_model_that_cannot_be_hosted_is_refused_with_the_reason) {
  const std::pair<const char*, unsigned> rows[] = {
    {"not_found", 404}, {"out_of_resources", 409}, {"stopping", 503}};
  for (const auto& [code, status] : rows) {
    images->no_room = failure{code, "why not", {}};
    const auto got = send("POST", "/v1/admin/models/tiny/load");
    BOOST_TEST(got->status() == status);
    BOOST_TEST(got->body()["error"]["code"] == code);
    BOOST_TEST(got->body()["error"]["message"] == "why not");
  }
}

BOOST_AUTO_TEST_SUITE_END()
