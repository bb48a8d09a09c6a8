// SPDX-License-Identifier: Apache-2.0
#include "support/api_rig.hpp"
#include <atelier/runtime/http/a1111_routes.hpp>
#include <atelier/runtime/http/base64.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <vector>

using namespace atelier;
using namespace atelier::runtime::http;
using nlohmann::json;
using test::api_rig;
using bytes = std::vector<uint8_t>;

namespace {

struct rig : api_rig {
  rig() {
    add_a1111_routes(routes, all, context());
    // Every drawn image is white and has the requested size.
    images->bytes_of = [](const generation& g) {
      const bytes white(size_t{g.width} * g.height * 3, 255);
      return *image::encode({{g.width, g.height}, 3, white}, {}, "told");
    };
  }

  exchange_ptr draw(json body) {
    if (!body.contains("init_images"))
      body["init_images"] = {to_base64(png(80, 60, 100))};
    return post_json("/sdapi/v1/img2img", body);
  }

  /// Returns a mask that is white where x and y are within these, and black
  /// elsewhere.
  static std::string mask(uint32_t width, uint32_t height, uint32_t x0,
                          uint32_t y0, uint32_t x1, uint32_t y1) {
    bytes all(size_t{width} * height * 3, 0);
    for (uint32_t y = y0; y < y1; ++y)
      for (size_t i = (size_t{y} * width + x0) * 3;
           i < (size_t{y} * width + x1) * 3; ++i)
        all[i] = 255;
    return to_base64(*image::encode({{width, height}, 3, all}, {}));
  }

  /// Returns the image of the call's reply once all is drawn.
  image::bitmap result(const exchange_ptr& x) {
    images->finish(images->count());
    BOOST_TEST_REQUIRE(x->status() == 200u);
    const auto file =
      *from_base64("x", x->body()["images"][0].get<std::string>(), 1 << 20);
    BOOST_TEST(image::read_text(file).value_or("") == "told");
    return *image::decode(file);
  }

  generation order() const {
    return images->at(images->count()).wanted;
  }
};

uint8_t at(const image::bitmap& x, uint32_t column, uint32_t row) {
  return x.bytes[(size_t{row} * x.px.width + column) * x.channels];
}

} // namespace

BOOST_AUTO_TEST_SUITE(a1111_img2img_test)

BOOST_AUTO_TEST_CASE(without_a_mask_the_file_goes_to_the_engine_as_it_is) {
  rig r;
  const auto file = api_rig::png(80, 60, 100);
  const auto got = r.draw({{"width", 64}, {"height", 64}});
  BOOST_TEST(r.order().image == file);
  BOOST_TEST(r.order().width == 64u);
  BOOST_TEST(*r.order().strength == 0.75f);
  BOOST_TEST(r.order().strength_rule == "webui");
  BOOST_TEST((r.result(got).px == core::extent{64, 64}));
  BOOST_TEST(!got->body()["parameters"].contains("init_images"));
  const auto info = json::parse(got->body()["info"].get<std::string>());
  BOOST_TEST(info["denoising_strength"] == 0.75);
}

BOOST_AUTO_TEST_CASE(an_image_of_another_door_keeps_its_rule_of_strength) {
  rig r;
  const auto rule = [&](json body) {
    r.draw(std::move(body));
    return r.order().strength_rule;
  };
  BOOST_TEST(rule({{"strength_rule", "diffusers"}}) == "diffusers");
  const std::string told = "a\nSteps: 12, Seed: 1, Version: ";
  BOOST_TEST(rule({{"infotext", told + "v1.10.1"}}) == "webui");
  BOOST_TEST(rule({{"infotext", told + "Atelier 1"}}) == "diffusers");
  BOOST_TEST(rule({{"infotext", "a\nSteps: 12, Seed: 1, Strength rule: webui, "
                                "Version: Atelier 1"}})
             == "webui");
  BOOST_TEST(r.draw({{"strength_rule", "half"}})->status() == 400u);
}

