// SPDX-License-Identifier: Apache-2.0
#include "scratch_folder.hpp"
#include <atelier/runtime/cli/prompts_file.hpp>

#include <boost/test/unit_test.hpp>

#include <sys/stat.h>

#include <sstream>

using namespace atelier::runtime::cli;
using atelier::core::limits;
using prompts = std::vector<std::string>;

namespace {

prompts read(const std::string& text) {
  std::istringstream in{text};
  auto result = read_prompts(in, "p.txt", limits{});
  BOOST_TEST_REQUIRE(bool{result});
  return *result;
}

std::string refusal(const std::string& text, const limits& within = {}) {
  std::istringstream in{text};
  const auto result = read_prompts(in, "p.txt", within);
  BOOST_TEST_REQUIRE(!result);
  return result.why().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(prompts_file_test)

BOOST_AUTO_TEST_CASE(every_line_that_is_not_empty_is_a_prompt) {
  BOOST_TEST((read("a\n\nb c\n# d\n\n") == prompts{"a", "b c", "# d"}));
}

BOOST_AUTO_TEST_CASE(the_last_line_needs_no_end) {
  BOOST_TEST((read("a\nb") == prompts{"a", "b"}));
}

BOOST_AUTO_TEST_CASE(marks_and_carriage_returns_are_no_text) {
  BOOST_TEST((read("\xEF\xBB\xBF"
                   "a\r\n\r\nb\r\n")
              == prompts{"a", "b"}));
}

BOOST_AUTO_TEST_CASE(spaces_are_kept) {
  BOOST_TEST((read(" a \n") == prompts{" a "}));
}

BOOST_AUTO_TEST_CASE(lines_of_blanks_are_no_prompts) {
  BOOST_TEST((read("a\n \t\nb\n") == prompts{"a", "b"}));
  BOOST_TEST(refusal(" \n\n").ends_with("has no prompt; at least 1 is needed"));
}

BOOST_AUTO_TEST_CASE(a_carriage_return_alone_ends_a_line) {
  BOOST_TEST((read("a\rb\r\nc\r") == prompts{"a", "b", "c"}));
  BOOST_TEST(refusal("a\r\r\xff\r").starts_with("--prompts: p.txt:3: "));
}

BOOST_AUTO_TEST_CASE(faults_are_told_with_their_line) {
  BOOST_TEST(refusal("a\n\n\xff\n").starts_with("--prompts: p.txt:3: "));
  limits within;
  within.prompt_bytes = 4;
  BOOST_TEST(
    refusal("abcd\nabcde\n", within).starts_with("--prompts: p.txt:2"));
  BOOST_TEST(refusal("abcd\n" + std::string(100, 'x'), within)
               .starts_with("--prompts: p.txt:2"));
  within.request_bytes = 8;
  BOOST_TEST(
    refusal("abcd\nabcd\na\n", within).starts_with("--prompts: p.txt:3"));
}

BOOST_AUTO_TEST_CASE(no_prompt_is_a_fault) {
  for (const auto* text : {"", "\n\n", "\xEF\xBB\xBF\n"})
    BOOST_TEST(refusal(text)
               == "--prompts: p.txt has no prompt; at least 1 is needed");
}

BOOST_AUTO_TEST_CASE(a_dash_is_standard_input) {
  std::istringstream in{"a\nb\n"};
  BOOST_TEST((*read_prompts_file("-", in, limits{}) == prompts{"a", "b"}));
}

BOOST_AUTO_TEST_CASE(a_file_is_read_and_its_absence_told) {
  const atelier::test::scratch_folder there;
  there.write("p", "a\n");
  std::istringstream in;
  BOOST_TEST((*read_prompts_file((there.path / "p").string(), in, limits{})
              == prompts{"a"}));
  for (const auto& name : {there.path / "q", there.path}) {
    const auto sut = read_prompts_file(name.string(), in, limits{});
    BOOST_TEST_REQUIRE(!sut);
    BOOST_TEST(sut.why().text.find("--prompts: cannot read") == 0u);
  }
  const auto pipe = (there.path / "pipe").string();
  BOOST_TEST_REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const auto sut = read_prompts_file(pipe, in, limits{});
  BOOST_TEST_REQUIRE(!sut);
  BOOST_TEST(sut.why().text.ends_with(": '-' reads standard input"));
}

BOOST_AUTO_TEST_SUITE_END()
