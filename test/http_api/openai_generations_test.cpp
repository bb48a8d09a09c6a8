// SPDX-License-Identifier: Apache-2.0
#include "support/api_rig.hpp"
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/openai_routes.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::runtime::http;
using namespace std::chrono_literals;
using nlohmann::json;
using test::fake_images;

namespace {

struct rig : test::api_rig {
  explicit rig(job_limits within = {}) : api_rig(within) {
    add_openai_routes(routes, all, context());
  }

  exchange_ptr generate(json body) {
    if (!body.contains("prompt"))
      body["prompt"] = "a cat";
    return post_json("/v1/images/generations", body);
  }

  /// Returns the order that a call led to.
  generation order_of(json body) {
    const auto got = generate(std::move(body));
    BOOST_TEST_REQUIRE(got->status() == 0u);
    return images->at(images->count()).wanted;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(openai_generations_test)

// Started from the same work, they would be the same image.
BOOST_AUTO_TEST_CASE(of_several_images_only_the_first_may_come_from_a_cache) {
  rig r;
  const auto orders_of = [&](json more) {
    more["n"] = 3;
    const auto before = r.images->count();
    BOOST_TEST_REQUIRE(r.generate(std::move(more))->status() == 0u);
    std::vector<generation> out;
    for (auto i = before + 1; i <= r.images->count(); ++i)
      out.push_back(r.images->at(i).wanted);
    BOOST_TEST_REQUIRE(out.size() == 3u);
    return out;
  };
  const auto drawn = orders_of({});
  for (size_t i = 0; i < drawn.size(); ++i) {
    BOOST_TEST(drawn[i].seed_drawn == (i == 0));
    BOOST_TEST(!drawn[i].cache);
  }
  const auto both = orders_of({{"cache", "on"}, {"cache_similarity", 0.9}});
  BOOST_TEST(both[0].cache.value() == "on");
  BOOST_TEST(both[0].cache_similarity.value() == 0.9f);
  for (const size_t i : {1u, 2u}) {
    BOOST_TEST(both[i].cache.value() == "write");
    BOOST_TEST(!both[i].cache_similarity);
  }
  const auto nearest = orders_of({{"cache_similarity", 0.9}});
  BOOST_TEST(nearest[0].cache_similarity.value() == 0.9f);
  BOOST_TEST(!nearest[1].cache_similarity);
  const auto read = orders_of({{"cache", "read"}, {"seed", 7}});
  BOOST_TEST(read[0].cache.value() == "read");
  BOOST_TEST(read[2].cache.value() == "off");
}

BOOST_AUTO_TEST_CASE(images_come_with_their_seeds) {
  rig r;
  const auto got =
    r.generate({{"n", 2}, {"size", "64x128"}, {"user", "u"}, {"seed", 41}});
  BOOST_TEST(got->status() == 0u);
  r.images->finish(2);
  BOOST_TEST(got->status() == 0u);
  r.images->finish(1);
  BOOST_TEST(got->status() == 200u);
  const auto v = got->body();
  BOOST_TEST(v["created"] == 1'700'000'000);
  BOOST_TEST(v["size"] == "64x128");
  BOOST_TEST(v["quality"] == "auto");
  BOOST_TEST(v["background"] == "opaque");
  BOOST_TEST(v["output_format"] == "png");
  BOOST_TEST_REQUIRE(v["data"].size() == 2u);
  BOOST_TEST(v["data"][0]["seed"] == 41);
  BOOST_TEST(v["data"][1]["seed"] == 42);
  BOOST_TEST(v["data"][1]["timings_ms"]["queue"].is_number());
  BOOST_TEST(
    (*from_base64("x", v["data"][1]["b64_json"].get<std::string>(), 1000)
     == std::vector<uint8_t>(100, 2)));
  const auto& usage = v["usage"];
  BOOST_TEST(usage["input_tokens_details"]["text_tokens"] == 3);
  BOOST_TEST(usage["output_tokens"] == 64);
  BOOST_TEST(usage["total_tokens"] == 67);
  BOOST_TEST(r.all->list({}, 1).empty());
}

BOOST_AUTO_TEST_CASE(a_size_is_read_with_either_cross) {
  rig r;
  r.post_json("/v1/images/generations", {{"prompt", "p"}, {"size", "64X128"}});
  BOOST_TEST(r.images->at(1).wanted.width == 64u);
  BOOST_TEST(r.images->at(1).wanted.height == 128u);
}

BOOST_AUTO_TEST_CASE(a_size_may_be_drawn_as_it_is_asked_for) {
  rig r;
  BOOST_TEST(!r.order_of({}).native_only);
  for (const json& off : {json("off"), json(false)})
    BOOST_TEST(!*r.order_of({{"native_only", off}}).native_only);
  BOOST_TEST(*r.order_of({{"native_only", "on"}}).native_only);
  BOOST_TEST(r.generate({{"native_only", "maybe"}})->body()["error"]["param"]
             == "native_only");
}

BOOST_AUTO_TEST_CASE(notes_stand_with_each_image) {
  rig r;
  const auto got = r.generate({{"n", 2}});
  r.images->notes = {{"unknown_word", "prompt: 'cat' is not known"}};
  r.images->finish(1);
  r.images->notes.clear();
  r.images->finish(2);
  const auto data = got->body()["data"];
  BOOST_TEST((data[0]["notes"] == json::parse(R"([{"code": "unknown_word",
                                  "text": "prompt: 'cat' is not known"}])")));
  BOOST_TEST(data[1]["notes"] == json::array());
}

BOOST_AUTO_TEST_CASE(the_last_event_of_a_stream_has_the_notes) {
  rig r;
  r.images->notes = {{"prompt_cut", "cut"}};
  const auto got = r.generate({{"stream", true}});
  r.images->finish(1);
  BOOST_TEST(got->event_names() == "image_generation.completed");
  BOOST_TEST(got->event_data(0)["notes"][0]["code"] == "prompt_cut");
}

BOOST_AUTO_TEST_CASE(the_class_of_a_prompt_stands_with_each_image) {
  rig r;
  const auto got = r.generate({{"n", 2}});
  r.images->prompt_class = {{"smaller_models", 2, "small@20"}};
  r.images->finish(1);
  r.images->prompt_class.clear();
  r.images->finish(2);
  const auto data = got->body()["data"];
  BOOST_TEST((data[0]["prompt_class"] == json::parse(R"([{"level": 2,
    "ladder": "smaller_models", "variant": "small@20"}])")));
  BOOST_TEST(!data[1].contains("prompt_class"));
}

BOOST_AUTO_TEST_CASE(the_last_event_of_a_stream_has_the_prompts_class) {
  rig r;
  r.images->prompt_class = {{"smaller_models", 2, "small@20"}};
  const auto got = r.generate({{"stream", true}});
  r.images->finish(1);
  BOOST_TEST(got->event_data(0)["prompt_class"][0]["level"] == 2);
}

BOOST_AUTO_TEST_CASE(without_a_seed_a_fresh_one_of_32_bits_is_taken) {
  rig r;
  const auto a = r.order_of({});
  const auto b = r.order_of({{"seed", -1}});
  BOOST_TEST(*a.seed == 1u);
  BOOST_TEST(*b.seed == 2u);
}

BOOST_AUTO_TEST_CASE(extensions_are_taken_at_top_level) {
  rig r;
  const auto g = r.order_of({{"negative_prompt", "dogs"},
                             {"num_inference_steps", 5},
                             {"guidance_scale", 3.5},
                             {"sampler", "ddim"},
                             {"deadline_ms", 900},
                             {"priority", "low"},
                             {"variant", "tiny@50"},
                             {"width", 128},
                             {"height", 64},
                             {"policy", "auto"},
                             {"level", 0}});
  BOOST_TEST(g.negative == "dogs");
  BOOST_TEST(*g.steps == 5u);
  BOOST_TEST(*g.guidance == 3.5f);
  BOOST_TEST(*g.sampler == "ddim");
  BOOST_TEST((*g.deadline == 900ms));
  BOOST_TEST(g.priority == "low");
  BOOST_TEST(*g.variant == "tiny@50");
  BOOST_TEST(g.width == 128u);
  BOOST_TEST(g.height == 64u);
}

BOOST_AUTO_TEST_CASE(models_are_ours_or_those_that_clients_are_born_with) {
  rig r;
  for (const auto* name :
       {"dall-e-2", "dall-e-3", "gpt-image-1", "gpt-image-1-mini", ""}) {
    const auto g = r.order_of({{"model", name}});
    BOOST_TEST(!g.model.has_value());
    BOOST_TEST(!g.variant.has_value());
  }
  BOOST_TEST(*r.order_of({{"model", "other"}}).model == "other");
  BOOST_TEST(*r.order_of({{"model", "tiny@50"}}).variant == "tiny@50");
  const auto got = r.generate({{"model", "flux"}});
  BOOST_TEST(got->status() == 404u);
  BOOST_TEST(got->body()["error"]["code"] == "model_not_found");
  BOOST_TEST(got->body()["error"]["param"] == "model");
  BOOST_TEST(got->body()["error"]["type"] == "invalid_request_error");
  BOOST_TEST(got->body()["error"]["message"]
             == "model not found: \"flux\" (available: 'tiny', 'other')");
}

BOOST_AUTO_TEST_CASE(a_model_is_not_missing_while_the_server_starts) {
  rig r;
  r.images->known.clear();
  r.images->refuse_after = 0;
  r.images->refusal = starting_failure();
  for (const auto& got :
       {r.generate({{"model", "tiny"}}), r.generate({{"model", "tiny@8"}}),
        r.generate({{"model", "dall-e-3"}}), r.get("/v1/models/tiny")}) {
    BOOST_TEST(got->status() == 503u);
    BOOST_TEST(got->body()["error"]["message"] == starting_text);
    BOOST_TEST(find_field(got->answered->headers, "Retry-After") == "1");
  }
}

BOOST_AUTO_TEST_CASE(a_model_is_found_by_each_name_that_calls_may_use) {
  rig r;
  for (const auto* name : {"gpt-image-1", "dall-e-3", "default"}) {
    const auto v = r.get(std::string{"/v1/models/"} + name)->body();
    BOOST_TEST(v["id"] == name);
    BOOST_TEST(v["object"] == "model");
    BOOST_TEST(v["stands_for"] == "tiny");
    BOOST_TEST(v["variants"].size() == 2u);
  }
  BOOST_TEST(!r.get("/v1/models/tiny")->body().contains("stands_for"));
  const auto none = r.get("/v1/models/flux");
  BOOST_TEST(none->status() == 404u);
  BOOST_TEST(none->body()["error"]["message"]
             == "model not found: 'flux' (available: 'tiny', 'other')");
}

BOOST_AUTO_TEST_CASE(what_localai_s_clients_send_is_fine) {
  rig r;
  const auto g =
    r.order_of({{"size", "256x256"}, {"n", 1}, {"mode", 0}, {"step", 12}});
  BOOST_TEST(*g.steps == 12u);
  BOOST_TEST(!r.order_of({{"step", 0}}).steps.has_value());
  BOOST_TEST(r.generate({{"step", -1}})->body()["error"]["param"] == "step");
}

BOOST_AUTO_TEST_CASE(quality_low_runs_half_the_steps) {
  rig r;
  for (const auto* quality : {"auto", "medium", "high", "standard", "hd"})
    BOOST_TEST(!r.order_of({{"quality", quality}}).steps.has_value());
  BOOST_TEST(*r.order_of({{"quality", "low"}}).steps == 4u);
  BOOST_TEST(*r.order_of({{"quality", "low"}, {"model", "tiny@50"}}).steps
             == 25u);
  BOOST_TEST(*r.order_of({{"quality", "low"}, {"model", "other"}}).steps == 4u);
  BOOST_TEST(*r.order_of({{"quality", "low"}, {"steps", 9}}).steps == 9u);
}

BOOST_AUTO_TEST_CASE(formats_and_compression_are_taken) {
  rig r;
  auto g = r.order_of({{"output_format", "webp"}, {"output_compression", 0}});
  BOOST_TEST(g.format == "webp");
  BOOST_TEST(g.quality == 1u);
  g = r.order_of({{"output_format", "jpeg"}, {"output_compression", 60}});
  BOOST_TEST(g.format == "jpeg");
  BOOST_TEST(g.quality == 60u);
  BOOST_TEST(r.order_of({}).quality == 100u);
}

BOOST_AUTO_TEST_CASE(what_is_ignored_has_a_size) {
  rig r;
  for (const json& value : {json(std::string(70'000, 'x')),
                            json{{"a", std::string(70'000, 'x')}}}) {
    const auto got = r.generate({{"metadata", value}});
    BOOST_TEST(got->status() == 400u);
    const auto text = got->body().dump();
    BOOST_TEST((text.find("metadata has 700") != std::string::npos), text);
  }
  r.order_of({{"user", std::string(60'000, 'x')}});
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_refused_by_name) {
  rig r;
  for (const auto& [field, value] :
       std::vector<std::pair<std::string, json>>{{"prompt", 5},
                                                 {"n", 0},
                                                 {"n", 11},
                                                 {"size", "big"},
                                                 {"quality", "best"},
                                                 {"style", "loud"},
                                                 {"background", "transparent"},
                                                 {"output_format", "gif"},
                                                 {"output_compression", 101},
                                                 {"response_format", "file"},
                                                 {"partial_images", 4},
                                                 {"partial_images", 1},
                                                 {"stream", "yes"},
                                                 {"lora", "x"},
                                                 {"nvext", {{"seed", 1}}},
                                                 {"true_cfg_scale", 4},
                                                 {"flow_shift", 3.0},
                                                 {"policy", "fast"},
                                                 {"level", 2},
                                                 {"prmpt", "x"}}) {
    BOOST_TEST_CONTEXT(field << " " << value) {
      const auto got = r.generate({{field, value}});
      BOOST_TEST(got->status() == 400u);
      BOOST_TEST(got->body()["error"]["param"] == field);
      BOOST_TEST(
        got->body()["error"]["message"].get<std::string>().starts_with(field));
    }
  }
  const auto got = r.post("/v1/images/generations", "{}");
  BOOST_TEST(got->body()["error"]["message"] == "prompt is missing");
  BOOST_TEST(r.post("/v1/images/generations", "nonsense")->status() == 400u);
  BOOST_TEST(r.images->count() == 0u);
  // Values without an effect are accepted.
  r.order_of({{"style", "vivid"},
              {"background", "auto"},
              {"moderation", "low"},
              {"lora", nullptr},
              {"extra_params", json::object()},
              {"enable_teacache", false},
              {"true_cfg_scale", 1.0},
              {"partial_images", 0},
              {"stream", false},
              {"safety_identifier", "x"},
              {"save_images", true}});
}

BOOST_AUTO_TEST_CASE(addresses_lead_to_kept_images) {
  rig r;
  const auto got = r.generate({{"response_format", "url"}, {"n", 2}});
  r.images->finish(1);
  r.images->finish(2);
  const std::string url = got->body()["data"][1]["url"];
  BOOST_TEST(url.starts_with("http://me:80/v1/images/job_"));
  BOOST_TEST(!got->body()["data"][1].contains("b64_json"));
  const auto path = url.substr(std::string{"http://me:80"}.size());
  // Every client with the address may read it.
  r.key = "bob";
  const auto image = r.get(path);
  BOOST_TEST(image->status() == 200u);
  BOOST_TEST(image->answered->content_type == "image/png");
  BOOST_TEST(image->answered->body == std::string(100, '\2'));
  for (const auto* id : {"x", "job_1-0", "job_-", "-0", "job_1-x"})
    BOOST_TEST(r.get("/v1/images/" + std::string{id} + "/content")->status()
               == 404u);
  r.now += 2h;
  r.all->tick();
  r.all->put_away();
  BOOST_TEST(r.get(path)->status() == 410u);
}

BOOST_AUTO_TEST_CASE(the_models_of_old_get_addresses_unless_they_say) {
  rig r;
  const auto first_of = [&](json body) {
    const auto got = r.generate(std::move(body));
    r.images->finish(r.images->count());
    return got->body()["data"][0];
  };
  BOOST_TEST(first_of({{"model", "dall-e-3"}}).contains("url"));
  BOOST_TEST(first_of({{"model", "gpt-image-1"}}).contains("b64_json"));
  BOOST_TEST(first_of({}).contains("b64_json"));
  BOOST_TEST(first_of({{"model", "dall-e-3"}, {"response_format", "b64_json"}})
               .contains("b64_json"));
}

BOOST_AUTO_TEST_CASE(a_strange_host_is_not_told) {
  rig r;
  request_message x;
  x.method = "POST";
  x.path = "/v1/images/generations";
  x.body = R"({"prompt":"a","response_format":"url"})";
  x.headers = {{"host", "a\"b"}};
  const auto got = r.ask(x);
  r.images->finish(1);
  BOOST_TEST(got->body()["data"][0]["url"].get<std::string>().starts_with(
    "/v1/images/"));
}

BOOST_AUTO_TEST_CASE(streams_carry_previews_and_then_the_image) {
  rig r;
  const auto got = r.generate({{"stream", true}, {"partial_images", 2}});
  BOOST_TEST(got->streaming);
  // Previews come after steps 2, 4, ... of 8.
  BOOST_TEST(r.images->at(1).wanted.preview_every == 2u);
  r.images->step(1, 1, 8);
  r.images->step(1, 2, 8, fake_images::grey_preview(2));
  r.images->step(1, 3, 8);
  r.images->step(1, 4, 8, fake_images::grey_preview(4));
  r.images->step(1, 6, 8, fake_images::grey_preview(6));
  r.images->finish(1);
  BOOST_TEST(got->event_names()
             == "image_generation.partial_image,"
                "image_generation.partial_image,"
                "image_generation.completed");
  BOOST_TEST(got->ended);
  BOOST_TEST(!got->faulty);
  for (size_t i = 0; i < 3; ++i) {
    const auto v = got->event_data(i);
    BOOST_TEST(v["type"] == got->events[i].first);
    for (const auto* field : {"b64_json", "background", "created_at",
                              "output_format", "quality", "size"})
      BOOST_TEST(v.contains(field), field);
  }
  const auto partial = got->event_data(1);
  BOOST_TEST(partial["partial_image_index"] == 1);
  const auto file =
    from_base64("x", partial["b64_json"].get<std::string>(), 100'000);
  const auto seen = image::decode(*file);
  BOOST_TEST_REQUIRE(seen.operator bool());
  BOOST_TEST(seen->px.width == 8u);
  BOOST_TEST(seen->bytes[0] == 128);
  const auto done = got->event_data(2);
  BOOST_TEST(done["seed"] == 1);
  BOOST_TEST(done["usage"]["output_tokens"] == 16);
  BOOST_TEST(done["size"] == "64x64");
}

BOOST_AUTO_TEST_CASE(partial_images_are_encoded_once_and_elsewhere) {
  rig r;
  std::vector<std::function<void()>> elsewhere;
  // The handlers hold the encoder.
  *r.previews_run = [&](std::function<void()> work) {
    elsewhere.push_back(std::move(work));
    return elsewhere.size() < 3;
  };
  const auto got = r.generate({{"stream", true}, {"partial_images", 3}});
  for (uint32_t step = 2; step <= 6; step += 2)
    r.images->step(1, step, 8, fake_images::grey_preview(step));
  r.images->finish(1);
  // The engine's thread is free, and the image waits for its previews.
  BOOST_TEST_REQUIRE(elsewhere.size() == 3u);
  BOOST_TEST(got->events.empty());
  elsewhere[1]();
  BOOST_TEST(got->events.empty());
  elsewhere[0]();
  // The third one could not be encoded.
  BOOST_TEST(got->event_names()
             == "image_generation.partial_image,"
                "image_generation.partial_image,"
                "image_generation.completed");
  BOOST_TEST(got->event_data(0)["partial_image_index"] == 0);
  BOOST_TEST(got->event_data(1)["partial_image_index"] == 1);
  BOOST_TEST(got->ended);
}

BOOST_AUTO_TEST_CASE(streams_do_not_go_with_everything) {
  rig r;
  const auto param = [&](const json& body) {
    return r.generate(body)->body()["error"]["param"];
  };
  BOOST_TEST(param({{"stream", true}, {"n", 2}}) == "n");
  BOOST_TEST(param({{"stream", true}, {"response_format", "url"}})
             == "response_format");
}

BOOST_AUTO_TEST_CASE(errors_come_as_replies_or_within_the_stream) {
  rig r;
  const auto plain = r.generate({});
  const auto stream = r.generate({{"stream", true}});
  r.images->fail(1, "deadline_missed", "too late");
  r.images->fail(2, "internal", "secret");
  BOOST_TEST(plain->status() == 504u);
  BOOST_TEST(plain->body()["error"]["type"] == "server_error");
  BOOST_TEST(stream->event_names() == "error");
  BOOST_TEST(stream->event_data(0)["type"] == "error");
  BOOST_TEST(stream->event_data(0)["error"]["code"] == "internal");
  BOOST_TEST(stream->events[0].second.find("secret") == std::string::npos);
  BOOST_TEST(stream->ended);
  r.images->refuse_after = 0;
  const auto refused = r.generate({{"stream", true}});
  BOOST_TEST(!refused->streaming);
  BOOST_TEST(refused->status() == 429u);
  BOOST_TEST(find_field(refused->answered->headers, "Retry-After") == "3");
}

BOOST_AUTO_TEST_CASE(what_comes_before_submit_returned_is_streamed_in_order) {
  rig r;
  r.images->on_submit = [&](uint64_t request) {
    r.images->step(request, 4, 8, fake_images::grey_preview(4));
    r.images->finish(request);
  };
  const auto got = r.generate({{"stream", true}, {"partial_images", 1}});
  BOOST_TEST(got->event_names()
             == "image_generation.partial_image,image_generation.completed");
  BOOST_TEST(!got->faulty);
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_takes_its_job_back) {
  rig r;
  const auto plain = r.generate({{"n", 2}});
  const auto stream = r.generate({{"stream", true}});
  plain->leave();
  stream->leave();
  for (uint64_t request = 1; request <= 3; ++request)
    BOOST_TEST(r.images->at(request).cancelled);
  BOOST_TEST(r.all->open() == 0u);
}

BOOST_AUTO_TEST_CASE(models_are_listed_with_their_variants) {
  rig r;
  const auto v = r.get("/v1/models")->body();
  BOOST_TEST(v["object"] == "list");
  BOOST_TEST_REQUIRE(v["data"].size() == 2u);
  BOOST_TEST(v["data"][0]["id"] == "tiny");
  BOOST_TEST(v["data"][0]["object"] == "model");
  BOOST_TEST(v["data"][0]["variants"].size() == 2u);
  BOOST_TEST(r.get("/v1/models/other")->body()["id"] == "other");
  BOOST_TEST(!r.get("/v1/models/other")->body().contains("vocabulary"));
  r.images->known[2].vocabulary =
    std::make_shared<const std::vector<word_group>>(std::vector<word_group>{
      {"shapes", {"circle", "star"}, {{"disk", "circle"}}}});
  BOOST_TEST((r.get("/v1/models/other")->body()["vocabulary"]
              == json{{"shapes", {"circle", "star"}},
                      {"synonyms", {{"disk", "circle"}}}}));
  const auto none = r.get("/v1/models/flux");
  BOOST_TEST(none->status() == 404u);
  BOOST_TEST(none->body()["error"]["code"] == "model_not_found");
}

BOOST_AUTO_TEST_SUITE_END()
