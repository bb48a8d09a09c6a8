// SPDX-License-Identifier: Apache-2.0
#include "printing.hpp"

namespace atelier::config {

namespace {

outcome with(std::vector<std::string> overrides, const char* toml = "") {
  return parse(toml, "a.toml", overrides);
}

} // namespace

BOOST_AUTO_TEST_SUITE(overrides)

BOOST_AUTO_TEST_CASE(override_wins_over_the_file_and_the_last_over_all) {
  const auto read =
    with({"limits.steps=40", "limits.steps = 50"}, "limits.steps = 30");
  BOOST_REQUIRE(is_valid(read));
  BOOST_CHECK_EQUAL(read.values.limits.steps, 50);
}

BOOST_AUTO_TEST_CASE(bare_word_is_a_text) {
  const auto read = with({"log.level=debug", "devices[0].name=cuda:3",
                          "processes.program=/opt/a b/c", "policy.name='x'"});
  BOOST_REQUIRE(is_valid(read));
  BOOST_CHECK_EQUAL(read.values.log.level, "debug");
  BOOST_CHECK_EQUAL(read.values.devices[0].name, "cuda:3");
  BOOST_CHECK_EQUAL(read.values.processes.program, "/opt/a b/c");
  BOOST_CHECK_EQUAL(read.values.policy.name, "x");
}

BOOST_AUTO_TEST_CASE(port_alone_is_an_address_to_listen_to) {
  for (const auto* const text : {"http.listen=7861", "http.listen=:7861"})
    BOOST_CHECK_MESSAGE(is_valid(with({text})), text);
  BOOST_CHECK_EQUAL(with({"http.listen=7861"}).values.http.listen, "7861");
  BOOST_CHECK(!with({"http.listen=65536"}));
  BOOST_CHECK(!with({"http.listen=-1"}));
  BOOST_CHECK(!with({"log.level=3"}));
}

BOOST_AUTO_TEST_CASE(empty_value_is_the_empty_text) {
  const auto read = with({"processes.program="}, "processes.program = 'x'");
  BOOST_REQUIRE(is_valid(read));
  BOOST_CHECK_EQUAL(read.values.processes.program, "");
}

BOOST_AUTO_TEST_CASE(both_spellings_of_an_index_reach_one_device) {
  const auto read = with({"devices[0].max_batch=4", "devices.1.max_batch=5"},
                         "[[devices]]\n[[devices]]\nname = 'cpu:1'\n");
  BOOST_REQUIRE(is_valid(read));
  BOOST_CHECK_EQUAL(read.values.devices[0].max_batch, 4);
  BOOST_CHECK_EQUAL(read.values.devices[1].max_batch, 5);
  BOOST_CHECK_EQUAL(read.values.devices[1].name, "cpu:1");
}

BOOST_AUTO_TEST_CASE(index_behind_the_last_adds_a_device) {
  const auto read =
    with({"devices[1].name=cpu:1", "devices[2]={name='cpu:2'}"});
  BOOST_REQUIRE(is_valid(read));
  BOOST_REQUIRE_EQUAL(read.values.devices.size(), 3);
  BOOST_CHECK_EQUAL(read.values.devices[2].name, "cpu:2");
}

BOOST_AUTO_TEST_CASE(whole_list_of_devices_can_be_set) {
  const auto read = with({"devices=[{name='cuda:0'},{name='cuda:1'}]"});
  BOOST_REQUIRE(is_valid(read));
  BOOST_CHECK_EQUAL(read.values.devices.size(), 2);
}

BOOST_AUTO_TEST_CASE(bad_override_is_told_with_its_key) {
  const struct {
    const char* text;
    const char* key;
    const char* part;
  } cases[] = {
    {"limits.steps", "limits.steps", "has no value"},
    {"", "", "has no value"},
    {"=3", "\"\"", "not a known key"},
    {"limits.steps=0", "limits.steps", "in 1..10000"},
    {"limits.steps=12x", "limits.steps", "the text \"12x\""},
    {"limits.steps=\"12", "limits.steps", ""},
    {"limits.steps=1\nlimits.side_px=8", "limits.steps", "more than one value"},
    {"limits.stesp=3", "limits.stesp", "did you mean limits.steps?"},
    {"limits.steps.x=3", "limits.\"steps.x\"", "not a known key"},
    {"limits=3", "limits", "3 is not a table"},
    {"devices[7].seats=3", "devices[7].seats", "\"7\" is not the index"},
    {"devices[-1].seats=3", "devices[-1].seats", "\"-1\" is not the index"},
    {"devices[].seats=3", "devices[].seats", "\"\" is not the index"},
    {"devices.x.seats=3", "devices.x.seats", "\"x\" is not the index"},
    {"devices[0]=3", "devices[0]", "3 is not a table"},
    {"devices[0].seets=3", "devices[0].seets", "devices[0].seats?"},
    {"devices[1].seats=20", "devices[1].name", "names the same device"},
    {"devices[0].max_batch=17", "devices[0].max_batch", "is above"},
    {"devices=x", "devices", "the text \"x\" is not"},
  };

  for (const auto& x : cases)
    BOOST_TEST_CONTEXT(x.text) {
      const auto read = with({x.text});
      BOOST_REQUIRE_EQUAL(read.faults.size(), 1);
      BOOST_CHECK_EQUAL(read.faults[0].source, "--set");
      BOOST_CHECK_EQUAL(read.faults[0].line, 0);
      BOOST_CHECK_EQUAL(read.faults[0].key, x.key);
      BOOST_CHECK_MESSAGE(read.faults[0].text.find(x.part) != std::string::npos,
                          read.faults[0].text);
    }
}

BOOST_AUTO_TEST_CASE(fault_names_the_source_that_caused_it) {
  const auto read = with({"devices[0].seats=2"}, "[[devices]]\nthreads = 1");
  BOOST_REQUIRE_EQUAL(read.faults.size(), 1);
  BOOST_CHECK_EQUAL(to_string(read.faults[0]),
                    "--set: devices[0].seats: devices[0].max_batch 8 is above "
                    "devices[0].seats 2");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::config
