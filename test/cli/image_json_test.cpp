// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/image_json.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(image_json_test)

BOOST_AUTO_TEST_CASE(the_object_has_these_keys_in_this_order) {
  generated_image x;
  x.seed = UINT64_MAX;
  x.prompt = "a \"b\"\n\u00e9";
  x.model = "m";
  x.variant = "v";
  x.route = "r";
  x.sampler = "ddim";
  x.steps = 20;
  x.steps_run = 21;
  x.width = 8;
  x.height = 16;
  x.drawn_width = 4;
  x.drawn_height = 4;
  x.sha256 = "00";
  x.took = {1ms, 2ms, 3ms, 4ms, 5ms, 6ms, 7ms, 8ms, 9ms, 36500us};
  BOOST_TEST(
    runtime::cli::to_json(x, "o/p.png")
    == R"({"path":"o/p.png","seed":18446744073709551615,"prompt":"a \"b\"\n)"
       "\u00e9"
       R"(","model":"m","variant":"v","route":"r","sampler":"ddim","steps":20,)"
       R"("steps_run":21,"width":8,"height":16,"drawn_width":4,"drawn_height":4,"sha256":"00","timings_ms":)"
       R"({"queue":1.0,"classify":2.0,"retrieve":3.0,"preprocess":4.0,)"
       R"("text":5.0,"denoise":6.0,"decode":7.0,"postprocess":8.0,)"
       R"("total":36.5},"notes":[]})");
  x.notes = {{"c", "a \"b\""}};
  BOOST_TEST(runtime::cli::to_json(x, "p").ends_with(
    R"(,"notes":[{"code":"c","text":"a \"b\""}]})"));
  x.prompt_class = {{"smaller_models", 2, "small@20"}};
  BOOST_TEST(runtime::cli::to_json(x, "p").ends_with(
    R"(,"prompt_class":[{"ladder":"smaller_models","level":2,)"
    R"("variant":"small@20"}]})"));
  x.reused = {"latent", 12, 0.75, 5};
  BOOST_TEST(runtime::cli::to_json(x, "p").ends_with(
    R"(,"reused":{"kind":"latent","entry":12,"similarity":0.75,"steps":5}})"));
}

BOOST_AUTO_TEST_CASE(a_path_of_any_bytes_gives_valid_json) {
  const auto sut = runtime::cli::to_json({}, "\xff.png");
  BOOST_TEST(sut.starts_with("{\"path\":\"\uFFFD.png\""));
}

BOOST_AUTO_TEST_SUITE_END()
