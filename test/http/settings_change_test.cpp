// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/load.hpp>
#include <atelier/runtime/http/settings_change.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

namespace atelier::runtime::http {

namespace {

config::settings read(const std::string& toml) {
  const auto x = config::parse(toml, "test");
  for (const auto& y : x.faults)
    BOOST_ERROR(config::to_string(y));
  return x.values;
}

} // namespace

BOOST_AUTO_TEST_SUITE(settings_change_test)

BOOST_AUTO_TEST_CASE(equal_settings_differ_in_nothing) {
  const auto x = read("[http]\nkeys = 'k'\n");
  BOOST_TEST(changes_between(x, x).empty());
}

BOOST_AUTO_TEST_CASE(each_change_is_told_with_both_values) {
  const auto got =
    changes_between({}, read("[http]\nbody_mib = 32\n[log]\nlevel = 'info'\n"));
  BOOST_REQUIRE(got.size() == 2u);
  BOOST_TEST((got[0] == setting_change{"http.body_mib", "64", "32", true}));
  BOOST_TEST(
    (got[1] == setting_change{"log.level", "\"warn\"", "\"info\"", true}));
}

BOOST_AUTO_TEST_CASE(what_a_running_server_takes_over) {
  const auto after = read(
    "[http]\norigins = ['https://a.example']\nconnections = 10\n"
    "connections_of_peer = 2\nheader_kib = 8\nbody_mib = 8\nbodies_mib = 9\n"
    "unsent_mib = 3\nreplies_mib = 4\nread_ms = 5\nidle_ms = 6\n"
    "trusted_proxies = ['10.0.0.1']\n");
  const auto got = changes_between({}, after);
  BOOST_TEST(got.size() == 11u);
  for (const auto& x : got)
    BOOST_TEST(x.applies, x.key);
  BOOST_TEST(config::to_toml(with_applied({}, after))
             == config::to_toml(after));
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_restart) {
  const config::settings before;
  const auto after =
    read("[http]\nlisten = '127.0.0.1:1'\nwithout_key = 'anywhere'\n"
         "threads = 4\njobs = 7\npictures = 3\nresults_mib = 5\n"
         "results_disk_mib = 5\nresults_s = 9\n[limits]\nsteps = 20\n");
  const auto got = changes_between(before, after);
  BOOST_TEST(got.size() == 9u);
  for (const auto& x : got)
    BOOST_TEST(!x.applies, x.key);
  BOOST_TEST(config::to_toml(with_applied(before, after))
             == config::to_toml(before));
}

BOOST_AUTO_TEST_CASE(whether_keys_and_tls_are_wanted_is_for_the_start) {
  const auto plain = read("");
  const auto both = read("[http]\nkeys = 'k'\ncertificate = 'c'\n"
                         "private_key = 'p'\n");
  const auto other = read("[http]\nkeys = 'k2'\ncertificate = 'c2'\n"
                          "private_key = 'p2'\n");
  for (const auto& [a, b] : {std::pair{plain, both}, std::pair{both, plain}}) {
    const auto got = changes_between(a, b);
    BOOST_TEST(got.size() == 3u);
    for (const auto& x : got)
      BOOST_TEST(!x.applies, x.key);
  }
  for (const auto& x : changes_between(both, other))
    BOOST_TEST(x.applies, x.key);
  BOOST_TEST(with_applied(both, other).http.keys == "k2");
}

BOOST_AUTO_TEST_CASE(tables_that_come_are_told_once) {
  const auto got = changes_between(
    read("[[devices]]\nname = 'cpu:0'\n"),
    read("[[devices]]\nname = 'cpu:0'\n[[devices]]\nname = 'cpu:1'\n"));
  BOOST_REQUIRE(got.size() == 1u);
  BOOST_TEST(
    (got[0] == setting_change{"devices", "1 tables", "2 tables", false}));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http