BOOST_AUTO_TEST_CASE(proportions_are_kept_where_that_is_wanted) {
  rig r;
  for (const int mode : {1, 2}) {
    r.draw({{"width", 64}, {"height", 64}, {"resize_mode", mode}});
    const auto sent = image::decode(r.order().image);
    BOOST_TEST_REQUIRE(sent.operator bool());
    BOOST_TEST((sent->px == core::extent{64, 64}));
    BOOST_TEST(at(*sent, 0, 0) == 100);
  }
}

BOOST_AUTO_TEST_CASE(a_mask_repaints_where_it_is_white_and_nowhere_else) {
  rig r;
  const auto got = r.draw({{"mask", r.mask(80, 64, 40, 0, 80, 64)},
                           {"init_images", {to_base64(r.png(80, 64, 100))}},
                           {"inpaint_full_res", false},
                           {"inpainting_fill", 1},
                           {"mask_blur", 0},
                           {"width", 80},
                           {"height", 64},
                           {"denoising_strength", 0.5}});
  const auto mask = image::decode(r.order().mask);
  BOOST_TEST_REQUIRE(mask.operator bool());
  BOOST_TEST(at(*mask, 39, 10) == 0);
  BOOST_TEST(at(*mask, 40, 10) == 255);
  BOOST_TEST(*r.order().strength == 0.5f);
  const auto x = r.result(got);
  BOOST_TEST((x.px == core::extent{80, 64}));
  BOOST_TEST(at(x, 39, 10) == 100);
  BOOST_TEST(at(x, 40, 10) == 255);
}

BOOST_AUTO_TEST_CASE(an_inverted_mask_repaints_the_rest) {
  rig r;
  const auto got = r.draw({{"mask", r.mask(80, 64, 40, 0, 80, 64)},
                           {"init_images", {to_base64(r.png(80, 64, 100))}},
                           {"inpaint_full_res", 0},
                           {"inpainting_mask_invert", 1},
                           {"mask_blur", 0},
                           {"width", 80},
                           {"height", 64}});
  const auto x = r.result(got);
  BOOST_TEST(at(x, 39, 10) == 255);
  BOOST_TEST(at(x, 40, 10) == 100);
}

BOOST_AUTO_TEST_CASE(a_blurred_mask_fades) {
  rig r;
  const auto got = r.draw({{"mask", r.mask(80, 64, 40, 0, 80, 64)},
                           {"init_images", {to_base64(r.png(80, 64, 100))}},
                           {"inpaint_full_res", false},
                           {"mask_blur", 4},
                           {"width", 80},
                           {"height", 64}});
  const auto x = r.result(got);
  BOOST_TEST(at(x, 10, 10) == 100);
  BOOST_TEST(at(x, 38, 10) > 110);
  BOOST_TEST(at(x, 38, 10) < at(x, 42, 10));
  BOOST_TEST(at(x, 42, 10) < 250);
  BOOST_TEST(at(x, 70, 10) == 255);
}

BOOST_AUTO_TEST_CASE(the_masked_part_is_filled_where_that_is_wanted) {
  rig r;
  // The masked part is red.
  bytes all(80 * 64 * 3, 100);
  for (size_t y = 20; y < 40; ++y)
    for (size_t x = 20; x < 40; ++x)
      all[(y * 80 + x) * 3] = 255;
  const auto file = *image::encode({{80, 64}, 3, all}, {});
  const auto sent = [&](int fill) {
    r.draw({{"mask", r.mask(80, 64, 20, 20, 40, 40)},
            {"init_images", {to_base64(file)}},
            {"inpaint_full_res", false},
            {"inpainting_fill", fill},
            {"mask_blur", 0},
            {"width", 80},
            {"height", 64}});
    return at(*image::decode(r.order().image), 30, 30);
  };
  BOOST_TEST(sent(0) == 100);
  BOOST_TEST(sent(1) == 255);
}

