// SPDX-License-Identifier: Apache-2.0
#include "support/each_instruction_set.hpp"
#include <atelier/core/enum_count.hpp>
#include <atelier/core/instruction_set.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <string_view>

using namespace atelier::core;
using atelier::test::limited_instructions;

namespace {

struct compiled {
  instruction_set set;
};

constexpr compiled slow{instruction_set::portable};
constexpr compiled fast{instruction_set::avx512};
constexpr std::array<const compiled*, 2> both{&slow, &fast};

} // namespace

BOOST_AUTO_TEST_SUITE(instruction_set_test)

BOOST_AUTO_TEST_CASE(each_name_names_its_set) {
  for (size_t i = 0; i < enum_count<instruction_set>; ++i) {
    const instruction_set x{static_cast<uint8_t>(i)};
    BOOST_TEST((parse_instruction_set(to_string(x)) == x), to_string(x));
  }
}

BOOST_AUTO_TEST_CASE(other_names_name_none) {
  for (const std::string_view name :
       {"", "auto", "AVX2", "avx", "avx2 ", "unknown"})
    BOOST_TEST(!parse_instruction_set(name).has_value(), name);
}

BOOST_AUTO_TEST_CASE(the_fastest_that_the_processor_has_is_in_use) {
  const auto& all = available_instruction_sets();
  BOOST_TEST((all.front() == instruction_set::portable));
  BOOST_TEST(std::ranges::is_sorted(all));
  BOOST_TEST((instruction_set_in_use() == all.back()));
}

BOOST_AUTO_TEST_CASE(a_limit_holds_until_it_is_removed) {
  for (const auto most : available_instruction_sets()) {
    {
      const limited_instructions limited{most};
      BOOST_TEST((instruction_set_in_use() == most));
    }
    BOOST_TEST(
      (instruction_set_in_use() == available_instruction_sets().back()));
  }
}

BOOST_AUTO_TEST_CASE(a_set_that_a_processor_lacks_is_refused_by_name) {
  constexpr std::array has{instruction_set::portable, instruction_set::avx2};
  for (const auto x : has)
    BOOST_TEST(check_available(x, has).operator bool());
  const auto refused = check_available(instruction_set::avx512, has);
  BOOST_TEST_REQUIRE(!refused);
  BOOST_TEST((refused.why().code == ec::bad_config));
  BOOST_TEST(refused.why().text
             == "this processor lacks the instruction set avx512 (available: "
                "portable, avx2)");
}

BOOST_AUTO_TEST_CASE(a_refused_limit_changes_nothing) {
  const limited_instructions before{instruction_set::portable};
  constexpr instruction_set of_no_processor{enum_count<instruction_set>};
  BOOST_TEST(!limit_instruction_set(of_no_processor));
  BOOST_TEST((instruction_set_in_use() == instruction_set::portable));
}

BOOST_AUTO_TEST_CASE(the_fastest_code_that_the_set_includes_is_chosen) {
  atelier::test::on_each_instruction_set([] {
    const bool includes = instruction_set_in_use() >= fast.set;
    BOOST_TEST((fastest_in_use<compiled>(both) == (includes ? &fast : &slow)));
    BOOST_TEST((fastest_in_use<compiled>({both.data() + 1, 1})
                == (includes ? &fast : nullptr)));
  });
}

BOOST_AUTO_TEST_CASE(no_code_is_chosen_from_none) {
  BOOST_TEST((fastest_in_use<compiled>({}) == nullptr));
}

BOOST_AUTO_TEST_SUITE_END()
