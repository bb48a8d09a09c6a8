// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/account.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;

struct rig {
  actors::account sut;
  core::time_point arrived{1h};

  actors::answer closed(core::timespan later = 0s) {
    actors::answer out;
    sut.close_with_image(out, arrived, arrived + later);
    return out;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(account_test, rig)

BOOST_AUTO_TEST_CASE(notes_are_kept_once_and_up_to_a_bound) {
  std::vector<core::note> many;
  for (size_t i = 0; i < 2 * core::most_notes; ++i)
    many.push_back({core::note_code::from_cache, std::to_string(i)});
  sut.note(std::vector{many[0], many[0]});
  BOOST_TEST(sut.notes().size() == 1u);
  sut.note(many);
  BOOST_TEST(sut.notes().size() == core::most_notes);
  BOOST_TEST(closed().notes.size() == core::most_notes);
  BOOST_TEST(sut.notes().empty());
}

BOOST_AUTO_TEST_CASE(notes_of_the_request_stay_as_they_came) {
  const core::note same{core::note_code::prompt_syntax, "a"};
  sut.begin({same, same});
  sut.note(std::vector{same});
  BOOST_TEST(sut.notes().size() == 2u);
}

BOOST_AUTO_TEST_CASE(every_time_is_added_to_its_own_part) {
  sut.waited(1s);
  sut.waited(2s);
  planning::need wanted;
  sut.asked(wanted, 40s);
  wanted.tolerated = true;
  sut.asked(wanted, 4s);
  wanted.hit_likely = true;
  sut.asked(wanted, 5s);
  sut.staged(core::phase::preparing, 6s);
  sut.staged(core::phase::finishing, 7s);
  actors::denoised x;
  x.text = 8s;
  x.encode = 1s;
  x.denoise = 10s;
  x.decode = 11s;
  x.first_step_ns = (arrived + 12s).time_since_epoch().count();
  sut.drew(x, arrived);
  // The first step of another leg is not the first one.
  x.first_step_ns = (arrived + 99s).time_since_epoch().count();
  x.text = x.encode = x.denoise = x.decode = 0s;
  sut.drew(x, arrived);
  const auto took = closed(100s).took;
  BOOST_TEST((took.queue == 3s));
  BOOST_TEST((took.classify == 4s));
  BOOST_TEST((took.retrieve == 5s));
  BOOST_TEST((took.preprocess == 6s));
  BOOST_TEST((took.postprocess == 7s));
  BOOST_TEST((took.text == 9s));
  BOOST_TEST((took.denoise == 10s));
  BOOST_TEST((took.decode == 11s));
  BOOST_TEST((took.first_step == 12s));
  BOOST_TEST((took.total == 100s));
}

BOOST_AUTO_TEST_CASE(only_an_answer_with_an_image_has_notes) {
  sut.note(std::vector<core::note>{{core::note_code::from_cache, "a"}});
  sut.ran(3);
  sut.ran(4);
  actors::reused_work from;
  from.entry = 9;
  sut.reused(from);
  actors::answer failed;
  sut.close(failed, arrived, arrived);
  BOOST_TEST(failed.steps_run == 7u);
  BOOST_TEST(failed.notes.empty());
  BOOST_TEST(!failed.reused.has_value());
  const auto drawn = closed();
  BOOST_TEST(drawn.steps_run == 7u);
  BOOST_TEST(drawn.notes.size() == 1u);
  BOOST_TEST_REQUIRE(drawn.reused.has_value());
  BOOST_TEST(drawn.reused->entry == 9u);
}

BOOST_AUTO_TEST_CASE(a_hit_is_counted_once) {
  BOOST_TEST(sut.note_hit());
  BOOST_TEST(!sut.note_hit());
}

BOOST_AUTO_TEST_SUITE_END()
