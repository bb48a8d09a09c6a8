// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/records.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::role;
using actors::timeline_event;

constexpr core::request_id one{1};
constexpr core::variant_id second{1};

class kept_events : public actors::timeline {
public:
  void add(timeline_event what) override {
    all.push_back(std::move(what));
  }

  std::vector<timeline_event> all;
};

struct rig {
  std::shared_ptr<kept_events> drawn = std::make_shared<kept_events>();
  actors::records sut{2, drawn};
  core::time_point now{1h};

  const actors::counters& counts() const {
    return sut.counts();
  }
};

core::error error_of(core::ec code) {
  return core::fail(code, "because");
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(records_test, rig)

BOOST_AUTO_TEST_CASE(each_request_ends_once_in_the_counts) {
  for (int i = 0; i < 5; ++i)
    sut.count(&actors::counters::arrived);
  core::request x;
  x.id = one;
  sut.accepted(x);
  sut.refused(x, error_of(core::ec::overloaded), now);
  sut.answered({one, "light", 3}, now);
  sut.cancelled({one, "light", 3}, error_of(core::ec::cancelled), now);
  sut.failed({one, "light", 3}, error_of(core::ec::poison), now);
  sut.failed({one, "", 0}, error_of(core::ec::deadline_missed), now);
  BOOST_TEST(counts().arrived
             == counts().refused + counts().answered + counts().cancelled
                  + counts().failed);
  BOOST_TEST(counts().failed == 2u);
  BOOST_TEST(counts().late == 1u);
  BOOST_REQUIRE(drawn->all.size() == 6u);
  const auto& answered = drawn->all[2];
  BOOST_TEST((answered.type == timeline_event::kind::ended));
  BOOST_TEST((answered.request == one));
  BOOST_TEST(answered.texts.at(0).second == "answered");
  BOOST_TEST(answered.texts.at(1).second == "light");
  BOOST_TEST(answered.numbers.at(0).second == 3);
}

BOOST_AUTO_TEST_CASE(a_request_turned_away_is_drawn_and_counted_once) {
  core::request x;
  sut.turned_away({one, "", 0}, error_of(core::ec::overloaded), now);
  sut.refused(x, error_of(core::ec::overloaded), now);
  BOOST_TEST(counts().refused == 1u);
  BOOST_TEST(counts().failed == 0u);
}

BOOST_AUTO_TEST_CASE(nobody_looks_and_the_counts_are_the_same) {
  actors::records blind{2, nullptr};
  blind.count(&actors::counters::arrived);
  blind.answered({one, "light", 3}, now);
  blind.waited(one, core::phase::preparing, now, now + 1s);
  blind.died({role::denoise_step, 0, "cpu"}, {}, now);
  sut.count(&actors::counters::arrived);
  sut.answered({one, "light", 3}, now);
  BOOST_TEST((blind.counts() == counts()));
}

BOOST_AUTO_TEST_CASE(who_waits_is_counted_in_and_out) {
  BOOST_TEST(counts().waiting.empty());
  sut.waits(second, true);
  sut.waits(second, true);
  sut.waits(second, false);
  sut.waits_shared(second, true);
  BOOST_TEST(counts().waiting == (std::vector<uint64_t>{0, 1}),
             boost::test_tools::per_element());
  BOOST_TEST(counts().placed == (std::vector<uint64_t>{0, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(counts().waiting_shared == (std::vector<uint64_t>{0, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(checked_predictions_count_for_those_they_stand_for) {
  sut.checked({true, true, 1});
  sut.checked({true, false, 1});
  sut.checked({false, true, 16});
  sut.checked({false, false, 16});
  sut.checked({false, false, 1});
  BOOST_TEST(
    (counts().predictions == planning::prediction_tally{1, 1, 16, 17, 5}));
}

BOOST_AUTO_TEST_CASE(scores_fall_into_bins_and_failures_into_the_lowest) {
  BOOST_TEST(sut.judged(2.0) == 1.0);
  BOOST_TEST(sut.judged(0.5) == 0.5);
  BOOST_TEST(sut.judged(std::nan("")) == planning::unjudged);
  BOOST_TEST(counts().confidences.size() == 201u);
  BOOST_TEST(counts().confidences[200] == 1u);
  BOOST_TEST(counts().confidences[100] == 1u);
  BOOST_TEST(counts().confidences[0] == 1u);
  BOOST_TEST(counts().judge_failures == 1u);
}

BOOST_AUTO_TEST_CASE(the_last_retrievals_are_kept) {
  for (int i = 0; i < 70; ++i)
    sut.retrieved({static_cast<double>(i), false, now});
  BOOST_TEST(counts().retrieved == 70u);
  BOOST_TEST(counts().retrievals.size() == 64u);
  BOOST_TEST(counts().retrievals.front().seconds == 6);
}

BOOST_AUTO_TEST_CASE(hits_and_edits_are_counted_by_what_they_leave_out) {
  sut.hit(5);
  sut.hit(5);
  sut.hit(7);
  BOOST_TEST(counts().hits == 3u);
  BOOST_TEST((counts().skips
              == std::vector<std::pair<uint32_t, uint64_t>>{{5, 2}, {7, 1}}));
  sut.edit(0.1);
  sut.edit(1);
  sut.edit(2);
  BOOST_TEST(counts().edits == (std::vector<uint64_t>{1, 0, 0, 0, 0, 0, 0, 2}),
             boost::test_tools::per_element());
  const std::array<uint32_t, 2> tolerated{3, 0};
  sut.predicted(tolerated);
  BOOST_TEST(counts().predicted.at(0).at(3) == 1u);
  BOOST_TEST(counts().predicted.at(1).at(0) == 1u);
}

BOOST_AUTO_TEST_CASE(steps_are_counted_by_batch_and_drawn_on_their_device) {
  actors::stepped x;
  x.batch = 2;
  x.steps = 3;
  x.took = 300ms;
  x.opening = 100ms;
  x.ended_ns = core::timespan{now.time_since_epoch()}.count();
  const std::array<core::ticket, 2> rows{core::ticket{one, 1},
                                         core::ticket{core::request_id{2}, 1}};
  sut.ran(actors::timeline_track{role::denoise_step, 0, "cpu"}, x, rows);
  x.batch = 100;
  x.ended_ns = 0;
  sut.ran(actors::timeline_track{role::denoise_step, 0, "cpu"}, x, rows);
  BOOST_TEST(counts().batches.size() == 65u);
  BOOST_TEST(counts().batches[2] == 3u);
  BOOST_TEST(counts().batches[64] == 3u);
  BOOST_REQUIRE(drawn->all.size() == 2u);
  BOOST_TEST(drawn->all[0].name == "open");
  BOOST_TEST((drawn->all[0].from == now - 400ms));
  BOOST_TEST(drawn->all[1].name == "steps");
  BOOST_TEST((drawn->all[1].from == now - 300ms));
  BOOST_TEST((drawn->all[1].to == now));
  BOOST_TEST(drawn->all[1].rows.size() == 2u);
}

BOOST_AUTO_TEST_CASE(steps_name_no_row_that_is_only_decoded) {
  actors::stepped x;
  x.batch = 1;
  x.steps = 3;
  x.ended_ns = core::timespan{now.time_since_epoch()}.count();
  const std::array<core::ticket, 2> rows{core::ticket{one, 1},
                                         core::ticket{core::request_id{2}, 1}};
  sut.ran(actors::timeline_track{role::denoise_step, 0, "cpu"}, x, rows);
  BOOST_REQUIRE(drawn->all.size() == 1u);
  BOOST_TEST((drawn->all[0].rows == std::vector{core::request_id{2}}));
}

BOOST_AUTO_TEST_CASE(a_part_of_a_dispatch_lies_within_it) {
  actors::denoised told;
  told.text = 5s;
  told.first_step_ns = core::timespan{now.time_since_epoch()}.count();
  sut.parts_of(one, now - 1s, told, now + 1s);
  BOOST_REQUIRE(drawn->all.size() == 1u);
  BOOST_TEST(drawn->all[0].name == "text");
  BOOST_TEST((drawn->all[0].from == now - 1s));
  BOOST_TEST((drawn->all[0].to == now));
}

BOOST_AUTO_TEST_CASE(a_source_is_a_part_before_the_text) {
  actors::denoised told;
  told.text = 100ms;
  told.encode = 300ms;
  told.first_step_ns = core::timespan{now.time_since_epoch()}.count();
  sut.parts_of(one, now - 1s, told, now + 1s);
  BOOST_REQUIRE(drawn->all.size() == 2u);
  BOOST_TEST(drawn->all[1].name == "source");
  BOOST_TEST((drawn->all[1].from == now - 400ms));
  BOOST_TEST((drawn->all[1].to == now - 100ms));
}

BOOST_AUTO_TEST_CASE(a_pool_and_a_device_are_called_by_their_names) {
  actors::worker_address where;
  where.role = role::preprocess;
  where.index = 3;
  BOOST_TEST(to_string(actors::track_of(where, "")) == "preprocess 3");
  where.role = role::denoise_step;
  BOOST_TEST(actors::track_of(where, "cpu").index == 0u);
  BOOST_TEST(to_string(actors::track_of(where, "cpu")) == "cpu");
}

BOOST_AUTO_TEST_CASE(what_came_after_a_death_is_timed) {
  constexpr core::process_id device{2};
  sut.ready(device, now);
  sut.lost(device, {one}, true, now);
  sut.stepped_on(one, now + 200ms);
  sut.encoded(now + 300ms);
  const auto told = sut.recovery(now + 1s);
  BOOST_TEST((told.until_step.sum == 200ms));
  BOOST_TEST((told.until_image.sum == 300ms));
}

BOOST_AUTO_TEST_SUITE_END()
