// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/enum_count.hpp>
#include <atelier/core/note.hpp>

#include <boost/test/unit_test.hpp>

#include <set>

using namespace atelier::core;

BOOST_AUTO_TEST_SUITE(note_test)

BOOST_AUTO_TEST_CASE(every_code_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  constexpr auto count = enum_count<note_code>;
  for (uint8_t i = 0; i < count; ++i) {
    const auto code = static_cast<note_code>(i);
    BOOST_TEST((parse_note_code(to_string(code)) == code));
    names.insert(to_string(code));
  }
  BOOST_TEST(names.size() == count);
  BOOST_TEST(!parse_note_code("unknown"));
}

BOOST_AUTO_TEST_SUITE_END()
