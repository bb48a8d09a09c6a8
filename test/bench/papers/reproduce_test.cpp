// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/experiments.hpp>
#include <atelier/bench/papers/published_profiles.hpp>
#include <atelier/bench/papers/reproduce.hpp>
#include <atelier/simulation/simulate.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>

using namespace atelier::runtime;

namespace {

// The recorded rows and their verdicts, one line each.
using verdicts = std::map<std::string, std::string>;

// Reads lines "paper | row | verdict"; a line that begins with # is a comment.
verdicts recorded_verdicts() {
  std::ifstream in{ATELIER_REPRODUCED_VERDICTS};
  BOOST_REQUIRE_MESSAGE(in, "cannot read " ATELIER_REPRODUCED_VERDICTS);
  verdicts out;
  for (std::string line; std::getline(in, line);)
    if (const auto at = line.rfind(" | ");
        !line.starts_with('#') && at != std::string::npos)
      out[line.substr(0, at)] = line.substr(at + 3);
  return out;
}

// Runs a fifth of the requests with one seed, without published data.
std::vector<reproduced> short_rows(const std::string& which) {
  reproduction_options options;
  options.which = which;
  options.seeds = 1;
  options.length = 0.2;
  const auto rows = reproduce(options);
  BOOST_REQUIRE_MESSAGE(rows, (rows ? "" : rows.why().text));
  return *rows;
}

// Checks the fields that each row must have, whatever its verdict.
void check_form(const reproduced& r) {
  BOOST_TEST(!r.ours.empty(), r.what);
  const bool has_digits =
    std::any_of(r.reason.begin(), r.reason.end(),
                [](char c) { return c >= '0' && c <= '9'; });
  switch (r.passes) {
    case verdict::pass:
      BOOST_TEST(r.reason.empty(), r.what << ": " << r.reason);
      break;
    case verdict::fail:
      // The reason comes from the run, so it contains figures.
      BOOST_TEST((r.reason.empty() || has_digits
                  || r.reason.starts_with("equal in both figures")),
                 r.what << ": " << r.reason);
      break;
    case verdict::told:
      BOOST_TEST(
        (r.reason.empty() || r.reason.starts_with("returns its input")),
        r.what << ": " << r.reason);
      break;
    case verdict::open:
      BOOST_TEST(!r.reason.empty(), r.what);
      break;
  }
}

// Compares a paper's rows with those recorded under "<which>: ".
void check_verdicts(const std::string& which) {
  auto expected = recorded_verdicts();
  for (const auto& r : short_rows(which)) {
    check_form(r);
    const auto row = which + " | " + r.paper + " | " + r.what;
    const auto found = expected.find(row);
    const std::string before =
      found == expected.end() ? "not recorded" : found->second;
    BOOST_TEST(before == to_string(r.passes),
               row << " | " << to_string(r.passes) << " (was: " << before
                   << "); ours: " << r.ours << "; " << r.condition << "; "
                   << r.reason);
    if (found != expected.end())
      expected.erase(found);
  }
  for (const auto& [row, before] : expected)
    BOOST_TEST(!row.starts_with(which + " | "),
               row << " | " << before << " is recorded, and there is no such "
                   << "row");
}

} // namespace

BOOST_AUTO_TEST_SUITE(reproduction)

BOOST_AUTO_TEST_CASE(published_profiles_travel_with_the_program) {
  for (const char* name : {"argus-a100", "diffserve-sd-turbo", "diffserve-sdxs",
                           "diffserve-sdxl-lightning", "instgenie-flux-h800",
                           "instgenie-sdxl-h800", "modm-mi210", "nirvana-a10g"})
    BOOST_TEST(published_profile(name).starts_with("{"), name);
  BOOST_TEST(published_profile("none").empty());
}

// A change of a verdict must be recorded, and explained in
// docs/reproduction.md.
BOOST_AUTO_TEST_CASE(verdicts_of_diffserve_are_as_recorded) {
  check_verdicts("diffserve");
}

BOOST_AUTO_TEST_CASE(verdicts_of_argus_are_as_recorded) {
  check_verdicts("argus");
}

BOOST_AUTO_TEST_CASE(verdicts_of_modm_are_as_recorded) {
  check_verdicts("modm");
}

BOOST_AUTO_TEST_CASE(verdicts_of_nirvana_are_as_recorded) {
  check_verdicts("nirvana");
}

