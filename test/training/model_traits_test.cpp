// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/model_traits.hpp>
#include <atelier/training/family.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(model_traits_test)

BOOST_AUTO_TEST_CASE(what_is_written_is_read_again) {
  for (const auto x : {family_member::base, family_member::turbo}) {
    const auto traits = family_traits(x);
    const auto read = parse_traits(to_text(traits), "atelier.json");
    BOOST_TEST_REQUIRE(read.operator bool());
    BOOST_TEST((*read == traits));
    BOOST_TEST(read->native_only);
  }
  BOOST_TEST((*parse_traits("{}", "f") == model_traits{}));
}

BOOST_AUTO_TEST_CASE(what_is_not_known_is_refused_with_file_and_key) {
  const auto refused = [](std::string_view text, std::string_view part) {
    const auto read = parse_traits(text, "m/atelier.json");
    BOOST_TEST_REQUIRE(!read, text);
    BOOST_TEST(read.why().text.find("m/atelier.json") != std::string::npos,
               read.why().text);
    BOOST_TEST(read.why().text.find(part) != std::string::npos,
               read.why().text);
  };
  refused("[]", "");
  refused(R"({"native_only": 1})", "native_only");
  refused(R"({"captions": "poems"})", "captions");
  refused(R"({"most_guidance": -1})", "most_guidance");
  refused(R"({"version": 2})", "version");
  refused(R"({"colour": "red"})", "colour");
}

BOOST_AUTO_TEST_SUITE_END()
