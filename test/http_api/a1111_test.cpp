// SPDX-License-Identifier: Apache-2.0
#include "support/api_rig.hpp"
#include <atelier/core/image/detail/png_text.hpp>
#include <atelier/runtime/http/a1111_routes.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/base64.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::runtime::http;
using namespace std::chrono_literals;
using nlohmann::json;
using test::fake_images;

namespace {

constexpr auto told = "a cat\nNegative prompt: dogs\nSteps: 12, Sampler: DPM++ "
                      "2M, Schedule type: Karras, CFG scale: 6.5, Seed: 77, "
                      "Size: 64x128, Model: tiny, RNG: Philox";

struct rig : test::api_rig {
  rig() {
    add_a1111_routes(routes, all, context());
    images->bytes_of = [](const generation&) {
      const std::vector<uint8_t> grey(64 * 64 * 3, 90);
      return *image::encode({{64, 64}, 3, grey}, {}, told);
    };
  }

  exchange_ptr draw(const json& body) {
    return post_json("/sdapi/v1/txt2img", body);
  }

  generation order_of(const json& body) {
    const auto got = draw(body);
    BOOST_TEST_REQUIRE(got->status() == 0u);
    return images->at(images->count()).wanted;
  }

  json progress(const std::string& query = "") {
    return get("/sdapi/v1/progress" + query)->body();
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(a1111_test)

BOOST_AUTO_TEST_CASE(a_image_comes_with_its_info) {
  rig r;
  const auto got = r.draw({{"prompt", "a cat"},
                           {"negative_prompt", "dogs"},
                           {"seed", 77},
                           {"batch_size", 1},
                           {"n_iter", 2},
                           {"steps", 12},
                           {"cfg_scale", 6.5},
                           {"width", 64},
                           {"height", 70},
                           {"sampler_name", "DPM++ 2M Karras"}});
  const auto g = r.images->at(2).wanted;
  BOOST_TEST(g.prompt == "a cat");
  BOOST_TEST(g.negative == "dogs");
  BOOST_TEST(*g.seed == 78u);
  BOOST_TEST(*g.steps == 12u);
  BOOST_TEST(*g.guidance == 6.5f);
  BOOST_TEST(g.width == 64u);
  BOOST_TEST(g.height == 64u);
  BOOST_TEST(*g.sampler == "dpmpp_2m");
  BOOST_TEST(*g.karras);
  r.images->finish(1);
  r.images->finish(2);
  BOOST_TEST(got->status() == 200u);
  const auto v = got->body();
  BOOST_TEST_REQUIRE(v["images"].size() == 2u);
  const auto file =
    from_base64("x", v["images"][0].get<std::string>(), 100'000);
  BOOST_TEST_REQUIRE(file.operator bool());
  BOOST_TEST(image::decode(*file).operator bool());
  BOOST_TEST(v["parameters"]["prompt"] == "a cat");
  const auto info = json::parse(v["info"].get<std::string>());
  BOOST_TEST(info["prompt"] == "a cat");
  BOOST_TEST(info["seed"] == 77);
  BOOST_TEST((info["all_seeds"] == json{77, 78}));
  BOOST_TEST(info["all_prompts"].size() == 2u);
  BOOST_TEST(info["sampler_name"] == "DPM++ 2M");
  BOOST_TEST(info["cfg_scale"] == 6.5);
  BOOST_TEST(info["steps"] == 12);
  BOOST_TEST(info["sd_model_name"] == "tiny");
  BOOST_TEST(info["denoising_strength"].is_null());
  BOOST_TEST(info["infotexts"][1] == told);
  BOOST_TEST(info["version"].get<std::string>().starts_with("Atelier"));
  BOOST_TEST(info["job_timestamp"] == "20231114221320");
}

BOOST_AUTO_TEST_CASE(the_parameters_of_a_reply_have_all_fields) {
  rig r;
  const auto got =
    r.draw({{"prompt", "p"}, {"steps", nullptr}, {"mine", "kept"}});
  r.images->finish(1);
  const auto v = got->body()["parameters"];
  const auto model = r.images->variants().front();
  BOOST_TEST(v["prompt"] == "p");
  BOOST_TEST(v["mine"] == "kept");
  BOOST_TEST(v["steps"] == model.steps);
  BOOST_TEST(v["width"] == model.width);
  BOOST_TEST(v["cfg_scale"] == model.guidance);
  BOOST_TEST(v["seed"] == -1);
  BOOST_TEST(v["negative_prompt"] == "");
  BOOST_TEST(v["n_iter"] == 1);
  BOOST_TEST(v["sampler_name"] == "DPM++ 2M");
  BOOST_TEST(v["scheduler"] == "Karras");
  BOOST_TEST(v["enable_hr"] == false);
}

BOOST_AUTO_TEST_CASE(a_size_may_be_drawn_as_it_is_asked_for) {
  rig r;
  BOOST_TEST(!r.order_of({{"width", 512}, {"height", 512}}).native_only);
  BOOST_TEST(!*r.order_of({{"native_only", "off"}}).native_only);
}

BOOST_AUTO_TEST_CASE(notes_are_comments_each_once) {
  rig r;
  r.images->notes = {{"unknown_word", "prompt: 'cat' is not known"},
                     {"prompt_cut", "cut"}};
  const auto got = r.draw({{"prompt", "a cat"}, {"n_iter", 2}});
  r.images->finish(1);
  r.images->finish(2);
  const auto info = json::parse(got->body()["info"].get<std::string>());
  BOOST_TEST(info["comments"] == "prompt: 'cat' is not known\ncut\n");
}

BOOST_AUTO_TEST_CASE(what_is_only_echoed_has_a_size) {
  rig r;
  const auto got = r.draw({{"prompt", "a cat"},
                           {"small", std::string(60'000, 'y')},
                           {"junk", {{"a", std::string(70'000, 'x')}}}});
  BOOST_TEST(got->status() == 400u);
  const auto text = got->body().dump();
  BOOST_TEST((text.find("junk has 700") != std::string::npos), text);
  r.order_of({{"prompt", "a cat"}, {"junk", std::string(60'000, 'x')}});
}

BOOST_AUTO_TEST_CASE(prompts_are_in_the_web_uis_syntax) {
  rig r;
  const auto g = r.order_of({{"prompt", "a (red:1.3) circle BREAK on white"},
                             {"negative_prompt", "[dogs|cats]"}});
  BOOST_TEST(g.prompt == "a (red:1.3) circle BREAK on white");
  BOOST_TEST(g.negative == "[dogs|cats]");
  BOOST_TEST(*g.prompt_syntax == "webui");
  BOOST_TEST(!g.emphasis);
  BOOST_TEST(!g.clip_skip);
  const auto plain =
    r.order_of({{"prompt", "<lora:x:1>"}, {"prompt_syntax", "plain"}});
  BOOST_TEST(*plain.prompt_syntax == "plain");
}

BOOST_AUTO_TEST_CASE(weights_that_cannot_be_read_are_refused_by_name) {
  rig r;
  for (const auto* field : {"prompt", "negative_prompt"}) {
    const auto got = r.draw({{field, "a (red:1000) circle"}});
    BOOST_TEST(got->status() == 400u);
    BOOST_TEST(got->body()["detail"]
               == std::string{field}
                    + ": the weight 1000 of 'red' is outside -100..100");
  }
}

BOOST_AUTO_TEST_CASE(options_set_how_prompts_are_encoded) {
  rig r;
  const auto set = [&](const json& body) {
    return r.post_json("/sdapi/v1/options", body)->status();
  };
  BOOST_TEST(set({{"CLIP_stop_at_last_layers", 2}, {"emphasis", "No norm"}})
             == 200u);
  BOOST_TEST(set({{"CLIP_stop_at_last_layers", 13}}) == 400u);
  BOOST_TEST(set({{"emphasis", "Loud"}}) == 400u);
  const auto told = r.get("/sdapi/v1/options")->body();
  BOOST_TEST(told["CLIP_stop_at_last_layers"] == 2);
  BOOST_TEST(told["emphasis"] == "No norm");
  auto g = r.order_of({{"prompt", "a"}});
  BOOST_TEST(*g.clip_skip == 2u);
  BOOST_TEST(*g.emphasis == "no_norm");
  // What a call says counts before what was set.
  g = r.order_of({{"prompt", "a"}, {"clip_skip", 3}});
  BOOST_TEST(*g.clip_skip == 3u);
  g = r.order_of({{"prompt", "a"},
                  {"override_settings",
                   {{"CLIP_stop_at_last_layers", 1}, {"emphasis", "None"}}}});
  BOOST_TEST(*g.clip_skip == 1u);
  BOOST_TEST(*g.emphasis == "off");
  g = r.order_of({{"prompt", "a"}, {"prompt_syntax", "plain"}});
  BOOST_TEST(!g.emphasis);
}

BOOST_AUTO_TEST_CASE(a_network_in_a_prompt_is_refused_by_name) {
  rig r;
  for (const auto* field : {"prompt", "negative_prompt"})
    for (const auto* mark : {"<lora:x:1>", "<hypernet:y:0.5>", "<lyco:z>"}) {
      const auto got = r.draw({{field, std::string{"a circle "} + mark}});
      BOOST_TEST(got->status() == 400u);
      const auto why = got->body()["detail"].get<std::string>();
      BOOST_TEST(why.find(mark) != std::string::npos, why);
      BOOST_TEST(why.starts_with(field), why);
    }
  BOOST_TEST(r.images->count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_scale_beyond_the_models_is_lowered_and_noted) {
  rig r;
  BOOST_TEST(*r.order_of({{"cfg_scale", 7}}).guidance == 7);
  r.images->known[0].guidance = 2;
  r.images->known[0].most_guidance = 3;
  const auto lowered = r.order_of({{"cfg_scale", 7}});
  BOOST_TEST(*lowered.guidance == 2);
  BOOST_TEST_REQUIRE(lowered.notes.size() == 1u);
  BOOST_TEST(lowered.notes[0].code == "guidance");
  BOOST_TEST(lowered.notes[0].text
             == "cfg_scale 7 is lowered to 2: above 3 the model's images get "
                "worse");
  const auto kept = r.order_of({{"cfg_scale", 2.5}});
  BOOST_TEST(*kept.guidance == 2.5);
  BOOST_TEST(kept.notes.empty());
}

BOOST_AUTO_TEST_CASE(samplers_and_schedulers_have_many_names) {
  rig r;
  const auto sampler = [&](const json& body) {
    const auto g = r.order_of(body);
    return g.sampler.value_or("-") + (!g.karras ? "" : *g.karras ? "+" : "/");
  };
  BOOST_TEST(sampler(json::object()) == "-");
  BOOST_TEST(sampler({{"sampler_name", "Euler a"}}) == "euler_ancestral");
  BOOST_TEST(sampler({{"sampler_name", "k_euler_a"}}) == "euler_ancestral");
  BOOST_TEST(sampler({{"sampler_index", "LCM"}}) == "lcm");
  BOOST_TEST(sampler({{"sampler_name", "DDIM"}, {"sampler_index", "LCM"}})
             == "ddim");
  BOOST_TEST(sampler({{"sampler_name", "dpmpp_2m"}, {"scheduler", "karras"}})
             == "dpmpp_2m+");
  BOOST_TEST(sampler({{"sampler_name", "Euler"}, {"scheduler", "Uniform"}})
             == "euler/");
  BOOST_TEST(sampler({{"sampler_name", "Euler"}, {"scheduler", "Automatic"}})
             == "euler");
  BOOST_TEST(sampler({{"sampler_name", "Euler a"}, {"scheduler", "Karras"}})
             == "euler_ancestral+");
  for (const auto* even : {"Normal", "Simple", "DDIM", "ddim_uniform"})
    BOOST_TEST(sampler({{"sampler_name", "Euler"}, {"scheduler", even}})
               == "euler/");
  const auto spacing = [&](const char* with, const char* scheduler) {
    return r.order_of({{"sampler_name", with}, {"scheduler", scheduler}})
      .spacing;
  };
  BOOST_TEST(spacing("Euler", "Uniform") == "model");
  BOOST_TEST(spacing("Euler", "SGM Uniform") == "sgm_uniform");
  BOOST_TEST(spacing("DPM++ 2M", "sgm_uniform") == "sgm_uniform");
  BOOST_TEST(spacing("DDIM", "Trailing") == "trailing");
  BOOST_TEST(spacing("DDIM", "SGM Uniform") == "model");
  BOOST_TEST(
    r.draw({{"sampler_name", "LCM"}, {"scheduler", "SGM Uniform"}})->status()
    == 400u);
  // In the web UI, too, DDIM has no scheduler.
  BOOST_TEST(sampler({{"sampler_name", "DDIM"}, {"scheduler", "Karras"}})
             == "ddim");
  BOOST_TEST(
    r.draw({{"sampler_name", "LCM"}, {"scheduler", "Karras"}})->body()["detail"]
    == "scheduler 'Karras' is not supported with the sampler LCM; Euler, Euler "
       "a, DPM++ 2M and Flow match Euler have it");
  const auto got = r.draw({{"sampler_name", "Heun"}});
  BOOST_TEST(got->status() == 404u);
  BOOST_TEST(got->body()["detail"]
             == "sampler_name not found: 'Heun' (available: Euler, Euler a, "
                "DPM++ 2M, DDIM, LCM, Flow match Euler)");
  BOOST_TEST(r.draw({{"scheduler", "Exponential"}})->status() == 400u);
}

BOOST_AUTO_TEST_CASE(what_webuiapi_sends_by_default_is_fine) {
  rig r;
  r.order_of(json::parse(R"({
    "enable_hr": false, "hr_scale": 2, "hr_upscaler": "Latent",
    "hr_second_pass_steps": 0, "hr_resize_x": 0, "hr_resize_y": 0,
    "denoising_strength": 0.7, "firstphase_width": 0, "firstphase_height": 0,
    "prompt": "p", "styles": [], "seed": -1, "subseed": -1,
    "subseed_strength": 0.0, "seed_resize_from_h": 0, "seed_resize_from_w": 0,
    "batch_size": 1, "n_iter": 1, "steps": 20, "cfg_scale": 7.0, "width": 512,
    "height": 512, "restore_faces": false, "tiling": false,
    "do_not_save_samples": false, "do_not_save_grid": false,
    "negative_prompt": "", "eta": 1.0, "s_churn": 0, "s_tmax": 0, "s_tmin": 0,
    "s_noise": 1, "override_settings": {},
    "override_settings_restore_afterwards": true, "sampler_name": "Euler a",
    "sampler_index": "Euler a", "script_name": null, "script_args": [],
    "send_images": true, "save_images": false, "alwayson_scripts": {}})"));
}

BOOST_AUTO_TEST_CASE(scripts_that_are_off_are_accepted) {
  rig r;
  for (const auto* scripts :
       {R"({"ADetailer": {"args": [false]}})",
        R"({"ADetailer": {"args": [false, {"ad_model": "x"}]}})",
        R"({"controlnet": {"args": []}, "Refiner": {"args": null}})",
        R"({"controlnet": {"args": [{"enabled": false}]}, "x": {}})"})
    r.order_of({{"alwayson_scripts", json::parse(scripts)}});
}

BOOST_AUTO_TEST_CASE(numbers_and_flags_may_be_texts) {
  rig r;
  const auto g = r.order_of({{"steps", "12"},
                             {"cfg_scale", "6.5"},
                             {"seed", "77"},
                             {"width", "64"},
                             {"height", "128"},
                             {"enable_hr", "false"}});
  BOOST_TEST(*g.steps == 12u);
  BOOST_TEST(*g.guidance == 6.5f);
  BOOST_TEST(*g.seed == 77u);
  BOOST_TEST(g.width == 64u);
  BOOST_TEST(g.height == 128u);
  BOOST_TEST(r.draw({{"steps", "many"}})->status() == 400u);
}

BOOST_AUTO_TEST_CASE(the_other_side_is_the_models) {
  rig r;
  const auto wide = r.order_of({{"width", 128}});
  BOOST_TEST(wide.width == 128u);
  BOOST_TEST(wide.height == r.images->known[0].height);
  const auto tall = r.order_of({{"height", 128}});
  BOOST_TEST(tall.width == r.images->known[0].width);
  BOOST_TEST(tall.height == 128u);
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_refused_by_name) {
  rig r;
  for (const auto& [field, value] : std::vector<std::pair<std::string, json>>{
         {"enable_hr", true},
         {"restore_faces", "yes"},
         {"tiling", true},
         {"styles", {"nice"}},
         {"script_name", "xyz"},
         {"alwayson_scripts", {{"ControlNet", {{"args", {1}}}}}},
         {"alwayson_scripts", {{"ADetailer", {{"args", {true, false}}}}}},
         {"alwayson_scripts",
          {{"controlnet", {{"args", {{{"enabled", true}}}}}}}},
         {"alwayson_scripts", {{"ADetailer", {{"model", "x"}}}}},
         {"alwayson_scripts", 5},
         {"refiner_checkpoint", "x"},
         {"subseed_strength", 0.5},
         {"s_churn", 3},
         {"eta", 0.5},
         {"steps", 0},
         {"cfg_scale", 99},
         {"width", 4},
         {"batch_size", 11},
         {"override_settings", {{"CLIP_stop_at_last_layers", 99}}},
         {"override_settings", {{"unknown", 2}}},
         {"override_settings", 5}}) {
    BOOST_TEST_CONTEXT(field << " " << value) {
      const auto got = r.draw({{field, value}});
      BOOST_TEST(got->status() == 400u);
      BOOST_TEST(
        got->body()["detail"].get<std::string>().find(field.substr(0, 5))
        == 0u);
      BOOST_TEST(got->body().contains("error"));
    }
  }
  BOOST_TEST(r.draw({{"batch_size", 4}, {"n_iter", 3}})->status() == 400u);
  BOOST_TEST(r.post("/sdapi/v1/txt2img", "{")->status() == 400u);
  BOOST_TEST(r.images->count() == 0u);
}

BOOST_AUTO_TEST_CASE(eta_is_ddims_alone) {
  rig r;
  BOOST_TEST(*r.order_of({{"sampler_name", "DDIM"}, {"eta", 0.5}}).eta == 0.5f);
  BOOST_TEST(
    !r.order_of({{"sampler_name", "Euler"}, {"eta", 1.0}}).eta.has_value());
}

BOOST_AUTO_TEST_CASE(infotext_fills_what_is_left_out) {
  rig r;
  auto g = r.order_of({{"infotext", told}});
  BOOST_TEST(g.prompt == "a cat");
  BOOST_TEST(g.negative == "dogs");
  BOOST_TEST(*g.seed == 77u);
  BOOST_TEST(*g.steps == 12u);
  BOOST_TEST(*g.guidance == 6.5f);
  BOOST_TEST(*g.sampler == "dpmpp_2m");
  BOOST_TEST(*g.karras);
  BOOST_TEST(g.width == 64u);
  BOOST_TEST(g.height == 128u);
  BOOST_TEST(g.noise == "philox");
  g = r.order_of({{"infotext", told},
                  {"prompt", "a dog"},
                  {"seed", 5},
                  {"sampler_name", "Euler"}});
  BOOST_TEST(g.prompt == "a dog");
  BOOST_TEST(*g.seed == 5u);
  BOOST_TEST(*g.sampler == "euler");
  BOOST_TEST(!g.karras.has_value());
}

BOOST_AUTO_TEST_CASE(progress_is_that_of_the_callers_job) {
  rig r;
  auto v = r.progress();
  BOOST_TEST(v["progress"] == 0.0);
  BOOST_TEST(v["state"]["job_count"] == 0);
  const auto got = r.draw({{"force_task_id", "task(mine)"}, {"n_iter", 2}});
  r.draw({{"force_task_id", "task(other)"}});
  v = r.progress("?id_task=task(mine)");
  BOOST_TEST(v["textinfo"] == "In queue, place 1");
  BOOST_TEST(v["state"]["job"] == "task(mine)");
  BOOST_TEST(r.progress()["state"]["job"] == "task(other)");
  r.now += 1s;
  r.images->step(1, 0, 8);
  r.now += 4s;
  r.images->step(1, 4, 8, fake_images::grey_preview(4));
  // A running job comes before a waiting one.
  v = r.progress();
  BOOST_TEST(v["state"]["job"] == "task(mine)");
  BOOST_TEST(v["progress"] == 0.25);
  BOOST_TEST(v["eta_relative"] == 12.0);
  BOOST_TEST(v["state"]["sampling_step"] == 4);
  BOOST_TEST(v["state"]["sampling_steps"] == 8);
  BOOST_TEST(v["state"]["job_count"] == 2);
  BOOST_TEST(v["current_image"].get<std::string>().starts_with("iVBOR"));
  BOOST_TEST(r.progress("?skip_current_image=true")["current_image"].is_null());
  r.images->finish(1);
  r.images->step(2, 1, 8);
  v = r.progress();
  BOOST_TEST(v["state"]["job_no"] == 1);
  BOOST_TEST(v["state"]["sampling_step"] == 1);
  // No key sees another key's job.
  r.key = "bob";
  BOOST_TEST(r.progress()["state"]["job"] == "");
  BOOST_TEST(r.progress("?id_task=task(mine)")["state"]["job"] == "");
}

BOOST_AUTO_TEST_CASE(a_step_of_many_images_is_within_those_of_one) {
  rig r;
  r.draw({{"n_iter", 4}});
  for (uint64_t i = 1; i <= 4; ++i)
    r.images->step(i, 6, 8);
  const auto state = r.progress()["state"];
  BOOST_TEST(state["sampling_steps"] == 8);
  BOOST_TEST(state["sampling_step"] == 8);
  r.images->finish(1);
  BOOST_TEST(r.progress()["state"]["job_no"] == 1);
  BOOST_TEST(r.progress()["state"]["sampling_step"] == 8);
}

BOOST_AUTO_TEST_CASE(front_ends_poll_their_task) {
  rig r;
  const auto poll = [&](const json& more) {
    json body{{"id_task", "task(a)"}};
    body.update(more);
    return r.post_json("/internal/progress", body)->body();
  };
  BOOST_TEST(poll(json::object())["completed"] == false);
  r.draw({{"force_task_id", "task(a)"}});
  BOOST_TEST(poll(json::object())["queued"] == true);
  r.images->step(1, 2, 8, fake_images::grey_preview(2));
  auto v = poll(json::object());
  BOOST_TEST(v["active"] == true);
  BOOST_TEST(v["progress"] == 0.25);
  BOOST_TEST(
    v["live_preview"].get<std::string>().starts_with("data:image/png;base64,"));
  BOOST_TEST(poll({{"id_live_preview", v["id_live_preview"]}})["live_preview"]
               .is_null());
  r.images->finish(1);
  v = poll(json::object());
  BOOST_TEST(v["completed"] == true);
  BOOST_TEST(v["active"] == false);
}

BOOST_AUTO_TEST_CASE(running_call_is_found_behind_many_newer_jobs) {
  rig r;
  const auto running = r.draw({{"prompt", "a"}, {"force_task_id", "first"}});
  r.images->step(1, 2, 8);
  for (int i = 0; i < 300; ++i) {
    auto other = r.wish();
    other.owner = r.key;
    other.keeps = true;
    r.enter(std::move(other));
  }
  BOOST_TEST(r.progress()["state"]["job"] == "first");
  for (int i = 0; i < 300; ++i)
    r.draw({{"prompt", "b"}});
  BOOST_TEST(r.progress()["state"]["job"] == "first");
  r.images->answers_cancel = true;
  r.post("/sdapi/v1/interrupt", "");
  BOOST_TEST(running->status() == 200u);
  BOOST_TEST(r.images->at(1).cancelled);
  BOOST_TEST(!r.images->at(r.images->count()).cancelled);
}

BOOST_AUTO_TEST_CASE(an_interrupted_call_returns_what_there_is) {
  rig r;
  const auto body = json{{"n_iter", 2}, {"width", 64}, {"height", 64}};
  const auto first = r.draw(body);
  r.images->finish(1);
  r.post("/sdapi/v1/interrupt", "");
  BOOST_TEST(first->status() == 200u);
  BOOST_TEST(first->body()["images"].size() == 1u);
  const auto info = json::parse(first->body()["info"].get<std::string>());
  BOOST_TEST(info["interrupted"] == true);
  BOOST_TEST(info["all_seeds"].size() == 1u);
  BOOST_TEST(r.images->at(2).cancelled);
  // No image is done, so the reply has the newest preview in the image's size.
  const auto second = r.draw(body);
  r.images->step(3, 2, 8, fake_images::grey_preview(2));
  r.post("/sdapi/v1/skip", "");
  const auto half = second->body()["images"];
  BOOST_TEST_REQUIRE(half.size() == 1u);
  const auto seen =
    image::decode(*from_base64("x", half[0].get<std::string>(), 100'000));
  BOOST_TEST((seen->px == core::extent{64, 64}));
  // Only the named job is cancelled.
  const auto third = r.draw({{"force_task_id", "a"}});
  const auto fourth = r.draw({{"force_task_id", "b"}});
  r.post("/sdapi/v1/interrupt", R"({"id_task":"a"})");
  BOOST_TEST(third->status() == 200u);
  // Clients of the web UI take the first image of each reply.
  const auto grey = third->body()["images"];
  BOOST_TEST_REQUIRE(grey.size() == 1u);
  const auto shown =
    image::decode(*from_base64("x", grey[0].get<std::string>(), 100'000));
  BOOST_TEST_REQUIRE(shown.operator bool());
  BOOST_TEST((shown->px == core::extent{64, 64}));
  BOOST_TEST(fourth->status() == 0u);
  // Another key's job is not cancelled.
  r.key = "bob";
  r.post("/sdapi/v1/interrupt", R"({"id_task":"b"})");
  r.post("/sdapi/v1/interrupt", "");
  BOOST_TEST(fourth->status() == 0u);
}

BOOST_AUTO_TEST_CASE(failures_come_in_the_web_uis_words) {
  rig r;
  const auto got = r.draw(json::object());
  r.images->fail(1, "deadline_missed", "too late");
  BOOST_TEST(got->status() == 504u);
  BOOST_TEST(got->body()["error"] == "deadline_missed");
  BOOST_TEST(got->body()["detail"] == "too late");
  r.images->refuse_after = 0;
  BOOST_TEST(r.draw(json::object())->status() == 429u);
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_takes_its_job_back) {
  rig r;
  r.draw(json::object())->leave();
  BOOST_TEST(r.images->at(1).cancelled);
}

BOOST_AUTO_TEST_CASE(a_checkpoint_is_not_missing_while_the_server_starts) {
  rig r;
  r.images->known.clear();
  r.images->refuse_after = 0;
  r.images->refusal = starting_failure();
  const json named = {{"sd_model_checkpoint", "tiny"}};
  for (const auto& got : {r.draw({{"override_settings", named}}),
                          r.post_json("/sdapi/v1/options", named)}) {
    BOOST_TEST(got->status() == 503u);
    BOOST_TEST(got->body()["detail"] == starting_text);
    BOOST_TEST(find_field(got->answered->headers, "Retry-After") == "1");
  }
}

BOOST_AUTO_TEST_CASE(options_are_the_callers_own) {
  rig r;
  const auto options = [&] { return r.get("/sdapi/v1/options")->body(); };
  BOOST_TEST(options()["sd_model_checkpoint"] == "tiny");
  const auto set = [&](const json& x) {
    return r.post_json("/sdapi/v1/options", x)->status();
  };
  BOOST_TEST(set({{"sd_model_checkpoint", "other"},
                  {"samples_format", "jpg"},
                  {"jpeg_quality", 60},
                  {"something", "else"},
                  {"live_previews_enable", false}})
             == 200u);
  BOOST_TEST(options()["sd_model_checkpoint"] == "other");
  auto g = r.order_of(json::object());
  BOOST_TEST(*g.model == "other");
  BOOST_TEST(g.format == "jpeg");
  BOOST_TEST(g.quality == 60u);
  BOOST_TEST(g.preview_every == 0u);
  g = r.order_of({{"override_settings", {{"sd_model_checkpoint", "tiny@50"}}}});
  BOOST_TEST(*g.variant == "tiny@50");
  BOOST_TEST(!g.model.has_value());
  // Overrides stay only if the call says so.
  BOOST_TEST(options()["sd_model_checkpoint"] == "other");
  r.order_of({{"override_settings",
               {{"sd_model_checkpoint", "tiny@50"}, {"jpeg_quality", 70}}},
              {"override_settings_restore_afterwards", false}});
  BOOST_TEST(options()["sd_model_checkpoint"] == "tiny@50");
  g = r.order_of(json::object());
  BOOST_TEST(*g.variant == "tiny@50");
  BOOST_TEST(g.format == "jpeg");
  BOOST_TEST(g.quality == 70u);
  BOOST_TEST(set({{"sd_model_checkpoint", "flux"}}) == 404u);
  BOOST_TEST(set({{"jpeg_quality", 0}}) == 400u);
  r.key = "bob";
  BOOST_TEST(options()["sd_model_checkpoint"] == "tiny");
  BOOST_TEST(r.order_of(json::object()).preview_every == 2u);
}

BOOST_AUTO_TEST_CASE(png_info_reads_what_a_image_tells) {
  rig r;
  const auto file = r.images->bytes_of({});
  auto v =
    r.post_json("/sdapi/v1/png-info", {{"image", to_base64(file)}})->body();
  BOOST_TEST(v["info"] == told);
  BOOST_TEST(v["items"]["parameters"] == told);
  BOOST_TEST(v["parameters"]["Prompt"] == "a cat");
  BOOST_TEST(v["parameters"]["Steps"] == "12");
  v = r.post_json("/sdapi/v1/png-info", {{"image", "Zm9v"}})->body();
  BOOST_TEST(v["info"] == "");
  BOOST_TEST(r.post_json("/sdapi/v1/png-info", {{"image", "%"}})->status()
             == 400u);
}

namespace {

/// Returns an image with these texts in front of its other chunks.
std::vector<uint8_t> with_texts(
  const std::vector<std::pair<std::string, std::string>>& texts) {
  constexpr size_t behind_header = 33;
  auto file = test::api_rig::png(16, 8);
  std::vector<uint8_t> chunks;
  for (const auto& [name, text] : texts) {
    auto data = name + '\0' + text;
    image::detail::append_png_chunk(
      chunks, "tEXt",
      {reinterpret_cast<const uint8_t*>(data.data()), data.size()});
  }
  file.insert(file.begin() + behind_header, chunks.begin(), chunks.end());
  return file;
}

} // namespace

BOOST_AUTO_TEST_CASE(png_info_reads_what_other_programs_keep) {
  rig r;
  const auto info =
    [&](const std::vector<std::pair<std::string, std::string>>& texts) {
      return r
        .post_json("/sdapi/v1/png-info",
                   {{"image", to_base64(with_texts(texts))}})
        ->body();
    };
  const auto* const graph =
    R"({"3":{"class_type":"KSampler","inputs":{"seed":5,"steps":20,"cfg":8.5,)"
    R"("sampler_name":"euler","scheduler":"karras","denoise":1,)"
    R"("model":["4",0],"positive":["6",0],"negative":["7",0],)"
    R"("latent_image":["5",0]}},)"
    R"("4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"m"}},)"
    R"("5":{"class_type":"EmptyLatentImage","inputs":{"width":64,"height":32}},)"
    R"("6":{"class_type":"CLIPTextEncode","inputs":{"text":["8",0]}},)"
    R"("8":{"class_type":"Text","inputs":{"text":"a cat, red"}},)"
    R"("7":{"class_type":"CLIPTextEncode","inputs":{"text":"dogs"}}})";
  auto v = info({{"prompt", graph}, {"workflow", "{}"}});
  BOOST_TEST(v["items"]["prompt"] == graph);
  BOOST_TEST(v["items"]["workflow"] == "{}");
  BOOST_TEST(v["parameters"]["Prompt"] == "a cat, red");
  BOOST_TEST(v["parameters"]["Negative prompt"] == "dogs");
  BOOST_TEST(v["parameters"]["Sampler"] == "Euler");
  BOOST_TEST(v["parameters"]["Schedule type"] == "Karras");
  BOOST_TEST(v["parameters"]["Seed"] == "5");
  BOOST_TEST(v["parameters"]["CFG scale"] == "8.5");
  BOOST_TEST(v["parameters"]["Size"] == "64x32");
  BOOST_TEST(v["parameters"]["Model"] == "m");
  v = info({{"Software", "NovelAI"},
            {"Description", "a cat"},
            {"Comment", R"({"steps":28,"sampler":"k_euler_ancestral",)"
                        R"("seed":9,"scale":11,"uc":"dogs"})"}});
  BOOST_TEST(v["parameters"]["Prompt"] == "a cat");
  BOOST_TEST(v["parameters"]["Negative prompt"] == "dogs");
  BOOST_TEST(v["parameters"]["Sampler"] == "Euler a");
  BOOST_TEST(v["parameters"]["Steps"] == "28");
  // A text that cannot be read is shown as it is.
  v = info({{"prompt", "[NaN"}, {"Comment", "made by hand"}});
  BOOST_TEST(v["info"] == "");
  BOOST_TEST(v["items"]["prompt"] == "[NaN");
  BOOST_TEST(v["items"]["Comment"] == "made by hand");
  // A node that leads to itself has no prompt.
  v = info({{"prompt",
             R"({"1":{"class_type":"KSampler","inputs":{"positive":["2",0]}},)"
             R"("2":{"inputs":{"conditioning":["2",0]}}})"}});
  BOOST_TEST(v["info"] == "");
  // The web UI's own text goes before.
  v = info(
    {{"prompt", graph}, {"parameters", "mine\nSteps: 1, Seed: 2, Size: 8x8"}});
  BOOST_TEST(v["parameters"]["Prompt"] == "mine");
  BOOST_TEST(v["items"]["prompt"] == graph);
}

BOOST_AUTO_TEST_CASE(front_ends_find_their_lists) {
  rig r;
  const auto list = [&](const std::string& name) {
    const auto got = r.get("/sdapi/v1/" + name);
    BOOST_TEST(got->status() == 200u);
    return got->body();
  };
  BOOST_TEST(list("samplers").size() == 6u);
  BOOST_TEST(list("samplers")[1]["name"] == "Euler a");
  BOOST_TEST(list("schedulers")[3]["label"] == "Karras");
  const auto models = list("sd-models");
  BOOST_TEST_REQUIRE(models.size() == 5u);
  BOOST_TEST(models[0]["title"] == "tiny");
  BOOST_TEST(models[3]["title"] == "tiny@50");
  BOOST_TEST(list("upscalers")[0]["name"] == "None");
  BOOST_TEST(list("memory")["ram"]["used"].get<uint64_t>() > 0u);
  BOOST_TEST(list("embeddings")["loaded"].is_object());
  BOOST_TEST(list("scripts")["txt2img"].is_array());
  BOOST_TEST(list("cmd-flags")["api"] == true);
  BOOST_TEST(r.get("/internal/ping")->body() == json::object());
  for (const auto* name :
       {"sd-vae", "latent-upscale-modes", "loras", "hypernetworks",
        "face-restorers", "realesrgan-models", "prompt-styles", "script-info",
        "extensions"})
    BOOST_TEST(list(name) == json::array());
  BOOST_TEST(r.post("/sdapi/v1/refresh-checkpoints", "")->status() == 200u);
  BOOST_TEST(r.post("/sdapi/v1/interrogate", "{}")->status() == 501u);
}

BOOST_AUTO_TEST_SUITE_END()
