// SPDX-License-Identifier: Apache-2.0
#include "printing.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

namespace atelier::config {

namespace {

/// A text, and the report of its only fault.
struct bad_text {
  const char* toml;
  uint32_t line;
  const char* key;
  const char* part;
};

std::ostream& operator<<(std::ostream& out, const bad_text& x) {
  return out << x.toml;
}

const bad_text bad_texts[] = {
  // Numbers
  {"[limits]\nsteps = 0", 2, "limits.steps",
   "0 is not a whole number in 1..10000"},
  {"[limits]\nsteps = 10001", 2, "limits.steps", "10001 is not"},
  {"limits.steps = -1", 1, "limits.steps", "-1 is not"},
  {"limits.steps = 4294967297", 1, "limits.steps", "4294967297 is not"},
  {"limits.steps = 9223372036854775807", 1, "limits.steps",
   "9223372036854775807 is not"},
  {"limits.steps = 9223372036854775808", 1, "", "9223372036854775808"},
  {"limits.steps = 20.0", 1, "limits.steps", "20 is not a whole number"},
  {"limits.steps = '20'", 1, "limits.steps", "the text \"20\" is not a whole"},
  {"limits.steps = true", 1, "limits.steps", "true is not"},
  {"limits.steps = 2020-01-01", 1, "limits.steps", "a date or time is not"},
  {"limits.steps = [1]", 1, "limits.steps", "a list is not"},
  {"[limits.steps]", 1, "limits.steps", "a table is not"},
  {"limits.guidance = nan", 1, "limits.guidance",
   "nan is not a number in 1..1000"},
  {"limits.guidance = inf", 1, "limits.guidance", "inf is not"},
  {"limits.guidance = 1e300", 1, "limits.guidance", "1e+300 is not"},
  {"processes.step_factor = 0.5", 1, "processes.step_factor", "0.5 is not"},
  {"processes.heartbeat_ms = 0", 1, "processes.heartbeat_ms",
   "0 is not a number in 1..3600000 (milliseconds)"},
  {"planner.period_s = -inf", 1, "planner.period_s", "-inf is not"},
  {"limits.request_mib = 0.9", 1, "limits.request_mib", "0.9 is not"},
  {"limits.prompt_bytes = 10.5", 1, "limits.prompt_bytes", "10.5 is not"},
  // Sizes
  {"arena.state_slots = 1", 1, "arena.state_slots", "in 2..65536"},
  {"arena.image_slots = 1", 1, "arena.image_slots", "in 2..65536"},
  {"arena.state_slot_kib = 3", 1, "arena.state_slot_kib", "in 4.."},
  {"arena.image_slot_kib = 4.03125", 1, "arena.image_slot_kib",
   "a multiple of 64 bytes"},
  {"arena.ring_kib = 63", 1, "arena.ring_kib", "in 64.."},
  {"arena.ring_kib = 96", 1, "arena.ring_kib", "a power of two"},
  {"[arena]\nimage_slots = 65536\nimage_slot_kib = 16384", 2,
   "arena.image_slots", "more than 1 TiB"},
  {"[arena]\nimage_slot_kib = 67108864", 2, "arena.image_slot_kib",
   "more than 1 TiB"},
  // Texts
  {"log.level = 'loud'", 1, "log.level",
   "\"loud\" is not one of \"trace\", \"debug\""},
  {"processes.mode = 'many'", 1, "processes.mode",
   "one of \"single\", \"split\""},
  {"policy.name = ''", 1, "policy.name", "at least one character"},
  {"policy.name = \"a\\u0000b\"", 1, "policy.name", "\"a\\u0000b\" is not"},
  {"processes.program = \"\\u001b[2J\"", 1, "processes.program",
   "\"\\u001B[2J\" is not"},
  // Tables and keys
  {"limits = 3", 1, "limits", "3 is not a table"},
  {"devices = 3", 1, "devices", "3 is not 1..64 tables [[devices]]"},
  {"[devices]\nname = 'cpu:0'", 1, "devices", "a table is not"},
  {"devices = []", 1, "devices", "a list of 0 is not"},
  {"devices = [1]", 1, "devices[0]", "1 is not a table"},
  {"[limits]\nstpes = 3", 2, "limits.stpes", "did you mean limits.steps?"},
  {"steps = 3", 1, "steps", "did you mean limits.steps?"},
  {"[limts]\nsteps = 3", 1, "limts", "did you mean limits?"},
  {"\n\n[arena]\nworkers = 3", 4, "arena.workers",
   "did you mean preprocess.workers?"},
  {"limits.colour = 3", 1, "limits.colour", "is not a known key"},
  {"\"limits.steps\" = 3", 1, "\"limits.steps\"", "is not a known key"},
  {"\"a\\nb\" = 3", 1, "\"a\\u000Ab\"", "is not a known key"},
  {"[[devices]]\n[[devices]]\nname = 'cpu:1'\nmax_bach = 3", 4,
   "devices[1].max_bach", "did you mean devices[1].max_batch?"},
  // Devices
  {"devices = [{name = 'gpu:0'}]", 1, "devices[0].name",
   "\"gpu:0\" is not \"cpu:N\" or \"cuda:N\""},
  {"devices = [{name = 'cpu:01'}]", 1, "devices[0].name", "\"cpu:01\""},
  {"devices = [{name = 'cpu:'}]", 1, "devices[0].name", "\"cpu:\""},
  {"devices = [{name = 'cuda:1000'}]", 1, "devices[0].name", "\"cuda:1000\""},
  {"[[devices]]\n[[devices]]", 2, "devices[1].name",
   "\"cpu:0\" names the same device as devices[0]"},
  {"[[devices]]\nexecutor = 'tensor'", 2, "devices[0].executor",
   "one of \"auto\""},
  {"[[devices]]\nmax_batch = 17", 2, "devices[0].max_batch",
   "devices[0].max_batch 17 is above devices[0].seats 16"},
  {"[[devices]]\nseats = 7", 2, "devices[0].seats",
   "devices[0].max_batch 8 is above devices[0].seats 7"},
  {"[[devices]]\nseats = 0", 2, "devices[0].seats", "0 is not"},
  {"preprocess.seats = 0", 1, "preprocess.seats", "0 is not"},
  {"[[devices]]\nvariants = 'base@50'", 2, "devices[0].variants",
   "the text \"base@50\" is not a list of"},
  {"[[devices]]\nvariants = [50]", 2, "devices[0].variants",
   "the element 50 is not a text; this is a list of"},
  {"[[devices]]\nvariants = ['a@5', 'base']", 2, "devices[0].variants",
   "\"base\" is not NAME@STEPS"},
  {"http.origins = ['http://a', 'b']", 1, "http.origins",
   "\"b\" is not http://HOST"},
  {"http.trusted_proxies = ['10.0.0.0/8', 'proxy']", 1, "http.trusted_proxies",
   "\"proxy\" is not ADDRESS or ADDRESS/BITS"},
  {"[[devices]]\nvariants = ['@5']", 2, "devices[0].variants", "NAME@STEPS"},
  {"[[devices]]\nvariants = ['a@0']", 2, "devices[0].variants", "NAME@STEPS"},
  {"[[devices]]\nvariants = ['a@05']", 2, "devices[0].variants", "NAME@STEPS"},
  {"[[devices]]\nvariants = ['a@5/int8']", 2, "devices[0].variants",
   "f32, f16 or bf16"},
  {"[[devices]]\nvariants = ['base@151']", 2, "devices[0].variants",
   "\"base@151\" takes more steps than limits.steps 150"},
  {"[[devices]]\nvariants = ['base@5', 'base@5']", 2, "devices[0].variants",
   "\"base@5\" occurs twice"},
  // Rules between options
  {"processes.silence_ms = 1999", 1, "processes.silence_ms",
   "processes.silence_ms 1999 is less than twice processes.heartbeat_ms 1000"},
  {"processes.heartbeat_ms = 2501", 1, "processes.heartbeat_ms",
   "less than twice"},
  {"processes.restart_first_ms = 30001", 1, "processes.restart_first_ms",
   "is above processes.restart_most_ms 30000"},
  // Syntax
  {"limits.steps = 3\nlimits.steps = 4", 2, "", "redefine"},
  {"[limits]\n[limits]", 2, "", "redefine"},
  {"\n\nlimits.steps = ", 3, "", "alue"},
  {"[limits", 1, "", ""},
  {"a.b.c.d.e.f.g.h.i = 1", 1, "", "more than 8 parts"},
};

} // namespace

BOOST_AUTO_TEST_SUITE(faults)

BOOST_DATA_TEST_CASE(bad_text_is_told_with_line_and_key,
                     boost::unit_test::data::make(bad_texts), x) {
  const auto read = parse(x.toml, "a.toml");
  BOOST_REQUIRE_EQUAL(read.faults.size(), 1);
  const auto& told = read.faults.front();
  BOOST_CHECK_EQUAL(told.source, "a.toml");
  BOOST_CHECK_EQUAL(told.line, x.line);
  BOOST_CHECK_EQUAL(told.key, x.key);
  BOOST_CHECK_MESSAGE(told.text.find(x.part) != std::string::npos, told.text);
}

BOOST_AUTO_TEST_CASE(several_faults_are_told_at_once_in_order) {
  const std::string overrides[] = {"log.level=loud"};
  const auto read = parse("[limits]\n"
                          "steps = 0\n"
                          "stpes = 3\n"
                          "[processes]\n"
                          "restart_first_ms = 40000\n"
                          "[[devices]]\n"
                          "max_batch = 99\n"
                          "[[devices]]\n",
                          "a.toml", overrides);
  std::vector<std::string> told;
  for (const auto& x : read.faults)
    told.push_back(x.source + ":" + std::to_string(x.line) + " " + x.key);
  const std::vector<std::string> expected = {
    "a.toml:2 limits.steps",
    "a.toml:3 limits.stpes",
    "--set:0 log.level",
    "a.toml:5 processes.restart_first_ms",
    "a.toml:7 devices[0].max_batch",
    "a.toml:8 devices[1].name",
  };
  BOOST_CHECK_EQUAL_COLLECTIONS(told.begin(), told.end(), expected.begin(),
                                expected.end());
}

BOOST_AUTO_TEST_CASE(rules_do_not_judge_values_that_were_refused) {
  // With the default seats in place of -1, 20 rows would be too many.
  const auto read = parse("[[devices]]\nmax_batch = 20\nseats = -1", "a.toml");
  BOOST_REQUIRE_EQUAL(read.faults.size(), 1);
  BOOST_CHECK_EQUAL(read.faults[0].key, "devices[0].seats");
}

BOOST_AUTO_TEST_CASE(fault_reads_as_one_line) {
  const auto read = parse("\nlimits.steps = 0", "a.toml");
  BOOST_REQUIRE_EQUAL(read.faults.size(), 1);
  BOOST_CHECK_EQUAL(to_string(read.faults[0]),
                    "a.toml:2: limits.steps: 0 is not a whole number in "
                    "1..10000");
}

BOOST_AUTO_TEST_CASE(error_holds_a_line_for_each_fault) {
  const auto read = parse("limits.steps = 0\nlog.level = ''", "a.toml");
  const auto what = to_error(read.faults);
  BOOST_CHECK(what.code == core::ec::bad_config);
  BOOST_CHECK_EQUAL(std::count(what.text.begin(), what.text.end(), '\n'), 1);
}

BOOST_AUTO_TEST_CASE(endless_faults_are_cut) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "key_" + std::to_string(i) + " = 1\n";
  const auto read = parse(text, "a.toml");
  BOOST_CHECK_EQUAL(read.faults.size(), 101);
  BOOST_CHECK_EQUAL(read.faults.back().text, "more faults follow, not shown");
}

BOOST_AUTO_TEST_CASE(executors_of_a_host_are_known_where_they_are_told) {
  const std::vector<std::string> own{"paint"};
  const std::string toml = "[[devices]]\nexecutor = 'paint'\n"
                           "variants = ['studio@4']\n";
  const auto known = parse(toml, "a.toml", {}, own);
  BOOST_TEST_REQUIRE(known.operator bool());
  BOOST_TEST(known.values.devices[0].executor == "paint");
  BOOST_TEST(parse(to_toml(known.values), "b.toml", {}, own).operator bool());
  BOOST_TEST(
    to_string(parse(toml, "a.toml").faults.at(0))
    == "a.toml:2: devices[0].executor: the text \"paint\" is not one of "
       "\"auto\", \"test_card\", \"torch\"");
  const std::vector<std::string> set{"devices[0].executor=print"};
  BOOST_TEST(to_string(parse({}, "a.toml", set, own).faults.at(0))
             == "--set: devices[0].executor: the text \"print\" is not one of "
                "\"auto\", \"test_card\", \"torch\", \"paint\"");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::config
