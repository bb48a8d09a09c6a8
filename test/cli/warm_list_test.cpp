// SPDX-License-Identifier: Apache-2.0
#include "scratch_folder.hpp"
#include <atelier/runtime/cli/warm_list.hpp>

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <utility>

using namespace atelier;
using namespace atelier::runtime::cli;

namespace {

core::result<std::vector<warm_request>> read(const std::string& text,
                                             const core::limits& within = {}) {
  std::istringstream in{text};
  generation common;
  common.cache = "write";
  common.negative = "blurry";
  common.width = common.height = 64;
  return read_warm_list("-", in, within, common);
}

std::string refusal(const std::string& text, const core::limits& within = {}) {
  const auto got = read(text, within);
  BOOST_TEST_REQUIRE(!got);
  BOOST_TEST((got.why().code == core::ec::invalid_argument));
  return got.why().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(warm_list_test)

BOOST_AUTO_TEST_CASE(a_line_is_a_prompt) {
  const auto got = *read("a red ball\n\na {b}\r\n");
  BOOST_TEST_REQUIRE(got.size() == 2u);
  BOOST_TEST(got[0].wanted.prompt == "a red ball");
  BOOST_TEST(got[0].wanted.negative == "blurry");
  BOOST_TEST(got[0].wanted.width == 64u);
  BOOST_TEST(*got[0].wanted.cache == "write");
  BOOST_TEST(got[1].wanted.prompt == "a {b}");
  BOOST_TEST(got[1].place == "--prompts: standard input:3");
}

BOOST_AUTO_TEST_CASE(a_line_may_be_an_object_with_the_fields_of_a_request) {
  const auto got =
    *read(R"({"prompt":"a","seed":7,"size":"96x32","noise":"philox"})"
          "\n"
          R"({"prompt":"b","negative_prompt":"c","width":32,"height":48,)"
          R"("native_only":"off","cache":"on","seed":-1,"model":null})"
          "\n");
  BOOST_TEST_REQUIRE(got.size() == 2u);
  const auto& a = got[0].wanted;
  BOOST_TEST(a.prompt == "a");
  BOOST_TEST(a.negative == "blurry");
  BOOST_TEST(*a.seed == 7u);
  BOOST_TEST(a.width == 96u);
  BOOST_TEST(a.height == 32u);
  BOOST_TEST(a.noise == "philox");
  const auto& b = got[1].wanted;
  BOOST_TEST(b.negative == "c");
  BOOST_TEST(b.width == 32u);
  BOOST_TEST(b.height == 48u);
  BOOST_TEST(*b.native_only == false);
  BOOST_TEST(!b.seed.has_value());
  // Whatever is found there must not shape what is kept.
  BOOST_TEST(*b.cache == "write");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_kept_is_refused_by_name) {
  const auto second = [](const std::string& field) {
    return refusal("{\"prompt\":\"a\"}\n{\"prompt\":\"b\"," + field + "}\n");
  };
  for (const auto& [field, part] :
       std::initializer_list<std::pair<const char*, const char*>>{
         {R"("steps":5)", "steps: a request that sets it never starts"},
         {R"("num_inference_steps":5)", "num_inference_steps: a request that"},
         {R"("guidance":2)", "guidance: a request that sets it"},
         {R"("deterministic":true)", "deterministic: a request that sets it"},
         {R"("model":"x")", "model: a request that sets it"},
         {R"("variant":"x@5")", "variant: a request that sets it"},
         {R"("image":"aGk=")", "image: the cache keeps nothing"},
         {R"("mask":"aGk=")", "mask: the cache keeps nothing"},
         {R"("strength":0.5)", "strength: the cache keeps nothing"},
         {R"("cache":"read")", "cache: 'read' keeps nothing of the request"},
         {R"("cache":"all")", "cache: '\"all\"' is not off, read, write or on"},
         {R"("cache_similarity":1)", "cache_similarity: a request that"},
         {R"("promt":"x")", "unknown field 'promt'; the fields are prompt,"},
         {R"("seed":"x")", "seed: '\"x\"' is not -1 or a whole number"},
         {R"("seed":-2)", "seed: '-2' is not -1 or a whole number"},
         {R"("size":"63x64")", "size: '63x64'"},
         {R"("size":64)", "size: '64' is not auto or WIDTHxHEIGHT"},
         {R"("width":64)", "width and height need each other"},
         {R"("size":"64x64","width":64,"height":72)", "size 64x64 is not that"},
         {R"("width":4,"height":64)",
          "width: '4' is not a whole number in 8.."},
         {R"("noise":"red")", "noise: '\"red\"' is not torch_cpu or philox"},
         {R"("native_only":1)", "native_only: '1' is not true or false"},
         {R"("negative_prompt":5)", "negative_prompt: '5' is not a text"}}) {
    const auto why = second(field);
    BOOST_TEST(why.starts_with("--prompts: standard input:2: "), why);
    BOOST_TEST(why.find(part) != std::string::npos, field << ": " << why);
  }
}

BOOST_AUTO_TEST_CASE(faults_of_a_list_are_told_with_their_line) {
  BOOST_TEST(refusal("")
             == "--prompts: standard input has no prompt; at least "
                "1 is needed");
  BOOST_TEST(refusal("a\n\xff\n").starts_with("--prompts: standard input:2"));
  BOOST_TEST(refusal("{\"prompt\":\"a\"}\nb\n").find(":2: 'b' is not a JSON")
             != std::string::npos);
  BOOST_TEST(refusal("{\"prompt\":\"a\"}\n[]\n").find(":2: '[]' is not")
             != std::string::npos);
  BOOST_TEST(refusal("{\"seed\":1}\n").find(":1: prompt is missing")
             != std::string::npos);
  core::limits within;
  within.prompt_bytes = 4;
  BOOST_TEST(refusal("abcd\nabcde\n", within).find(":2") != std::string::npos);
  BOOST_TEST(refusal("{\"prompt\":\"abcde\"}\n", within).find(":1: prompt")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_list_may_be_a_file) {
  const test::scratch_folder folder;
  folder.write("list", "a\nb\n");
  std::istringstream in;
  const auto path = (folder.path / "list").string();
  BOOST_TEST(read_warm_list(path, in, {}, {})->size() == 2u);
  const auto none = read_warm_list(path + "x", in, {}, {});
  BOOST_TEST_REQUIRE(!none);
  BOOST_TEST(none.why().text.starts_with("--prompts: "));
}

BOOST_AUTO_TEST_SUITE_END()
