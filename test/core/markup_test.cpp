// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/markup.hpp>

#include <boost/test/unit_test.hpp>

using atelier::core::escape_html;

BOOST_AUTO_TEST_SUITE(markup_test)

BOOST_AUTO_TEST_CASE(marks_are_replaced_and_nothing_else) {
  BOOST_TEST(escape_html("") == "");
  BOOST_TEST(escape_html("a 'b' \xc3\xa9") == "a 'b' \xc3\xa9");
  BOOST_TEST(escape_html("<a b=\"c\">&amp;")
             == "&lt;a b=&quot;c&quot;&gt;&amp;amp;");
}

BOOST_AUTO_TEST_SUITE_END()
