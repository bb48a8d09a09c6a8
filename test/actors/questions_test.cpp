// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/questions.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;

constexpr core::request_id one{1};
constexpr core::request_id two{2};
constexpr size_t classify = 0;
constexpr size_t search = 2;

struct rig {
  actors::questions sut;
  core::time_point now{1h};

  static planning::need near_work() {
    planning::need out;
    out.near = true;
    return out;
  }

  void ask(core::request_id id, std::vector<size_t> stages,
           core::timespan patience = 1s) {
    sut.begin(id, near_work(), now);
    for (const auto stage : stages)
      sut.looks(id, stage, now + patience);
  }

  ~rig() {
    BOOST_TEST(sut.check() == "");
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(questions_test, rig)

BOOST_AUTO_TEST_CASE(a_question_is_open_until_every_stage_answered) {
  ask(one, {classify, search});
  BOOST_TEST(sut.is_open(one));
  BOOST_TEST(sut.any());
  BOOST_TEST(sut.answered(one, 0, classify));
  BOOST_TEST(sut.is_open(one));
  BOOST_TEST(sut.answered(one, 0, search));
  BOOST_TEST(!sut.is_open(one));
  BOOST_TEST(!sut.any());
  BOOST_TEST(!sut.late(now + 1h).has_value());
}

BOOST_AUTO_TEST_CASE(an_answer_counts_once_and_only_for_its_own_question) {
  BOOST_TEST(!sut.answered(one, 0, search));
  ask(one, {search});
  BOOST_TEST(!sut.answered(one, 1, search));
  BOOST_TEST(!sut.answered(one, 0, classify));
  BOOST_TEST(!sut.answered(two, 0, search));
  BOOST_TEST(sut.answered(one, 0, search));
  BOOST_TEST(!sut.answered(one, 0, search));
  sut.end(one, now);
  BOOST_TEST(sut.count_question(one));
  BOOST_TEST(sut.number(one) == 1u);
  ask(one, {search});
  BOOST_TEST(!sut.answered(one, 0, search));
  BOOST_TEST(sut.answered(one, 1, search));
}

BOOST_AUTO_TEST_CASE(a_question_without_stages_is_not_open) {
  ask(one, {});
  BOOST_TEST(!sut.is_open(one));
  BOOST_TEST(!sut.any());
}

BOOST_AUTO_TEST_CASE(patience_lasts_until_the_last_stage_may_answer) {
  ask(two, {classify}, 5s);
  ask(one, {classify}, 1s);
  sut.looks(one, search, now + 2s);
  BOOST_TEST(!sut.late(now + 1s).has_value());
  BOOST_TEST((sut.late(now + 2s) == one));
  BOOST_TEST(sut.answered(one, 0, search));
  BOOST_TEST((sut.late(now + 2s) == one));
  const auto over = sut.end(one, now + 2s);
  BOOST_TEST((over.late == std::vector{classify}));
  BOOST_TEST((over.took == 2s));
  BOOST_TEST((sut.late(now + 9s) == two));
}

BOOST_AUTO_TEST_CASE(the_time_of_a_search_is_its_own) {
  ask(one, {search});
  sut.found_near(one, 30ms);
  BOOST_TEST(sut.answered(one, 0, search));
  const auto over = sut.end(one, now + 80ms);
  BOOST_TEST(over.wanted.near);
  BOOST_TEST((over.took == 80ms));
  BOOST_TEST((over.search == 30ms));
  BOOST_TEST(over.late.empty());
  // The next question has not found it.
  ask(one, {search});
  BOOST_TEST(!sut.end(one, now).search.has_value());
}

BOOST_AUTO_TEST_CASE(a_policy_may_ask_a_few_times) {
  for (int i = 0; i < 4; ++i)
    BOOST_TEST(sut.count_question(one));
  BOOST_TEST(!sut.count_question(one));
  BOOST_TEST(sut.count_question(two));
}

BOOST_AUTO_TEST_CASE(a_forgotten_request_waits_for_nothing) {
  ask(one, {search});
  sut.forget(one);
  sut.forget(two);
  BOOST_TEST(!sut.any());
  BOOST_TEST(!sut.answered(one, 0, search));
  BOOST_TEST(sut.number(one) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
