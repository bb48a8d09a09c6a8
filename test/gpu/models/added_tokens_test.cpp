// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/tokenizer/detail/added_tokens.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::gpu::detail {

namespace {

// Returns the pieces as text, with ids in brackets.
std::string pieces(const token_finder& sut, std::string_view text) {
  std::string out;
  for (const auto& x : sut.split(text))
    out += x.id ? "[" + std::to_string(*x.id) + "]"
                : "(" + std::string{x.text} + ")";
  return out;
}

added_token token(int32_t id) {
  added_token out;
  out.id = id;
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(added_tokens_test)

BOOST_AUTO_TEST_CASE(without_tokens_the_text_is_one_piece) {
  const token_finder sut;
  BOOST_CHECK_EQUAL(pieces(sut, ""), "");
  BOOST_CHECK_EQUAL(pieces(sut, "abc"), "(abc)");
}

BOOST_AUTO_TEST_CASE(the_leftmost_and_longest_token_is_taken) {
  token_finder sut;
  BOOST_REQUIRE(sut.add("ab", token(1)));
  BOOST_REQUIRE(sut.add("abcd", token(2)));
  BOOST_REQUIRE(sut.add("bcde", token(3)));
  BOOST_REQUIRE(sut.add("", token(4)));
  BOOST_CHECK(!sut.add("ab", token(5)));
  BOOST_CHECK_EQUAL(pieces(sut, "xabcdey"), "(x)[2](ey)");
  BOOST_CHECK_EQUAL(pieces(sut, "abcbcde"), "[1](c)[3]");
  BOOST_CHECK_EQUAL(pieces(sut, "aabab"), "(a)[1][1]");
}

BOOST_AUTO_TEST_CASE(white_space_goes_with_tokens_that_take_it) {
  token_finder sut;
  auto left = token(1);
  left.lstrip = true;
  auto right = token(2);
  right.rstrip = true;
  BOOST_REQUIRE(sut.add("<l>", left));
  BOOST_REQUIRE(sut.add("<r>", right));
  BOOST_CHECK_EQUAL(pieces(sut, "a  <l>  b"), "(a)[1](  b)");
  BOOST_CHECK_EQUAL(pieces(sut, "a  <r>  b"), "(a  )[2](b)");
  BOOST_CHECK_EQUAL(pieces(sut, " \xE2\x80\x83<l>"), "[1]");
  BOOST_CHECK_EQUAL(pieces(sut, "<r>\xE2\x80\x83\n"), "[2]");
  BOOST_CHECK_EQUAL(pieces(sut, "<r>  <l>"), "[2][1]");
}

BOOST_AUTO_TEST_CASE(tokens_of_white_space_overlap_what_was_taken) {
  token_finder sut;
  auto right = token(1);
  right.rstrip = true;
  BOOST_REQUIRE(sut.add("r", right));
  BOOST_REQUIRE(sut.add("  ", token(2)));
  // As in the library tokenizers, the white space belongs to both.
  BOOST_CHECK_EQUAL(pieces(sut, "r   a"), "[1][2]( a)");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::gpu::detail