BOOST_AUTO_TEST_CASE(only_the_part_around_the_mask_is_drawn) {
  rig r;
  const auto got = r.draw({{"init_images", {to_base64(r.png(200, 160, 100))}},
                           {"mask", r.mask(200, 160, 100, 50, 132, 82)},
                           {"inpaint_full_res", true},
                           {"inpaint_full_res_padding", 16},
                           {"inpainting_fill", 1},
                           {"mask_blur", 0},
                           {"width", 128},
                           {"height", 128}});
  // 64 pixels around become 128, and the middle half of these is repainted.
  const auto mask = image::decode(r.order().mask);
  BOOST_TEST((mask->px == core::extent{128, 128}));
  BOOST_TEST(at(*mask, 20, 64) == 0);
  BOOST_TEST(at(*mask, 64, 64) == 255);
  BOOST_TEST(at(*mask, 28, 64) == 0);
  BOOST_TEST(at(*mask, 36, 64) == 255);
  const auto x = r.result(got);
  BOOST_TEST((x.px == core::extent{200, 160}));
  BOOST_TEST(at(x, 99, 60) == 100);
  BOOST_TEST(at(x, 100, 60) == 255);
  BOOST_TEST(at(x, 131, 81) == 255);
  BOOST_TEST(at(x, 132, 81) == 100);
  BOOST_TEST(at(x, 110, 49) == 100);
}

BOOST_AUTO_TEST_CASE(a_black_mask_leaves_all_as_it_was) {
  rig r;
  const auto got = r.draw(
    {{"mask", r.mask(80, 60, 0, 0, 0, 0)}, {"width", 80}, {"height", 64}});
  const auto x = r.result(got);
  BOOST_TEST(at(x, 40, 30) == 100);
}

BOOST_AUTO_TEST_CASE(faulty_calls_name_their_field) {
  rig r;
  const auto refused = [&](const json& body) {
    const auto got = r.draw(body);
    BOOST_TEST(got->status() == 400u);
    return got->body()["detail"].get<std::string>();
  };
  const auto image = to_base64(api_rig::png(16, 16));
  BOOST_TEST(refused({{"init_images", json::array()}})
             == "init_images is missing");
  BOOST_TEST(
    refused({{"init_images", {image, image}}}).starts_with("init_images"));
  BOOST_TEST(refused({{"init_images", {"https://a/b"}}})
               .starts_with("init_images is a URL"));
  BOOST_TEST(refused({{"mask", "Zm9v"}}).starts_with("mask"));
  BOOST_TEST(
    refused({{"mask", image}, {"init_images", {"Zm9v"}}}).starts_with("image"));
  BOOST_TEST(refused({{"resize_mode", 3}}).starts_with("resize_mode"));
  BOOST_TEST(refused({{"resize_mode", 3}})
             == "resize_mode 3 (latent upscale) is not supported; it can be 0 "
                "(stretch), 1 (crop) or 2 (fill)");
  BOOST_TEST(
    refused({{"inpainting_fill", 2}})
    == "inpainting_fill 2 (latent noise) is not supported; it can be 0 "
       "(fill) or 1 (original)");
  BOOST_TEST(
    refused({{"inpainting_fill", 3}})
    == "inpainting_fill 3 (latent nothing) is not supported; it can be "
       "0 (fill) or 1 (original)");
  BOOST_TEST(refused({{"mask_blur", 65}}).starts_with("mask_blur"));
  BOOST_TEST(
    refused({{"denoising_strength", 1.1}}).starts_with("denoising_strength"));
  BOOST_TEST(r.images->count() == 0u);
}

BOOST_AUTO_TEST_CASE(files_that_wait_for_images_are_bounded) {
  api_rig r;
  auto with = r.context();
  const auto image = api_rig::png(80, 64, 100);
  const auto mask = rig::mask(80, 64, 40, 0, 80, 64);
  with.limits.sources_bytes = 700;
  add_a1111_routes(r.routes, r.all, with);
  const json body{{"init_images", {to_base64(image)}},
                  {"mask", mask},
                  {"width", 64},
                  {"height", 64}};
  size_t refused = 0;
  std::vector<api_rig::exchange_ptr> open;
  for (int i = 0; i < 10; ++i) {
    open.push_back(r.post_json("/sdapi/v1/img2img", body));
    refused += open.back()->status() == 429 ? 1u : 0u;
  }
  BOOST_TEST(refused > 0u);
  BOOST_TEST(refused < 10u);
  // After they have disconnected, there is room.
  for (const auto& x : open)
    x->leave();
  open.clear();
  BOOST_TEST(r.post_json("/sdapi/v1/img2img", body)->status() == 0u);
}

