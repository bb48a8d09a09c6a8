// SPDX-License-Identifier: Apache-2.0
#include "support/api_rig.hpp"
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/openai_routes.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::runtime::http;
using nlohmann::json;
using test::api_rig;
using test::fake_images;
using bytes = std::vector<uint8_t>;

namespace {

/// A form as curl and OpenAI's client send it.
struct form {
  std::string body;

  form& text(std::string_view name, std::string_view value) {
    body += fmt::format("--XX\r\nContent-Disposition: form-data; "
                        "name=\"{}\"\r\n\r\n{}\r\n",
                        name, value);
    return *this;
  }

  form& file(std::string_view name, const bytes& content) {
    body += fmt::format("--XX\r\nContent-Disposition: form-data; name=\"{}\"; "
                        "filename=\"a.png\"\r\nContent-Type: "
                        "image/png\r\n\r\n{}\r\n",
                        name, std::string{content.begin(), content.end()});
    return *this;
  }
};

struct rig : api_rig {
  rig() {
    add_openai_routes(routes, all, context());
  }

  exchange_ptr send(const std::string& what, const form& x) {
    return post("/v1/images/" + what, x.body + "--XX--\r\n",
                {{"content-type", "multipart/form-data; boundary=XX"}});
  }

  std::string refused(const std::string& what, const form& x) {
    const auto got = send(what, x);
    BOOST_TEST(got->status() == 400u);
    const auto body = got->body();
    const auto& param = body["error"]["param"];
    return param.is_string() ? param.get<std::string>() : "";
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(openai_edits_test)

BOOST_AUTO_TEST_CASE(an_edit_takes_its_image_and_mask_from_a_form) {
  rig r;
  const auto image = api_rig::png(16, 8);
  // The image is transparent on the left.
  std::vector<uint8_t> rgba(16 * 8 * 4, 255);
  for (size_t y = 0; y < 8; ++y)
    for (size_t x = 0; x < 4; ++x)
      rgba[(y * 16 + x) * 4 + 3] = x == 3 ? 127 : 0;
  const auto mask = *image::encode({{16, 8}, 4, rgba}, {});
  const auto got = r.send("edits", form{}
                                     .file("image", image)
                                     .text("prompt", "a hat")
                                     .file("mask", mask)
                                     .text("n", "2")
                                     .text("size", "auto")
                                     .text("quality", "high")
                                     .text("guidance_scale", "2.5")
                                     .text("seed", "5")
                                     .text("output_format", "jpeg"));
  BOOST_TEST_REQUIRE(got->status() == 0u);
  const auto g = r.images->at(1).wanted;
  BOOST_TEST(g.prompt == "a hat");
  BOOST_TEST(g.image == image);
  BOOST_TEST(g.width == 0u);
  BOOST_TEST(*g.seed == 5u);
  BOOST_TEST(*g.guidance == 2.5f);
  BOOST_TEST(!g.strength.has_value());
  BOOST_TEST(g.format == "jpeg");
  const auto white = image::decode(g.mask);
  BOOST_TEST_REQUIRE(white.operator bool());
  BOOST_TEST((white->px == core::extent{16, 8}));
  for (size_t x = 0; x < 16; ++x)
    BOOST_TEST(white->bytes[(3 * 16 + x) * 3] == (x < 4 ? 255 : 0));
  r.images->finish(1);
  r.images->finish(2);
  BOOST_TEST(got->status() == 200u);
  BOOST_TEST(got->body()["data"].size() == 2u);
  BOOST_TEST(got->body()["usage"]["input_tokens_details"]["image_tokens"]
             == 32);
}

BOOST_AUTO_TEST_CASE(without_a_mask_the_images_transparent_part_is_edited) {
  rig r;
  std::vector<uint8_t> rgba(16 * 8 * 4, 255);
  for (size_t y = 0; y < 8; ++y)
    for (size_t x = 0; x < 4; ++x)
      rgba[(y * 16 + x) * 4 + 3] = x == 3 ? 127 : 0;
  const auto image = *image::encode({{16, 8}, 4, rgba}, {});
  r.send("edits", form{}.file("image", image).text("prompt", "p"));
  const auto asked = r.images->at(1).wanted;
  BOOST_TEST(asked.image == image);
  const auto white = image::decode(asked.mask);
  BOOST_TEST_REQUIRE(white.operator bool());
  for (size_t x = 0; x < 16; ++x)
    BOOST_TEST(white->bytes[(3 * 16 + x) * 3] == (x < 4 ? 255 : 0));
  // A mask of the call's own has its place, and so does an image that hides
  // nothing.
  const auto other = api_rig::png(16, 8);
  r.send(
    "edits",
    form{}.file("image", image).file("mask_image", other).text("prompt", "p"));
  BOOST_TEST(r.images->at(2).wanted.mask == other);
  for (size_t i = 3; i < rgba.size(); i += 4)
    rgba[i] = 255;
  r.send("edits", form{}
                    .file("image", *image::encode({{16, 8}, 4, rgba}, {}))
                    .text("prompt", "p"));
  BOOST_TEST(r.images->at(3).wanted.mask.empty());
}

BOOST_AUTO_TEST_CASE(the_image_may_come_as_a_list_of_one) {
  rig r;
  const auto image = api_rig::png(16, 8);
  r.send("edits", form{}.file("image[]", image).text("prompt", "p"));
  BOOST_TEST(r.images->at(1).wanted.image == image);
  BOOST_TEST(
    r.refused(
      "edits",
      form{}.file("image[]", image).file("image[]", image).text("prompt", "p"))
    == "image");
}

BOOST_AUTO_TEST_CASE(a_form_with_a_field_twice_is_refused_by_name) {
  rig r;
  const auto image = api_rig::png(16, 16);
  const auto got = r.send(
    "edits",
    form{}.file("image", image).text("prompt", "p").text("prompt[]", "q"));
  BOOST_TEST(got->status() == 400u);
  BOOST_TEST(got->body()["error"]["message"]
             == R"(the form has the field "prompt" twice)");
}

BOOST_AUTO_TEST_CASE(an_empty_file_of_a_form_counts_as_absent) {
  rig r;
  const auto image = api_rig::png(16, 8);
  const auto good = form{}.file("image", image).text("prompt", "p");
  auto unnamed = good;
  unnamed.body += "--XX\r\nContent-Disposition: form-data; name=\"mask\"; "
                  "filename=\"\"\r\nContent-Type: "
                  "application/octet-stream\r\n\r\n\r\n";
  auto named = good;
  named.file("mask", {});
  uint64_t number = 0;
  for (const auto& x : {unnamed, named}) {
    BOOST_TEST(r.send("edits", x)->status() == 0u);
    BOOST_TEST(r.images->at(++number).wanted.mask.empty());
  }
  BOOST_TEST(r.refused("edits", form{}.file("image", {}).text("prompt", "p"))
             == "image");
}

BOOST_AUTO_TEST_CASE(an_edits_json_may_have_a_list_of_one_image) {
  rig r;
  const auto image = api_rig::png(16, 8);
  const json one{{"image_url", to_data_url("image/png", image)}};
  const json mask{
    {"image_url", to_data_url("image/png", api_rig::png(16, 8, 0, 0))}};
  r.post_json(
    "/v1/images/edits",
    json{{"images", json::array({one})}, {"mask", mask}, {"prompt", "p"}});
  BOOST_TEST(r.images->at(1).wanted.image == image);
  BOOST_TEST(!r.images->at(1).wanted.mask.empty());
  const auto refused = [&](const json& images, bool with_image) {
    json call{{"images", images}, {"prompt", "p"}};
    if (with_image)
      call["image"] = to_base64(image);
    const auto got = r.post_json("/v1/images/edits", call);
    BOOST_TEST(got->status() == 400u);
    return got->body()["error"]["param"];
  };
  BOOST_TEST(refused(json::array({one, one}), false) == "images");
  BOOST_TEST(refused(json::array({json{{"file_id", "f"}}}), false) == "images");
  BOOST_TEST(refused(json::array({one}), true) == "images");
}

BOOST_AUTO_TEST_CASE(an_edit_may_come_as_json) {
  rig r;
  const auto image = api_rig::png(16, 8);
  r.post_json("/v1/images/edits",
              json{{"image", to_data_url("image/png", image)},
                   {"mask_image", to_base64(image)},
                   {"prompt", "p"}});
  BOOST_TEST(r.images->at(1).wanted.image == image);
  // mask_image is already white in the edited part, so it is unchanged.
  BOOST_TEST(r.images->at(1).wanted.mask == image);
}

BOOST_AUTO_TEST_CASE(faulty_edits_name_their_field) {
  rig r;
  const auto image = api_rig::png(16, 8);
  const auto good = form{}.file("image", image).text("prompt", "p");
  const auto with = [&](auto add) {
    auto x = good;
    add(x);
    return r.refused("edits", x);
  };
  BOOST_TEST(r.refused("edits", form{}.file("image", image)) == "prompt");
  BOOST_TEST(r.refused("edits", form{}.text("prompt", "p")) == "image");
  BOOST_TEST(
    r.refused("edits",
              form{}.text("image", "https://a/b.png").text("prompt", "p"))
    == "image");
  // The mask has no transparency.
  BOOST_TEST(with([&](form& x) { x.file("mask", image); }) == "mask");
  BOOST_TEST(with([&](form& x) { x.file("mask", bytes{1, 2, 3}); }) == "mask");
  BOOST_TEST(
    with([&](form& x) {
      x.file("mask", api_rig::png(16, 8, 0, 0)).file("mask_image", image);
    })
    == "mask");
  BOOST_TEST(with([&](form& x) { x.file("other", image); }) == "other");
  BOOST_TEST(with([](form& x) { x.text("input_fidelity", "most"); })
             == "input_fidelity");
  BOOST_TEST(with([](form& x) { x.text("n", "many"); }) == "n");
  BOOST_TEST(with([](form& x) { x.text("bogus", "1"); }) == "bogus");
  const auto no_form = r.post("/v1/images/edits", "nothing",
                              {{"content-type", "multipart/form-data"}});
  BOOST_TEST(no_form->status() == 400u);
  BOOST_TEST(r.images->count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_forms_media_type_has_no_case) {
  rig r;
  const auto got =
    r.post("/v1/images/variations",
           form{}.file("image", test::api_rig::png(64, 64)).body + "--XX--\r\n",
           {{"content-type", "Multipart/Form-Data; boundary=XX"},
            {"idempotency-key", "a"}});
  BOOST_TEST(got->status() == 0u);
  BOOST_TEST(r.images->count() == 1u);
}

BOOST_AUTO_TEST_CASE(files_beyond_their_bytes_are_refused) {
  test::api_rig r;
  auto with = r.context();
  with.limits.source_bytes = 100;
  add_openai_routes(r.routes, r.all, with);
  const auto got =
    r.post("/v1/images/variations",
           form{}.file("image", bytes(101, 1)).body + "--XX--",
           {{"content-type", "multipart/form-data; boundary=XX"}});
  BOOST_TEST(got->body()["error"]["message"]
             == "image has 101 bytes, outside 1..100");
}

BOOST_AUTO_TEST_CASE(many_copies_of_large_files_are_refused) {
  test::api_rig r;
  auto with = r.context();
  const auto image = api_rig::png(16, 8);
  with.limits.sources_bytes = image.size() * 3;
  add_openai_routes(r.routes, r.all, with);
  const auto got =
    r.post("/v1/images/variations",
           form{}.file("image", image).text("n", "4").body + "--XX--",
           {{"content-type", "multipart/form-data; boundary=XX"}});
  BOOST_TEST(got->body()["error"]["param"] == "n");
}

BOOST_AUTO_TEST_CASE(edits_stream_under_their_own_names) {
  rig r;
  const auto got = r.send("edits", form{}
                                     .file("image", api_rig::png(16, 8))
                                     .text("prompt", "p")
                                     .text("stream", "true")
                                     .text("partial_images", "1"));
  // At strength 0.8 six of 8 steps run.
  BOOST_TEST(r.images->at(1).wanted.preview_every == 3u);
  r.images->step(1, 3, 6, fake_images::grey_preview(3));
  r.images->finish(1);
  BOOST_TEST(got->event_names()
             == "image_edit.partial_image,image_edit.completed");
}

BOOST_AUTO_TEST_CASE(a_variation_starts_from_its_image) {
  rig r;
  const auto image = api_rig::png(16, 8);
  r.send("variations",
         form{}.file("image", image).text("response_format", "b64_json"));
  const auto g = r.images->at(1).wanted;
  BOOST_TEST(g.image == image);
  BOOST_TEST(*g.strength == 0.6f);
  BOOST_TEST(g.prompt.empty());
  BOOST_TEST(r.refused("variations", form{}.text("n", "1")) == "image");
  BOOST_TEST(
    r.refused("variations", form{}.file("image", image).file("mask", image))
    == "mask");
}

BOOST_AUTO_TEST_CASE(large_masks_become_smaller_by_a_whole_factor) {
  test::api_rig r;
  auto with = r.context();
  with.limits.picture_px = 64;
  with.limits.side_px = 64;
  add_openai_routes(r.routes, r.all, with);
  r.post("/v1/images/edits",
         form{}
             .file("image", api_rig::png(32, 32))
             .file("mask", api_rig::png(32, 30, 0, 0))
             .text("prompt", "p")
             .body
           + "--XX--",
         {{"content-type", "multipart/form-data; boundary=XX"}});
  const auto white = image::decode(r.images->at(1).wanted.mask);
  BOOST_TEST_REQUIRE(white.operator bool());
  BOOST_TEST((white->px == core::extent{8, 8}));
  BOOST_TEST(white->bytes.back() == 255);
}

BOOST_AUTO_TEST_SUITE_END()