BOOST_AUTO_TEST_CASE(verdicts_of_instgenie_are_as_recorded) {
  check_verdicts("instgenie");
}

BOOST_AUTO_TEST_CASE(papers_stand_in_one_table_each) {
  const std::vector<reproduced> rows{
    {"One", "a", "-", "1", "-", verdict::pass, {}},
    {"Two", "b", "-", "2", "-", verdict::told, "returns its input: all"},
    {"One", "c", "-", "3", "-", verdict::fail, "3 is less than 4"}};
  const auto page = rows_to_markdown(rows);
  BOOST_TEST(page.find("## One\n") == page.rfind("## One\n"));
  BOOST_TEST(page.find("| c | - | 3 | - | FAIL | 3 is less than 4 |")
             < page.find("## Two\n"));
}

// Seeds may run at the same time, and each gives the same result as by itself.
BOOST_AUTO_TEST_CASE(seeds_run_as_they_do_alone) {
  reproduction_options options;
  options.seeds = 4;
  const std::function<bool(const std::string&)> nobody;
  detail::experiments e{options, nobody};
  scenario x;
  x.profile = detail::shipped("argus-a100");
  x.policy = detail::by_name("clipper-light");
  x.workers = 4;
  const auto load = [](uint64_t seed) { return detail::steady(1, 300, seed); };
  const auto together = e.run_seeds(x, "beside", load);
  BOOST_REQUIRE(together.size() == 4u);
  for (const auto& one : together) {
    x.seed = one.seed;
    x.trace = load(one.seed);
    const auto alone = simulate(x);
    BOOST_REQUIRE(alone);
    BOOST_TEST(alone->digest == one.digest);
  }
}

BOOST_AUTO_TEST_CASE(prompts_are_near_by_their_trigrams) {
  // The first line has no earlier one. An equal line gives 1; a different one
  // gives 0.
  const auto near = detail::nearest_earlier("abcd\nabcd\nxyzw\nabcx\n", 0);
  BOOST_REQUIRE(near.size() == 4u);
  BOOST_TEST(near[0] == 0.0);
  BOOST_TEST(std::abs(near[1] - 1) < 1e-12);
  BOOST_TEST(near[2] == 0.0);
  // Only abc of abc and bcx matches.
  BOOST_TEST(std::abs(near[3] - 0.5) < 1e-12);
  // The first lines only fill the cache and are not requests.
  BOOST_TEST(detail::nearest_earlier("abcd\nabcd\nab\n", 1).size() == 2u);
}

BOOST_AUTO_TEST_CASE(listed_nearness_of_prompts_is_what_is_found) {
  scenario x;
  x.profile = detail::shipped("nirvana-a10g");
  x.policy = detail::as_published("nirvana-no-predictor");
  x.workers = 8;
  x.max_batch = 1;
  x.trace = detail::steady(0.1, 1000, 1);
  // The matches allow 25 steps, none, 5 steps and none, in turn.
  x.nearest_prompts = {0.99, 0.3, 0.7, 0.2};
  const auto ran = simulate(x);
  BOOST_REQUIRE_MESSAGE(ran, (ran ? "" : ran.why().text));
  double saved = 0;
  double images = 0;
  for (const auto& i : ran->series) {
    saved += i.saved_sum;
    images += static_cast<double>(i.images);
  }
  BOOST_TEST(std::abs(saved / images - 30.0 / 200) < 0.01);
  BOOST_TEST(std::abs(saved / images - ran->saved_steps) < 1e-9);
  x.nearest_prompts = {1.5};
  BOOST_TEST(!simulate(x));
}

BOOST_AUTO_TEST_CASE(unknown_papers_missing_data_and_stops_are_told) {
  reproduction_options options;
  options.which = "proteus";
  BOOST_TEST(!reproduce(options));
  options.which = "diffserve";
  options.published = "/nowhere";
  const auto missing = reproduce(options);
  BOOST_REQUIRE(!missing);
  BOOST_TEST(missing.why().text.find("/nowhere/diffserve")
             != std::string::npos);
  options.which = "nirvana";
  const auto stopped =
    reproduce(options, [](const std::string&) { return false; });
  BOOST_REQUIRE(!stopped);
  BOOST_TEST((stopped.why().code == atelier::core::ec::cancelled));
}

BOOST_AUTO_TEST_SUITE_END()
