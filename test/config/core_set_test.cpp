// SPDX-License-Identifier: Apache-2.0
#include "printing.hpp"
#include <atelier/config/core_set.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace atelier::config {

BOOST_AUTO_TEST_SUITE(core_set)

BOOST_AUTO_TEST_CASE(numbers_and_ranges_become_cores_in_order) {
  using cores = std::vector<uint32_t>;
  BOOST_TEST((*parse_core_set("0") == cores{0}));
  BOOST_TEST((*parse_core_set("6,0-3") == cores{0, 1, 2, 3, 6}));
  BOOST_TEST((*parse_core_set("2-2") == cores{2}));
  BOOST_TEST(parse_core_set("0-1023")->size() == most_cores);
}

BOOST_AUTO_TEST_CASE(what_is_no_set_is_none) {
  for (const auto* text :
       {"", ",", "0,", ",0", "3-1", "0-3,2", "1,1", "-1", "1-", "1024", "01",
        "99999999999", " 1", "1 ", "a", "0-1-2", "+1"})
    BOOST_TEST(!parse_core_set(text).has_value(), "'" << text << "'");
}

BOOST_AUTO_TEST_CASE(a_device_needs_a_process_to_be_bound) {
  const auto bound = parse("[[devices]]\nname = \"cpu:0\"\ncores = \"0\"\n"
                           "[processes]\nmode = \"single\"\ncpu_cores = \"1\"",
                           "file");
  BOOST_REQUIRE_EQUAL(bound.faults.size(), 2u);
  for (const auto& fault : bound.faults)
    BOOST_TEST(fault.text.find("processes.mode \"split\"") != std::string::npos,
               fault.text);
  BOOST_TEST(is_valid(
    parse("[[devices]]\nname = \"cpu:0\"\ncores = \"0\"\n[processes]\nmode = "
          "\"split\"",
          "file")));
  const auto wrong =
    parse("[[devices]]\nname = \"cpu:0\"\ncores = \"3-1\"", "file");
  BOOST_REQUIRE_EQUAL(wrong.faults.size(), 1u);
  BOOST_TEST(wrong.faults[0].key == "devices[0].cores");
}

BOOST_AUTO_TEST_CASE(every_topology_that_comes_along_is_valid) {
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator{ATELIER_TOPOLOGIES}) {
    BOOST_TEST_CONTEXT(entry.path()) {
      const auto read = load(entry.path());
      BOOST_TEST(is_valid(read));
      BOOST_TEST((read.values.processes.mode == process_mode::split));
    }
    ++files;
  }
  BOOST_TEST(files >= 5u);
}

BOOST_AUTO_TEST_CASE(a_topology_that_needs_more_than_two_cores_says_so) {
  for (const auto& entry :
       std::filesystem::directory_iterator{ATELIER_TOPOLOGIES})
    BOOST_TEST_CONTEXT(entry.path()) {
      const auto x = load(entry.path()).values;
      std::vector<std::string> sets{x.processes.cpu_cores};
      for (const auto& device : x.devices)
        sets.push_back(device.cores);
      uint32_t needed = 0;
      for (const auto& set : sets)
        if (const auto cores = parse_core_set(set); cores && !cores->empty())
          needed = std::max(needed, cores->back() + 1);
      const auto name = entry.path().stem().string();
      if (needed > 2)
        BOOST_TEST(name.ends_with("-" + std::to_string(needed) + "-cores"));
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::config
