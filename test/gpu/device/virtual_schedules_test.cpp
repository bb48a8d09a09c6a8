// SPDX-License-Identifier: Apache-2.0
// Random schedules with interruptions, closings, hangs and kills. Wherever a
// request resumes, its image is the expected one.
#include "../rig.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/gpu/device/virtual_executor.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace atelier;
using namespace atelier::gpu;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(virtual_schedules)

namespace {

/// Plays the owner of a device that sometimes dies.
class schedule {
public:
  schedule(uint64_t seed, uint64_t index)
    : random_(seed, core::purpose::test, core::request_id{index}),
      noise_(random_.below(2) == 0 ? 0 : 0.2),
      seed_(seed ^ index) {
    revive();
    const auto requests = 1 + random_.below(6);
    for (auto id = uint64_t{1}; id <= requests; ++id) {
      auto job = rig_.job(id, static_cast<uint32_t>(1 + random_.below(12)));
      job.publish_every = static_cast<uint32_t>(random_.below(4));
      waiting_.push_back(job);
    }
  }

  void play() {
    for (auto turn = 0; turn < 5000 && !(waiting_.empty() && open_.empty());
         ++turn)
      act();
    BOOST_REQUIRE(waiting_.empty() && open_.empty());
  }

private:
  struct open_row {
    open_job job;
    uint32_t steps_done = 0;
    bool decoding = false;
  };

  void revive() {
    running_ = false;
    hung_ = false;
    device_ = std::make_unique<virtual_executor>(
      virtual_config{rig_.known, noise_, seed_}, timers_, rig_.slots);
    device_->connect({[this](run_report x) { ran(x); },
                      [this](decode_report x) { decoded(x); }});
  }

  void act() {
    switch (random_.below(12)) {
      case 0:
      case 1:
        if (!waiting_.empty()) {
          const auto job = waiting_.back();
          waiting_.pop_back();
          device_->open(job);
          open_[job.ticket] = {job};
          if (random_.below(2) == 0)
            device_->interrupt();
        }
        break;
      case 2:
      case 3:
        run();
        break;
      case 4:
        device_->interrupt();
        break;
      case 5:
        if (random_.below(8) == 0)
          kill();
        break;
      case 6:
        if (random_.below(8) == 0) {
          device_->hang();
          hung_ = true;
        } else if (hung_) {
          device_->wake();
          hung_ = false;
        }
        break;
      case 7:
        give_back();
        break;
      default:
        timers_->advance(
          core::timespan{static_cast<int64_t>(random_.below(40'000'000))});
    }
  }

  void run() {
    if (running_)
      return;
    run_job job;
    for (const auto& [who, x] : open_)
      if (!x.decoding && random_.below(3) > 0)
        job.rows.push_back(who);
    job.steps = static_cast<uint32_t>(1 + random_.below(12));
    if (job.rows.empty())
      return;
    device_->run(job);
    running_ = true;
  }

  void ran(const run_report& report) {
    BOOST_REQUIRE(running_ && !hung_);
    running_ = false;
    for (const auto& x : report.rows) {
      auto& row = open_.at(x.ticket);
      BOOST_REQUIRE_EQUAL(x.failure.text, "");
      if (row.steps_done == 0)
        row.steps_done = x.steps_done - report.steps;
      BOOST_REQUIRE_EQUAL(x.steps_done, row.steps_done + report.steps);
      row.steps_done = x.steps_done;
      const auto seq = rig_.published(row.job.state);
      BOOST_REQUIRE_EQUAL(x.published, seq > 0);
      BOOST_REQUIRE_LE(seq, x.steps_done + 1);
      if (x.steps_done == row.job.recipe.steps) {
        row.decoding = true;
        device_->decode(x.ticket);
      }
    }
  }

  void decoded(const decode_report& report) {
    BOOST_REQUIRE(!hung_);
    BOOST_REQUIRE_EQUAL(report.failure.text, "");
    const auto& job = open_.at(report.ticket).job;
    BOOST_REQUIRE(rig_.image(job) == rig_.expected(job));
    device_->close(report.ticket);
    open_.erase(report.ticket);
  }

  void kill() {
    device_->crash();
    std::map<ipc::slot_ref, uint64_t> held;
    for (const auto& [who, x] : open_) {
      held[x.job.state] = rig_.published(x.job.state);
      waiting_.push_back(rig_.again(x.job));
    }
    timers_->advance(1s);
    for (const auto& [slot, seq] : held)
      BOOST_REQUIRE_EQUAL(rig_.published(slot), seq);
    open_.clear();
    revive();
  }

  /// Cancels a row that is in no run, as a draining worker would.
  void give_back() {
    if (running_ || hung_ || open_.empty() || random_.below(4) > 0)
      return;
    const auto x = open_.begin()->second;
    if (x.decoding)
      return;
    device_->close(x.job.ticket);
    open_.erase(x.job.ticket);
    waiting_.push_back(rig_.again(x.job));
  }

  core::philox random_;
  double noise_;
  uint64_t seed_;
  test::rig rig_;
  std::shared_ptr<test::manual_timers> timers_ =
    std::make_shared<test::manual_timers>();
  std::unique_ptr<virtual_executor> device_;
  std::vector<open_job> waiting_;
  std::map<core::ticket, open_row> open_;
  bool running_ = false;
  bool hung_ = false;
};

} // namespace

BOOST_AUTO_TEST_CASE(every_schedule_ends_with_the_right_images) {
  const auto schedules = test::scaled(100'000);
  for (auto i = uint64_t{1}; i <= schedules; ++i)
    BOOST_TEST_CONTEXT("schedule " << i)
  schedule{test::seed(), i}.play();
}

BOOST_AUTO_TEST_SUITE_END()
