// SPDX-License-Identifier: Apache-2.0
#include "support/api_rig.hpp"
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/job_routes.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::runtime::http;
using namespace std::chrono_literals;
using nlohmann::json;
using test::fake_images;

namespace {

struct rig : test::api_rig {
  explicit rig(job_limits within = {}) : api_rig(within) {
    add_job_routes(routes, all, context());
  }

  std::string submit(const json& body = {{"prompt", "a cat"}}) {
    const auto got = post_json("/v1/jobs", body);
    BOOST_TEST_REQUIRE(got->status() == 202u);
    return got->body()["id"];
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(job_routes_test)

BOOST_AUTO_TEST_CASE(a_job_s_model_is_not_missing_while_the_server_starts) {
  rig r;
  r.images->known.clear();
  r.images->refuse_after = 0;
  r.images->refusal = starting_failure();
  const auto got =
    r.post_json("/v1/jobs", json{{"prompt", "a cat"}, {"model", "tiny"}});
  BOOST_TEST(got->status() == 503u);
  BOOST_TEST(got->body()["error"]["message"] == starting_text);
  BOOST_TEST(find_field(got->answered->headers, "Retry-After") == "1");
}

BOOST_AUTO_TEST_CASE(a_job_is_handed_in_and_polled) {
  rig r;
  const auto got = r.post_json("/v1/jobs", json{{"prompt", "a cat"}, {"n", 2}});
  BOOST_TEST(got->status() == 202u);
  const std::string id = got->body()["id"];
  BOOST_TEST(got->body()["status"] == "queued");
  BOOST_TEST(got->body()["kind"] == "generation");
  BOOST_TEST(got->body()["created"] == 1'700'000'000);
  BOOST_TEST(got->body()["poll_url"] == "/v1/jobs/" + id);
  BOOST_TEST(find_field(got->answered->headers, "Location")
             == "/v1/jobs/" + id);
  const auto path = "/v1/jobs/" + id;
  BOOST_TEST(r.get(path)->body()["queue_position"] == 1);
  BOOST_TEST(r.get(path)->body()["eta_s"].is_null());
  BOOST_TEST(!r.get(path)->body().contains("result"));

  r.now += 2s;
  r.images->step(1, 0, 8);
  r.now += 2s;
  r.images->step(1, 4, 8, fake_images::grey_preview(4));
  auto v = r.get(path)->body();
  BOOST_TEST(v["status"] == "running");
  BOOST_TEST(v["started"] == 1'700'000'002);
  BOOST_TEST(v["step"] == 4);
  BOOST_TEST(v["steps"] == 16);
  BOOST_TEST(v["eta_s"] == 6.0);
  BOOST_TEST(!v.contains("preview"));
  const std::string shown = r.get(path + "?preview=1")->body()["preview"];
  BOOST_TEST(shown.starts_with("data:image/png;base64,iVBOR"));

  r.images->finish(2);
  r.images->finish(1);
  v = r.get(path)->body();
  BOOST_TEST(v["status"] == "completed");
  BOOST_TEST(v["completed"] == 1'700'000'004);
  BOOST_TEST(v["result"]["output_format"] == "png");
  const auto& images = v["result"]["images"];
  BOOST_TEST_REQUIRE(images.size() == 2u);
  BOOST_TEST(images[1]["index"] == 1);
  BOOST_TEST(images[0]["seed"] == 1u);
  BOOST_TEST(images[1]["seed"] == 2u);
  BOOST_TEST((*from_base64("x", images[1]["b64_json"].get<std::string>(), 1000)
              == std::vector<uint8_t>(100, 2)));
  v = r.get(path + "?images=url")->body();
  BOOST_TEST(v["result"]["images"][1]["url"]
             == "http://me:80/v1/jobs/" + id + "/images/1");
  const auto image = r.get(path + "/images/1");
  BOOST_TEST(image->answered->content_type == "image/png");
  BOOST_TEST(image->answered->body == std::string(100, '\2'));
  BOOST_TEST(r.get(path + "/images/2")->status() == 404u);
  BOOST_TEST(r.get(path + "/images/x")->status() == 404u);
  BOOST_TEST(r.get(path + "?images=what")->status() == 400u);
}

BOOST_AUTO_TEST_CASE(the_class_of_a_prompt_is_told_where_somebody_asked) {
  rig r;
  const auto id = r.submit({{"prompt", "p"}, {"n", 2}});
  r.images->finish(1);
  r.images->prompt_class = {{"cached_latents", 0, "base@50"},
                            {"smaller_models", 2, "small@20"}};
  r.images->finish(2);
  const auto images =
    r.get("/v1/jobs/" + id + "?images=none")->body()["result"]["images"];
  BOOST_REQUIRE(images.size() == 2u);
  BOOST_TEST(!images[0].contains("prompt_class"));
  BOOST_TEST((images[1]["prompt_class"] == json::parse(R"([
    {"ladder": "cached_latents", "level": 0, "variant": "base@50"},
    {"ladder": "smaller_models", "level": 2, "variant": "small@20"}])")));
}

BOOST_AUTO_TEST_CASE(earlier_work_that_an_image_started_from_is_told) {
  rig r;
  const auto id = r.submit({{"prompt", "p"}, {"n", 2}});
  BOOST_TEST(r.images->at(1).wanted.seed_drawn);
  r.images->finish(1);
  auto p = r.images->image_for(2);
  p.reused = {"latent", 12, 0.75, 5};
  r.images->answer_with(2, p);
  const auto images =
    r.get("/v1/jobs/" + id + "?images=none")->body()["result"]["images"];
  BOOST_REQUIRE(images.size() == 2u);
  BOOST_TEST(!images[0].contains("reused"));
  BOOST_TEST((images[1]["reused"] == json::parse(R"({"kind": "latent",
    "entry": 12, "similarity": 0.75, "steps": 5})")));
}

BOOST_AUTO_TEST_CASE(how_a_image_came_about_is_told) {
  rig r;
  const auto id = r.submit({{"prompt", "p"}});
  auto p = r.images->image_for(1);
  p.route = "cascade";
  p.sha256 = "00ff";
  p.steps_run = 9;
  p.took.queue = 2ms;
  p.took.denoise = 1500us;
  p.took.total = 3500us;
  r.images->answer_with(1, p);
  for (const auto* how : {"url", "b64_json"}) {
    const auto x =
      r.get("/v1/jobs/" + id + "?images=" + how)->body()["result"]["images"][0];
    BOOST_TEST(x["route"] == "cascade");
    BOOST_TEST(x["sha256"] == "00ff");
    BOOST_TEST(x["steps"] == 8);
    BOOST_TEST(x["steps_run"] == 9);
    BOOST_TEST(x["strength"] == 1.0);
    BOOST_TEST(x["timings_ms"]["queue"] == 2.0);
    BOOST_TEST(x["timings_ms"]["denoise"] == 1.5);
    BOOST_TEST(x["timings_ms"]["total"] == 3.5);
    BOOST_TEST(x["timings_ms"].size() == 9u);
  }
}

BOOST_AUTO_TEST_CASE(all_words_of_a_generation_are_taken) {
  rig r;
  const auto file = test::api_rig::png(16, 8);
  r.submit({{"prompt", "p"},
            {"negative_prompt", "q"},
            {"width", 64},
            {"height", 128},
            {"seed", 7},
            {"steps", 3},
            {"guidance", 2.5},
            {"guidance_rescale", 0.5},
            {"eta", 0.25},
            {"karras", true},
            {"sampler", "euler"},
            {"strength", 0.75},
            {"model", "other"},
            {"variant", "tiny@50"},
            {"priority", "high"},
            {"noise", "philox"},
            {"deadline_ms", 1500},
            {"deterministic", true},
            {"cache", "read"},
            {"preview_every", 2},
            {"format", "webp"},
            {"quality", 80},
            {"image", to_data_url("image/png", file)},
            {"mask", to_base64(file)},
            {"id", "mine"}});
  const auto g = r.images->at(1).wanted;
  BOOST_TEST(g.prompt == "p");
  BOOST_TEST(g.negative == "q");
  BOOST_TEST(g.width == 64u);
  BOOST_TEST(g.height == 128u);
  BOOST_TEST(*g.seed == 7u);
  BOOST_TEST(*g.steps == 3u);
  BOOST_TEST(*g.guidance == 2.5f);
  BOOST_TEST(*g.guidance_rescale == 0.5f);
  BOOST_TEST(*g.eta == 0.25f);
  BOOST_TEST(*g.karras);
  BOOST_TEST(*g.sampler == "euler");
  BOOST_TEST(*g.strength == 0.75f);
  BOOST_TEST(*g.model == "other");
  BOOST_TEST(*g.variant == "tiny@50");
  BOOST_TEST(g.priority == "high");
  BOOST_TEST(g.noise == "philox");
  BOOST_TEST((*g.deadline == 1500ms));
  BOOST_TEST(g.deterministic);
  BOOST_TEST(*g.cache == "read");
  BOOST_TEST(!g.seed_drawn);
  BOOST_TEST(g.preview_every == 2u);
  BOOST_TEST(g.format == "webp");
  BOOST_TEST(g.quality == 80u);
  BOOST_TEST(g.image == file);
  BOOST_TEST(g.mask == file);
  BOOST_TEST(r.get("/v1/jobs/mine")->body()["kind"] == "edit");
}

BOOST_AUTO_TEST_CASE(faults_name_their_field) {
  rig r;
  const auto refused = [&](const json& body, unsigned status = 400) {
    const auto got = r.post_json("/v1/jobs", body);
    BOOST_TEST(got->status() == status);
    return got->body()["error"].value("param", "");
  };
  for (const auto& [field, value] : std::vector<std::pair<std::string, json>>{
         {"prompt", 1},
         {"n", 0},
         {"n", 11},
         {"size", "64"},
         {"size", "64x"},
         {"size", "65x64"},
         {"size", "64x9999999"},
         {"size", "64x64x64"},
         {"steps", 0},
         {"steps", 151},
         {"guidance", 51},
         {"sampler", "heun"},
         {"strength", 0},
         {"priority", "urgent"},
         {"deadline_ms", 0},
         {"format", "gif"},
         {"quality", 101},
         {"image", "http://a/b.png"},
         {"image", "%"},
         {"image", ""},
         {"image", "data:image/png;base64,"},
         {"mask", ""},
         {"mask", "Zm9v"},
         {"policy", "teacache"},
         {"level", 3},
         {"bogus", 1},
         {"seed", -7}}) {
    BOOST_TEST_CONTEXT(field << " " << value) {
      BOOST_TEST(refused({{field, value}}) == field);
    }
  }
  BOOST_TEST(refused({{"width", 64}}) == "height");
  BOOST_TEST(refused({{"size", "64x64"}, {"width", 8}, {"height", 8}})
             == "size");
  BOOST_TEST(refused({{"model", "x"}}, 404) == "model");
  BOOST_TEST(r.post("/v1/jobs", "[]", {})->status() == 400u);
  BOOST_TEST(
    r.post("/v1/jobs", "{}", {{"idempotency-key", std::string(256, 'k')}})
      ->status()
    == 400u);
  BOOST_TEST(r.images->count() == 0u);
}

BOOST_AUTO_TEST_CASE(the_same_key_is_the_same_job) {
  rig r;
  const fields headers{{"idempotency-key", "k"}};
  const auto a = r.post("/v1/jobs", "{}", headers)->body();
  const auto b = r.post("/v1/jobs", "{}", headers)->body();
  BOOST_TEST(a["id"] == b["id"]);
  BOOST_TEST(r.images->count() == 1u);
}

BOOST_AUTO_TEST_CASE(the_same_key_with_another_body_is_refused) {
  rig r;
  const fields headers{{"idempotency-key", "k"}};
  BOOST_TEST(r.post("/v1/jobs", R"({"prompt":"a"})", headers)->status()
             == 202u);
  const auto got = r.post("/v1/jobs", R"({"prompt":"b"})", headers);
  BOOST_TEST(got->status() == 422u);
  BOOST_TEST(got->body()["error"]["code"] == "key_reused");
  BOOST_TEST(got->body()["error"]["param"] == "Idempotency-Key");
  BOOST_TEST(r.images->count() == 1u);
  // The same text from another caller is another key.
  r.key = "bob";
  BOOST_TEST(r.post("/v1/jobs", R"({"prompt":"b"})", headers)->status()
             == 202u);
}

BOOST_AUTO_TEST_CASE(the_trace_of_a_call_stands_in_its_status) {
  rig r;
  request_message x;
  x.method = "POST";
  x.path = "/v1/jobs";
  x.body = "{}";
  x.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00000000000000ab-01";
  const auto got = r.ask(x);
  BOOST_TEST(got->body()["traceparent"] == x.trace);
  BOOST_TEST(r.images->at(1).wanted.trace == x.trace);
  const std::string id = got->body()["id"];
  BOOST_TEST(r.get("/v1/jobs/" + id)->body()["traceparent"] == x.trace);
  BOOST_TEST(!r.post("/v1/jobs", "{}")->body().contains("traceparent"));
}

BOOST_AUTO_TEST_CASE(a_full_server_says_when_to_come_back) {
  rig r;
  r.images->refuse_after = 0;
  const auto got = r.post("/v1/jobs", "{}");
  BOOST_TEST(got->status() == 429u);
  BOOST_TEST(find_field(got->answered->headers, "Retry-After") == "3");
  BOOST_TEST(got->body()["error"]["code"] == "overloaded");
}

BOOST_AUTO_TEST_CASE(engines_refusals_name_their_field_too) {
  rig r;
  r.images->refuse_after = 0;
  r.images->refusal = {"invalid_argument", "strength 0.1 leaves none", {}};
  BOOST_TEST(r.post("/v1/jobs", "{}")->body()["error"]["param"] == "strength");
  r.images->refusal = {"internal", "secret /etc", {}};
  const auto got = r.post("/v1/jobs", "{}");
  BOOST_TEST(got->status() == 500u);
  BOOST_TEST(got->answered->body.find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_failed_job_tells_what_clients_may_read) {
  rig r;
  const auto late = r.submit();
  const auto broken = r.submit();
  r.images->fail(1, "deadline_missed", "too late");
  r.images->fail(2, "internal", "secret");
  auto v = r.get("/v1/jobs/" + late)->body();
  BOOST_TEST(v["status"] == "failed");
  BOOST_TEST(v["error"]["code"] == "deadline_missed");
  BOOST_TEST(v["error"]["message"] == "too late");
  v = r.get("/v1/jobs/" + broken)->body();
  BOOST_TEST(v["error"]["code"] == "internal");
  BOOST_TEST(v.dump().find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(delete_cancels_an_open_job_and_removes_an_ended_one) {
  rig r;
  const auto remove = [&](const std::string& id) {
    request_message x;
    x.method = "DELETE";
    x.path = "/v1/jobs/" + id;
    return r.ask(std::move(x));
  };
  const auto done = r.submit();
  r.images->finish(1);
  BOOST_TEST(r.get("/v1/jobs/" + done + "/images/0")->status() == 200u);
  const auto kept = r.all->kept().bytes;
  BOOST_TEST(kept > 0u);
  r.key = "bob";
  BOOST_TEST(remove(done)->status() == 404u);
  r.key = "ann";
  const auto got = remove(done);
  BOOST_TEST(got->status() == 204u);
  BOOST_TEST(got->answered->body == "");
  BOOST_TEST(r.all->kept().bytes == 0u);
  BOOST_TEST(r.get("/v1/jobs/" + done)->status() == 410u);
  BOOST_TEST(r.get("/v1/jobs/" + done + "/images/0")->status() == 410u);
  BOOST_TEST(remove(done)->status() == 410u);

  const auto open = r.submit();
  BOOST_TEST(remove(open)->body()["status"] == "cancelled");
  BOOST_TEST(r.images->at(2).cancelled);
  BOOST_TEST(remove(open)->status() == 204u);
  BOOST_TEST(r.get("/v1/jobs")->body()["data"].empty());
}

BOOST_AUTO_TEST_CASE(pixels_of_a_job_are_bounded) {
  test::api_rig r;
  auto with = r.context();
  with.answer_px = 64 * 64 * 2;
  add_job_routes(r.routes, r.all, with);
  const auto status = [&](const json& body) {
    return r.post_json("/v1/jobs", body)->status();
  };
  BOOST_TEST(status({{"prompt", "a"}, {"n", 2}}) == 202u);
  // The variant's own size, a named size, and that of the image.
  BOOST_TEST(status({{"prompt", "a"}, {"n", 3}}) == 400u);
  BOOST_TEST(status({{"prompt", "a"}, {"n", 2}, {"size", "64x72"}}) == 400u);
  const auto file = to_base64(r.png(64, 72));
  BOOST_TEST(status({{"prompt", "a"}, {"image", file}, {"n", 1}}) == 202u);
  const auto got =
    r.post_json("/v1/jobs", {{"prompt", "a"}, {"image", file}, {"n", 2}});
  BOOST_TEST(got->status() == 400u);
  BOOST_TEST(got->body()["error"]["param"] == "n");
  BOOST_TEST(got->body()["error"]["message"]
             == "n 2 of 64x72 pixels is more than 8192 pixels in one answer "
                "(http.answer_mpx)");
}

BOOST_AUTO_TEST_CASE(image_of_a_job_is_not_stored_by_caches) {
  rig r;
  const auto id = r.submit();
  r.images->finish(1);
  const auto got = r.get("/v1/jobs/" + id + "/images/0");
  BOOST_TEST_REQUIRE(got->status() == 200u);
  BOOST_TEST(find_field(got->answered->headers, "Cache-Control")
             == "private, no-store");
}

BOOST_AUTO_TEST_CASE(names_that_addresses_lose_are_refused) {
  rig r;
  for (const auto* id : {".", ".."}) {
    const auto got = r.post_json("/v1/jobs", {{"prompt", "a"}, {"id", id}});
    BOOST_TEST(got->status() == 400u);
    BOOST_TEST(got->body()["error"]["param"] == "id");
  }
  BOOST_TEST(r.post_json("/v1/jobs", {{"prompt", "a"}, {"id", "..."}})->status()
             == 202u);
}

BOOST_AUTO_TEST_CASE(jobs_are_taken_back) {
  rig r;
  const auto id = r.submit();
  const auto path = "/v1/jobs/" + id;
  auto got = r.post(path + "/cancel", "");
  BOOST_TEST(got->status() == 200u);
  BOOST_TEST(got->body()["status"] == "cancelled");
  BOOST_TEST(r.images->at(1).cancelled);
  BOOST_TEST(r.post(path + "/cancel", "")->status() == 409u);
  BOOST_TEST(r.post("/v1/jobs/job_0/cancel", "")->status() == 404u);
  r.now += 2h;
  r.all->tick();
  r.all->put_away();
  BOOST_TEST(r.post(path + "/cancel", "")->status() == 410u);
  BOOST_TEST(r.get(path)->status() == 410u);
  BOOST_TEST(r.get(path + "/events")->status() == 410u);
  BOOST_TEST(r.get(path + "/images/0")->status() == 410u);
}

BOOST_AUTO_TEST_CASE(images_beyond_the_budget_are_gone) {
  rig r{{10, 64, 10, 1h}};
  const auto id = r.submit();
  r.images->finish(1);
  BOOST_TEST(r.get("/v1/jobs/" + id)->status() == 410u);
  BOOST_TEST(r.get("/v1/jobs/" + id + "/images/0")->status() == 410u);
  BOOST_TEST(r.get("/v1/jobs/" + id)->body()["error"]["code"] == "expired");
  BOOST_TEST(r.get("/v1/jobs")->body()["data"][0]["expired"] == true);
}

BOOST_AUTO_TEST_CASE(owners_see_their_own_jobs_and_admins_all) {
  rig r;
  const auto of_ann = r.submit();
  r.key = "bob";
  const auto of_bob = r.submit();
  for (const auto* rest : {"", "/events", "/images/0"})
    BOOST_TEST(r.get("/v1/jobs/" + of_ann + rest)->status() == 404u);
  BOOST_TEST(r.post("/v1/jobs/" + of_ann + "/cancel", "")->status() == 404u);
  BOOST_TEST(!r.images->at(1).cancelled);
  auto list = r.get("/v1/jobs")->body()["data"];
  BOOST_TEST_REQUIRE(list.size() == 1u);
  BOOST_TEST(list[0]["id"] == of_bob);
  r.key = "root";
  r.who = scope::admin;
  BOOST_TEST(r.get("/v1/jobs")->body()["data"].size() == 2u);
  BOOST_TEST(r.get("/v1/jobs?limit=1")->body()["data"].size() == 1u);
  BOOST_TEST(r.get("/v1/jobs?own=false")->body()["data"].size() == 2u);
  BOOST_TEST(r.get("/v1/jobs?own=true")->body()["data"].empty());
  const auto of_root = r.submit();
  list = r.get("/v1/jobs?own=true")->body()["data"];
  BOOST_TEST_REQUIRE(list.size() == 1u);
  BOOST_TEST(list[0]["id"] == of_root);
  BOOST_TEST(r.get("/v1/jobs?own=1")->body()["error"]["message"]
             == "own '1' is not true or false");
  BOOST_TEST(r.get("/v1/jobs?limit=0")->status() == 400u);
  BOOST_TEST(r.get("/v1/jobs?limit=x")->status() == 400u);
  BOOST_TEST(r.get("/v1/jobs/" + of_ann)->status() == 200u);
}

BOOST_AUTO_TEST_CASE(a_list_of_jobs_continues_after_its_last_job) {
  rig r{{10, 64, 1u << 20, 1h}};
  std::vector<std::string> own;
  for (int i = 0; i < 3; ++i) {
    own.push_back(r.submit());
    r.key = "bob";
    const json body{{"prompt", "a"}, {"id", "of_bob" + std::to_string(i)}};
    BOOST_TEST_REQUIRE(r.post_json("/v1/jobs", body)->status() == 202u);
    r.key = "ann";
  }
  const auto page = [&](const std::string& query) {
    const auto got = r.get("/v1/jobs?limit=2" + query)->body();
    std::vector<std::string> ids;
    for (const auto& x : got["data"])
      ids.push_back(x["id"].get<std::string>());
    return std::pair{ids, got["has_more"].get<bool>()};
  };
  using ids = std::vector<std::string>;
  BOOST_TEST((page("") == std::pair{ids{own[2], own[1]}, true}));
  BOOST_TEST((page("&after=" + own[1]) == std::pair{ids{own[0]}, false}));
  BOOST_TEST(
    (page("&after=" + own[2]) == std::pair{ids{own[1], own[0]}, false}));
  BOOST_TEST((page("&after=" + own[0]) == std::pair{ids{}, false}));
  // Another key's job is not found.
  const auto other = r.get("/v1/jobs?after=of_bob1");
  BOOST_TEST(other->status() == 404u);
  BOOST_TEST(other->body()["error"]["param"] == "after");
  r.key = "root";
  r.who = scope::admin;
  BOOST_TEST(
    (page("&after=of_bob2") == std::pair{ids{own[2], "of_bob1"}, true}));
  BOOST_TEST((page("&after=of_bob2&key=bob")
              == std::pair{ids{own[2], "of_bob1"}, true}));
  // A name of several keys needs the key.
  r.who = scope::user;
  r.key = "ann";
  BOOST_TEST_REQUIRE(
    r.post_json("/v1/jobs", {{"prompt", "a"}, {"id", "of_bob1"}})->status()
    == 202u);
  r.key = "root";
  r.who = scope::admin;
  const auto of_two = r.get("/v1/jobs?after=of_bob1");
  BOOST_TEST(of_two->status() == 400u);
  BOOST_TEST(of_two->body()["error"]["param"] == "key");
  BOOST_TEST((page("&after=of_bob1&key=bob")
              == std::pair{ids{own[1], "of_bob0"}, true}));
  BOOST_TEST((page("&after=of_bob1&key=ann")
              == std::pair{ids{"of_bob2", own[2]}, true}));
  // Among its own jobs an admin has none of that name.
  BOOST_TEST(r.get("/v1/jobs?own=true&after=of_bob1")->status() == 404u);
}

BOOST_AUTO_TEST_CASE(names_are_of_one_key) {
  rig r{{10, 64, 1u << 20, 1h}};
  const json body{{"prompt", "a"}, {"id", "mine"}};
  BOOST_TEST(r.post_json("/v1/jobs", body)->status() == 202u);
  BOOST_TEST(r.post_json("/v1/jobs", body)->status() == 400u);
  r.images->finish(1);
  r.key = "bob";
  // Another key's name is neither found nor reserved.
  BOOST_TEST(r.get("/v1/jobs/mine")->status() == 404u);
  BOOST_TEST(r.post_json("/v1/jobs", body)->status() == 202u);
  BOOST_TEST(r.get("/v1/jobs/mine")->body()["status"] == "queued");
  BOOST_TEST(r.get("/v1/jobs/mine")->body()["key"] == "bob");
  BOOST_TEST(r.post("/v1/jobs/mine/cancel", "")->status() == 200u);
  BOOST_TEST(r.images->at(2).cancelled);
  r.key = "ann";
  BOOST_TEST(r.get("/v1/jobs/mine")->body()["status"] == "completed");
  r.who = scope::admin;
  r.key = "root";
  BOOST_TEST(r.get("/v1/jobs/mine?key=ann")->body()["status"] == "completed");
  BOOST_TEST(r.get("/v1/jobs/mine?key=bob")->body()["status"] == "cancelled");
  BOOST_TEST(r.get("/v1/jobs/mine")->body()["key"] == "bob");
  BOOST_TEST(r.get("/v1/jobs/mine?key=eve")->status() == 404u);
  // A job expires for its own key.
  r.now += 2h;
  r.all->tick();
  r.all->put_away();
  BOOST_TEST(r.get("/v1/jobs/mine")->status() == 410u);
  r.who = scope::user;
  BOOST_TEST(r.get("/v1/jobs/mine")->status() == 404u);
  r.key = "ann";
  BOOST_TEST(r.get("/v1/jobs/mine")->status() == 410u);
}

BOOST_AUTO_TEST_CASE(a_job_knows_the_request_that_made_it) {
  rig r;
  request_message x;
  x.method = "POST";
  x.path = "/v1/jobs";
  x.body = R"({"prompt":"a"})";
  x.request_id = "mine-7";
  BOOST_TEST(r.ask(std::move(x))->body()["request_id"] == "mine-7");
}

BOOST_AUTO_TEST_CASE(events_tell_of_a_job_as_it_goes) {
  rig r;
  const auto id = r.submit({{"prompt", "p"}, {"n", 2}, {"previews", true}});
  BOOST_TEST(r.images->at(1).wanted.preview_every == 1u);
  r.images->finish(1);
  const auto events = r.get("/v1/jobs/" + id + "/events");
  BOOST_TEST(events->streaming);
  BOOST_TEST(events->event_names() == "status,image");
  BOOST_TEST(events->event_data(0)["status"] == "running");
  BOOST_TEST(events->event_data(1)["url"]
             == "http://me:80/v1/jobs/" + id + "/images/0");
  r.images->step(2, 1, 8);
  r.images->step(2, 2, 8, fake_images::grey_preview(2));
  r.images->step(2, 3, 8);
  r.images->finish(2);
  BOOST_TEST(events->event_names()
             == "status,image,progress,progress,progress,image,completed");
  BOOST_TEST(!events->event_data(2).contains("preview"));
  BOOST_TEST(events->event_data(3)["preview_of"] == 1);
  BOOST_TEST(events->event_data(3)["preview"].get<std::string>().starts_with(
    "data:image/png;base64,"));
  BOOST_TEST(!events->event_data(4).contains("preview"));
  BOOST_TEST(events->event_data(5)["index"] == 1);
  BOOST_TEST(events->event_data(6)["result"]["images"].size() == 2u);
  BOOST_TEST(events->ended);
  BOOST_TEST(!events->faulty);
  // A late subscriber receives all events at once.
  const auto late = r.get("/v1/jobs/" + id + "/events?images=b64_json");
  BOOST_TEST(late->event_names() == "status,image,image,completed");
  BOOST_TEST(late->event_data(1).contains("b64_json"));
  BOOST_TEST(late->ended);
}

BOOST_AUTO_TEST_CASE(failed_and_cancelled_streams_say_so) {
  rig r;
  const auto a = r.get("/v1/jobs/" + r.submit() + "/events");
  const auto id = r.submit();
  const auto b = r.get("/v1/jobs/" + id + "/events");
  r.images->fail(1, "poison", "secret");
  r.post("/v1/jobs/" + id + "/cancel", "");
  BOOST_TEST(a->event_names() == "status,failed");
  BOOST_TEST(a->event_data(1)["error"]["code"] == "poison");
  BOOST_TEST(b->event_names() == "status,cancelled");
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_does_not_end_its_job) {
  rig r;
  const auto id = r.submit();
  const auto events = r.get("/v1/jobs/" + id + "/events");
  events->leave();
  r.images->step(1, 1, 8);
  BOOST_TEST(events->event_names() == "status");
  BOOST_TEST(!r.images->at(1).cancelled);
  r.images->finish(1);
  BOOST_TEST(r.get("/v1/jobs/" + id)->body()["status"] == "completed");
}

BOOST_AUTO_TEST_SUITE_END()
