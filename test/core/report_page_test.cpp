// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/report_page.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace atelier::core;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(report_page_test)

BOOST_AUTO_TEST_CASE(a_head_serves_phones_and_the_dark_from_one_file) {
  const auto sut = report_head("a < b");
  BOOST_TEST(holds(sut, "<h1>a &lt; b</h1>"));
  BOOST_TEST(holds(sut, "<title>a &lt; b</title>"));
  BOOST_TEST(holds(sut, "name=\"viewport\" content=\"width=device-width"));
  BOOST_TEST(holds(sut, "@media (prefers-color-scheme: dark)"));
  BOOST_TEST(holds(sut, "<html lang=\"en\">"));
  for (const auto* elsewhere : {"src=", "href=", "url(", "@import", "<script"})
    BOOST_TEST(!holds(sut, elsewhere), elsewhere);
}

BOOST_AUTO_TEST_CASE(tables_scroll_by_themselves_and_have_heads) {
  const std::vector<std::vector<std::string>> rows{{"policy", "late"},
                                                   {"a&b", "3"}};
  const auto sut = report_table("Policies", rows);
  BOOST_TEST(holds(sut, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                        "aria-label=\"Policies\">"));
  BOOST_TEST(holds(sut, "<th>policy</th><th>late</th>"));
  BOOST_TEST(holds(sut, "<th scope=\"row\">a&amp;b</th><td>3</td>"));
}

BOOST_AUTO_TEST_CASE(every_element_is_closed) {
  const auto sut =
    report_head("t")
    + report_table("none", std::vector<std::vector<std::string>>{})
    + report_table("one",
                   std::vector<std::vector<std::string>>{{"head"}, {"body"}})
    + report_end();
  for (const std::string name : {"html", "head", "body", "style", "div",
                                 "table", "thead", "tbody", "tr"}) {
    size_t opened = 0;
    size_t closed = 0;
    for (auto at = sut.find("<" + name); at != sut.npos;
         at = sut.find("<" + name, at + 1)) {
      const auto next = sut[at + name.size() + 1];
      opened += next == '>' || next == ' ' ? 1 : 0;
    }
    for (auto at = sut.find("</" + name + ">"); at != sut.npos;
         at = sut.find("</" + name + ">", at + 1))
      ++closed;
    BOOST_TEST(opened > 0u, name);
    BOOST_TEST(opened == closed, name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