BOOST_AUTO_TEST_CASE(pixels_are_worked_on_elsewhere) {
  api_rig r;
  std::vector<std::function<void()>> work;
  auto with = r.context();
  with.elsewhere = [&](const std::string& whose, std::function<void()> x) {
    BOOST_TEST(whose == "key ann");
    work.push_back(std::move(x));
    return true;
  };
  add_a1111_routes(r.routes, r.all, with);
  const auto got = r.post_json(
    "/sdapi/v1/img2img", {{"init_images", {to_base64(api_rig::png(16, 16))}}});
  BOOST_TEST(r.images->count() == 0u);
  BOOST_TEST_REQUIRE(work.size() == 1u);
  work[0]();
  BOOST_TEST(r.images->count() == 1u);
  BOOST_TEST(got->status() == 0u);
}

BOOST_AUTO_TEST_CASE(pixels_without_a_key_are_worked_on_in_turns_of_addresses) {
  api_rig r;
  r.key.clear();
  std::vector<std::string> callers;
  auto with = r.context();
  with.elsewhere = [&](const std::string& whose, std::function<void()>) {
    callers.push_back(whose);
    return true;
  };
  add_a1111_routes(r.routes, r.all, with);
  for (const auto* client : {"192.0.2.1", "192.0.2.2", "192.0.2.1"}) {
    r.client = client;
    r.post_json("/sdapi/v1/img2img",
                {{"init_images", {to_base64(api_rig::png(16, 16))}}});
  }
  BOOST_TEST(
    callers
      == (std::vector<std::string>{"192.0.2.1", "192.0.2.2", "192.0.2.1"}),
    boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(too_much_work_on_pixels_is_refused_with_a_time) {
  api_rig r;
  auto with = r.context();
  with.elsewhere = [](const std::string&, std::function<void()>) {
    return false;
  };
  add_a1111_routes(r.routes, r.all, with);
  const auto got = r.post_json(
    "/sdapi/v1/img2img", {{"init_images", {to_base64(api_rig::png(16, 16))}}});
  BOOST_TEST(got->status() == 429u);
  BOOST_TEST(r.images->count() == 0u);
}

/// A masked call of several images, of which each is pasted into the client's.
struct pasting_rig : api_rig {
  pasting_rig() {
    images->bytes_of = [](const generation&) { return png(64, 64, 255); };
  }

  /// Draws `n` images, with the work on pixels so far.
  exchange_ptr draw(const api_context& with, int n) {
    add_a1111_routes(routes, all, with);
    const auto got = post_json(
      "/sdapi/v1/img2img", {{"init_images", {to_base64(png(160, 120, 100))}},
                            {"mask", rig::mask(160, 120, 40, 40, 80, 80)},
                            {"inpaint_full_res", true},
                            {"width", 64},
                            {"height", 64},
                            {"batch_size", n}});
    while (!work.empty())
      run_one();
    return got;
  }

  void run_one() {
    const auto next = std::move(work.front());
    work.erase(work.begin());
    next();
  }

  api_context with_work() {
    auto with = context();
    with.elsewhere = [this](const std::string&, std::function<void()> x) {
      work.push_back(std::move(x));
      return true;
    };
    return with;
  }

  std::vector<std::function<void()>> work;
};

BOOST_AUTO_TEST_CASE(drawn_image_is_pasted_however_long_that_takes) {
  pasting_rig r;
  auto with = r.context();
  core::timespan each{0};
  with.worked = [&] { return r.now += each; };
  const auto got = r.draw(with, 2);
  BOOST_TEST_REQUIRE(got->status() == 0u);
  // From now on time passes whenever it is looked at.
  each = std::chrono::hours{1};
  r.images->finish(1);
  r.images->finish(2);
  BOOST_TEST(got->status() == 200u);
  BOOST_TEST(got->body()["images"].size() == 2u);
}

BOOST_AUTO_TEST_CASE(work_on_files_ends_by_processor_time_and_by_the_clock) {
  const json body{{"init_images", {to_base64(api_rig::png(512, 512))}},
                  {"mask", to_base64(api_rig::png(512, 512, 255))},
                  {"width", 64},
                  {"height", 64}};
  for (const bool by_clock : {false, true}) {
    api_rig r;
    auto with = r.context();
    with.decode_most = 8 * with.limits.decode;
    // One time passes whenever it is read, the other one stands still.
    const auto passes = [&] { return r.now += with.limits.decode * 2; };
    const auto stands = [] { return core::time_point{}; };
    with.worked = by_clock ? std::function<core::time_point()>{stands} : passes;
    with.steady = by_clock ? std::function<core::time_point()>{passes} : stands;
    add_a1111_routes(r.routes, r.all, with);
    const auto got = r.post_json("/sdapi/v1/img2img", body);
    BOOST_TEST(got->status() == 400u);
    BOOST_TEST_REQUIRE(got->answered.has_value());
    const auto* const option =
      by_clock ? "(http.decode_factor)" : "(limits.decode_ms)";
    BOOST_TEST(got->answered->body.find(option) != std::string::npos,
               got->answered->body);
    BOOST_TEST(r.images->count() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(each_pasted_image_has_a_turn_of_its_own) {
  pasting_rig r;
  const auto got = r.draw(r.with_work(), 3);
  for (uint64_t i = 1; i <= 3; ++i)
    r.images->finish(i);
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(got->status() == 0u);
    BOOST_TEST_REQUIRE(r.work.size() == 1u);
    r.run_one();
  }
  BOOST_TEST(r.work.empty());
  BOOST_TEST(got->status() == 200u);
  const auto body = got->body();
  BOOST_TEST_REQUIRE(body["images"].size() == 3u);
  for (const auto& x : body["images"]) {
    const auto file = from_base64("x", x.get<std::string>(), 1 << 20);
    BOOST_TEST((image::decode(*file)->px == core::extent{160, 120}));
  }
  const auto info = json::parse(body["info"].get<std::string>());
  BOOST_TEST(info["infotexts"].size() == 3u);
  BOOST_TEST(body["parameters"]["batch_size"] == 3);
}

BOOST_AUTO_TEST_CASE(nothing_is_pasted_for_a_client_that_left) {
  pasting_rig r;
  const auto got = r.draw(r.with_work(), 3);
  for (uint64_t i = 1; i <= 3; ++i)
    r.images->finish(i);
  r.run_one();
  got->leave();
  BOOST_TEST_REQUIRE(r.work.size() == 1u);
  r.run_one();
  BOOST_TEST(r.work.empty());
  BOOST_TEST(got->status() == 499u);
}

BOOST_AUTO_TEST_CASE(answer_of_too_many_pixels_is_refused_before_it_is_drawn) {
  for (const bool masked : {true, false}) {
    api_rig r;
    auto with = r.context();
    with.answer_px = 50'000;
    add_a1111_routes(r.routes, r.all, with);
    json body{{"init_images", {to_base64(r.png(160, 120, 100))}},
              {"width", 64},
              {"height", 64},
              {"resize_mode", 1},
              {"batch_size", 3}};
    // The answer has the size of the whole image.
    if (masked)
      body["mask"] = rig::mask(160, 120, 40, 40, 80, 80);
    const auto got = r.post_json("/sdapi/v1/img2img", body);
    BOOST_TEST(got->status() == (masked ? 400u : 0u));
    BOOST_TEST(r.images->count() == (masked ? 0u : 3u));
    if (masked)
      BOOST_TEST(got->body()["detail"]
                 == "n 3 of 160x120 pixels is more than 50000 pixels in one "
                    "answer (http.answer_mpx)");
    body["batch_size"] = 2;
    BOOST_TEST(r.post_json("/sdapi/v1/img2img", body)->status() == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
