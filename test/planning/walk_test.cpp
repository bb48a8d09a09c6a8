// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/walk.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>

using namespace atelier;
using namespace atelier::planning;
using core::ec;

namespace {

// Returns the action in words, for tables.
std::string told(const action& a) {
  if (const auto* run = std::get_if<run_leg>(&a))
    return "run " + std::to_string(run->leg);
  if (const auto* answer = std::get_if<answer_with>(&a))
    return "answer " + std::to_string(answer->done);
  return "give up: " + std::string{to_string(std::get<give_up>(a).why)};
}

constexpr double threshold = 0.5;

plan one_threshold() {
  plan p;
  p.thresholds = {threshold};
  return p;
}

// Returns a cascade of `legs`; each leg but the last has a gate.
route cascade(uint32_t legs, bool last_has_gate = false) {
  route r;
  for (uint32_t i = 0; i < legs; ++i) {
    leg s;
    s.any_of = {core::variant_id{i}};
    if (i + 1 < legs || last_has_gate)
      s.check = gate{"judge", 0};
    r.legs.push_back(s);
  }
  return r;
}

facts after(std::vector<outcome> done,
            std::optional<uint32_t> best = std::nullopt) {
  facts f;
  f.done = std::move(done);
  f.best = best;
  return f;
}

outcome scored(uint32_t at, double score) {
  return {at, {}, ec::none, score};
}

outcome failed(uint32_t at, ec why = ec::unavailable) {
  return {at, {}, why, 0};
}

} // namespace

BOOST_AUTO_TEST_SUITE(walk_test)

BOOST_AUTO_TEST_CASE(every_way_along_a_route) {
  route from_image = cascade(2);
  from_image.legs[1].from = origin::stage_image;
  route skips = cascade(3);
  skips.legs[1].from = origin::stage_image;
  const double nan = std::numeric_limits<double>::quiet_NaN();

  const struct {
    const char* what;
    route along;
    facts known;
    const char* next;
  } table[] = {
    {"starts", cascade(1), after({}), "run 0"},
    {"starts a cascade", cascade(2), after({}), "run 0"},
    {"one stage", cascade(1), after({scored(0, 0)}), "answer 0"},
    {"one stage failed", cascade(1), after({failed(0)}),
     "give up: unavailable"},
    {"passes above", cascade(2), after({scored(0, 0.6)}, 0), "answer 0"},
    {"passes at the threshold", cascade(2), after({scored(0, 0.5)}),
     "answer 0"},
    {"goes on below", cascade(2), after({scored(0, 0.4)}, 0), "run 1"},
    {"goes on without a score", cascade(2), after({scored(0, nan)}, 0),
     "run 1"},
    {"goes on after a failure", cascade(2), after({failed(0)}), "run 1"},
    {"the last one answers", cascade(2),
     after({scored(0, 0.4), scored(1, 0)}, 0), "answer 1"},
    {"the last one failed", cascade(2), after({scored(0, 0.4), failed(1)}, 0),
     "answer 0"},
    {"the last one failed, nothing may be answered", cascade(2),
     after({scored(0, 0.4), failed(1)}), "give up: unavailable"},
    {"all failed", cascade(2), after({failed(0), failed(1, ec::poison)}),
     "give up: poison"},
    {"the last gate passes", cascade(2, true),
     after({scored(0, 0.4), scored(1, 0.7)}, 0), "answer 1"},
    {"the last gate does not pass", cascade(2, true),
     after({scored(0, 0.4), scored(1, 0.1)}, 0), "answer 0"},
    {"the last gate does not pass, no best", cascade(2, true),
     after({scored(0, 0.4), scored(1, 0.1)}), "answer 1"},
    {"best names nothing", cascade(2), after({failed(0), failed(1)}, 2),
     "give up: unavailable"},
    {"a missing image cannot go on", from_image, after({failed(0)}),
     "give up: unavailable"},
    {"an image goes on", from_image, after({scored(0, 0.1)}, 0), "run 1"},
    {"skips what needs the image", skips, after({failed(0)}), "run 2"},
    {"answers from the cache", cascade(0), after({scored(0, 0)}), "answer 0"},
    {"the cache failed", cascade(0), after({failed(0, ec::io_failed)}),
     "give up: io_failed"},
    {"nothing to run, nothing there", cascade(0), after({}),
     "give up: internal"},
    {"a stage beyond the route", cascade(1), after({scored(3, 0)}), "answer 0"},
  };

  for (const auto& row : table)
    BOOST_TEST(told(walk(row.along, row.known, one_threshold())) == row.next,
               row.what);
}

BOOST_AUTO_TEST_CASE(a_gate_without_a_threshold_lets_pass) {
  BOOST_TEST(told(walk(cascade(2), after({scored(0, -1)}), plan{}))
             == "answer 0");
}

BOOST_AUTO_TEST_CASE(a_cascade_ends_whatever_happens) {
  // Each leg passes, does not pass, or fails.
  for (uint32_t legs = 1; legs <= 4; ++legs)
    for (uint32_t code = 0; code < 81; ++code) {
      const route along = cascade(legs, code % 2 == 0);
      facts known;
      uint32_t left = code;
      action next = walk(along, known, one_threshold());
      for (; std::holds_alternative<run_leg>(next); left /= 3) {
        const uint32_t at = std::get<run_leg>(next).leg;
        BOOST_REQUIRE(at == known.done.size());
        BOOST_REQUIRE(at < legs);
        if (left % 3 == 2) {
          known.done.push_back(failed(at));
        } else {
          known.best = at;
          known.done.push_back(scored(at, left % 3 == 0 ? 0.9 : 0.1));
        }
        next = walk(along, known, one_threshold());
      }
      if (const auto* answer = std::get_if<answer_with>(&next))
        BOOST_TEST((known.done.at(answer->done).failure == ec::none));
      else
        BOOST_TEST(!known.best.has_value());
    }
}

BOOST_AUTO_TEST_CASE(late_requests_are_dropped_or_answered) {
  for (const auto late : {late_rule::drop, late_rule::answer_best})
    for (const auto best :
         {std::optional<uint32_t>{}, std::optional<uint32_t>{0},
          std::optional<uint32_t>{1}}) {
      route along = cascade(2);
      along.late = late;
      const bool answers = late == late_rule::answer_best && best == 0u;
      BOOST_TEST(told(walk_late(along, after({scored(0, 0.1)}, best)))
                 == (answers ? "answer 0" : "give up: deadline_missed"));
    }
  BOOST_TEST(told(walk_late(cascade(0), {})) == "give up: deadline_missed");
}

BOOST_AUTO_TEST_SUITE_END()
