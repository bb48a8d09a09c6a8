// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/job_queries.hpp>

#include <boost/test/unit_test.hpp>

#include <array>

using namespace std::chrono_literals;

namespace atelier::runtime::http::detail {

namespace {

using texts = std::vector<std::string>;

/// Three jobs of Ann, the oldest one running, and one of Bob.
struct rig {
  rig() {
    add("a1", "ann", "generation");
    add("a2", "ann", "edit");
    add("b3", "bob", "generation");
    add("a4", "ann", "generation");
    auto& first = *table.find(1);
    table.begin(first);
    first.known.state = job_state::running;
  }

  void add(const std::string& id, const std::string& owner,
           const std::string& kind) {
    job_request what;
    what.id = id;
    what.owner = owner;
    what.kind = kind;
    what.images.resize(1);
    table.add(new_entry(table.next_number(), what, {}));
  }

  job_queries ask() const {
    return {table, core::time_point{} + 5s};
  }

  job_table table{{}};
};

texts ids_of(const std::vector<job_view>& x) {
  texts out;
  for (const auto& one : x)
    out.push_back(one.id);
  return out;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(job_queries_test, rig)

BOOST_AUTO_TEST_CASE(jobs_are_listed_newest_first_up_to_the_limit) {
  BOOST_TEST((ids_of(ask().list("ann", 10)) == texts{"a4", "a2", "a1"}));
  BOOST_TEST((ids_of(ask().list({}, 2)) == texts{"a4", "b3"}));
  BOOST_TEST(
    (ids_of(*ask().list_after({"a4", "ann"}, {}, 2)) == texts{"b3", "a2"}));
  BOOST_TEST(
    (ids_of(*ask().list_after({"b3", "bob"}, "ann", 1)) == texts{"a2"}));
  BOOST_TEST(!ask().list_after({"b3", "ann"}, {}, 2).has_value());
}

BOOST_AUTO_TEST_CASE(running_job_is_found_before_those_that_wait) {
  const std::array<std::string_view, 1> drawn{"generation"};
  const std::array<std::string_view, 1> edits{"edit"};
  BOOST_TEST(ask().find_open("ann", drawn)->id == "a1");
  BOOST_TEST(ask().find_open("ann", edits)->id == "a2");
  BOOST_TEST(ask().find_open("bob", drawn)->id == "b3");
  BOOST_TEST(!ask().find_open("bob", edits).has_value());
}

BOOST_AUTO_TEST_CASE(view_has_the_position_and_the_pace_of_the_moment) {
  BOOST_TEST(ask().find({"a4", "ann"})->queue_position > 0u);
  auto& running = *table.find(1);
  running.last_step = running.began + 2s;
  running.rows.step(0, 1, 4);
  const auto seen = ask().find({"a1", "ann"});
  BOOST_TEST(seen->queue_position == 0u);
  // A step takes 2 s, and 3 s have gone by since the first one.
  BOOST_TEST_REQUIRE(seen->remaining.has_value());
  BOOST_TEST(core::to_seconds(*seen->remaining) == 3.0);
  BOOST_TEST(!ask().find({"a1", "bob"}).has_value());
}

BOOST_AUTO_TEST_CASE(outcome_of_a_refused_job_is_its_refusal) {
  auto& x = *table.find(2);
  BOOST_TEST(std::get<job_view>(ask().outcome(x)).id == "a2");
  x.journal.refuse({"full", "no room", {}});
  BOOST_TEST(std::get<failure>(ask().outcome(x)).code == "full");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
