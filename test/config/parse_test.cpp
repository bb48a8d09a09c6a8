// SPDX-License-Identifier: Apache-2.0
#include "printing.hpp"

namespace atelier::config {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(parsing)

BOOST_AUTO_TEST_CASE(empty_text_gives_the_defaults) {
  for (const auto* text : {"", "\n", "# nothing", "\xEF\xBB\xBF", "[limits]"}) {
    const auto read = parse(text, "a.toml");
    BOOST_REQUIRE(is_valid(read));
    BOOST_CHECK_EQUAL(to_toml(read.values), to_toml(settings{}));
  }
}

BOOST_AUTO_TEST_CASE(every_kind_of_value_is_read) {
  const auto read = parse(R"(
[limits]
steps = 1_000
guidance = 12
request_mib = 1.5
[processes]
mode = "split"
program = 'C:\é'
heartbeat_ms = 1.5
[arena]
state_slot_kib = 4.0625
[cache]
disk_mib = 2.1
[planner]
period_s = 0.25
[[devices]]
variants = ["base@50/bf16", "turbo@1"]
)",
                          "a.toml");
  BOOST_REQUIRE(is_valid(read));
  const auto& x = read.values;
  BOOST_CHECK_EQUAL(x.limits.steps, 1000);
  BOOST_CHECK_EQUAL(x.limits.guidance, 12);
  BOOST_CHECK_EQUAL(x.limits.request_bytes, 3ull << 19);
  BOOST_CHECK(x.processes.mode == process_mode::split);
  BOOST_CHECK_EQUAL(x.processes.program, "C:\\é");
  BOOST_CHECK(x.processes.heartbeat == 1500us);
  BOOST_CHECK_EQUAL(x.arena.state_slot_bytes, 4096 + 64);
  // 2.1 MiB are 2,202,009.6 bytes.
  BOOST_CHECK_EQUAL(x.cache.disk_bytes, 2'202'010);
  BOOST_CHECK(x.planner.period == 250ms);
  const std::vector<std::string> variants = {"base@50/bf16", "turbo@1"};
  BOOST_CHECK(x.devices.at(0).variants == variants);
}

BOOST_AUTO_TEST_CASE(all_spellings_of_a_table_are_the_same) {
  for (const auto* text :
       {"[limits]\nsteps = 7", "limits.steps = 7", "limits = {steps = 7}",
        "[\"limits\"]\n'steps' = 7", "limits . \"steps\" = 0x7"}) {
    const std::string room[] = {"devices[0].variants=['tiny@7']"};
    const auto read = parse(text, "a.toml", room);
    BOOST_REQUIRE(is_valid(read));
    BOOST_CHECK_EQUAL(read.values.limits.steps, 7);
  }
}

BOOST_AUTO_TEST_CASE(tables_of_devices_replace_the_default_one) {
  const auto read = parse("[[devices]]\nname = 'cuda:0'\nseats = 9\n"
                          "[[devices]]\nname = 'cuda:1'\n",
                          "a.toml");
  BOOST_REQUIRE(is_valid(read));
  BOOST_REQUIRE_EQUAL(read.values.devices.size(), 2);
  BOOST_CHECK_EQUAL(read.values.devices[0].name, "cuda:0");
  BOOST_CHECK_EQUAL(read.values.devices[0].seats, 9);
  BOOST_CHECK_EQUAL(read.values.devices[1].name, "cuda:1");
  BOOST_CHECK_EQUAL(read.values.devices[1].seats, device_settings{}.seats);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::config
