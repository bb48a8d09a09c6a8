// SPDX-License-Identifier: Apache-2.0
#include "actors/recorders.hpp"
#include "actors/scheduler_rig.hpp"
#include "support/deterministic_system.hpp"
#include "support/told_stage.hpp"
#include <atelier/actors/device_stage.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace atelier;
using namespace std::chrono_literals;

/// A device whose thread is the test.
struct waiting_executor : test::scripted_executor {
  void call(std::function<void()> work) override {
    if (call_throws)
      throw std::bad_alloc{};
    waiting.push_back(std::move(work));
  }

  bool call_throws = false;
  std::deque<std::function<void()>> waiting;
};

struct fixture : test::deterministic_system {
  fixture() {
    test::told_stage::script x;
    x.run = [this](const test::told_stage::work& w,
                   planning::worker_context& here)
      -> core::result<test::told_stage::done> {
      devices.emplace_back(here.device);
      began.push_back(here.now());
      before = scheduler->of<actors::stepping>().size();
      if (w.about == 13)
        throw std::runtime_error("no memory on it");
      return test::told_stage::done{w.about + 1};
    };
    stages = test::pipeline_with(
      {},
      {{test::told("soften", planning::hook::before_answer,
                   planning::if_failed::fail, {}, x, planning::place::device),
        "denoise"}});
    start(device);
  }

  void start(std::shared_ptr<gpu::executor> on) {
    actors::device_stage_config c;
    c.self = me;
    c.device = "cuda:7";
    c.stages = stages;
    c.slots = slots;
    c.scheduler = scheduler;
    c.device_executor = std::move(on);
    c.now = [] { return core::time_point{5s}; };
    sut = spawn(actors::device_stage, std::move(c));
  }

  actors::run_stage order(uint64_t id, uint64_t about) const {
    actors::run_stage x;
    x.ticket = row(id);
    x.stage = static_cast<uint16_t>(stages->find("soften").value());
    x.order = core::typed_body::of(test::told_stage::work{about});
    return x;
  }

  static core::ticket row(uint64_t id) {
    return {core::request_id{id}, 1};
  }

  // The device's thread does the first work that waits.
  void work() {
    const auto next = std::move(device->waiting.front());
    device->waiting.pop_front();
    next();
    run();
  }

  actors::stage_done reply() const {
    const auto all = scheduler->of<actors::stage_done>();
    BOOST_REQUIRE_EQUAL(all.size(), 1u);
    return all.front();
  }

  bool has(uint64_t id) {
    tell(sut, actors::ask_order{row(id)});
    return scheduler->of<actors::has_order>().back().has;
  }

  const actors::worker_address me{test::scheduler_rig::life(2),
                                  actors::role::device_stage, 3};
  std::shared_ptr<waiting_executor> device =
    std::make_shared<waiting_executor>();
  std::shared_ptr<test::recording_scheduler_port> scheduler =
    std::make_shared<test::recording_scheduler_port>();
  std::shared_ptr<ipc::heap_store> slots = std::make_shared<ipc::heap_store>(
    1u, std::array<uint32_t, 3>{1, 1, 0}, std::array<uint64_t, 3>{64, 64, 0});
  std::shared_ptr<const planning::pipeline> stages;
  actors::device_stage_actor sut;
  std::vector<std::string> devices;
  std::vector<core::time_point> began;
  /// The reports of work that began, when the stage ran.
  size_t before = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(device_stage_test, fixture)

BOOST_AUTO_TEST_CASE(it_holds_one_order_so_that_steps_wait_for_one_stage) {
  const auto ready = scheduler->of<actors::worker_ready>();
  BOOST_TEST_REQUIRE(ready.size() == 1u);
  BOOST_TEST((ready.front().worker == me));
  BOOST_TEST(ready.front().seats == 1u);
}

BOOST_AUTO_TEST_CASE(the_work_waits_for_the_thread_of_the_device) {
  tell(sut, order(1, 20));
  BOOST_TEST(devices.empty());
  BOOST_TEST(scheduler->of<actors::stepping>().empty());
  work();
  BOOST_TEST_REQUIRE(devices.size() == 1u);
  BOOST_TEST(devices.front() == "cuda:7");
  const auto got = reply();
  BOOST_TEST((got.ticket == row(1)));
  BOOST_TEST(got.stage == stages->find("soften").value());
  BOOST_TEST((got.failure.code == core::ec::none));
  BOOST_TEST((*got.outcome.as<test::told_stage::done>())->found == 21u);
  BOOST_TEST(got.began_ns == core::time_point{5s}.time_since_epoch().count());
}

BOOST_AUTO_TEST_CASE(the_work_is_reported_before_its_answer) {
  tell(sut, order(1, 20));
  work();
  const auto signs = scheduler->of<actors::stepping>();
  BOOST_TEST_REQUIRE(signs.size() == 1u);
  BOOST_TEST((signs.front().worker == me));
  BOOST_TEST((signs.front().rows == std::vector{row(1)}));
  BOOST_TEST_REQUIRE(scheduler->all.size() == 3u);
  BOOST_TEST(std::holds_alternative<actors::stepping>(scheduler->all[1]));
  BOOST_TEST(std::holds_alternative<actors::stage_done>(scheduler->all[2]));
}

BOOST_AUTO_TEST_CASE(it_has_an_order_until_it_answered_it) {
  BOOST_TEST(!has(1));
  tell(sut, order(1, 20));
  BOOST_TEST(has(1));
  BOOST_TEST(!has(2));
  work();
  BOOST_TEST(!has(1));
}

BOOST_AUTO_TEST_CASE(an_order_that_arrives_twice_is_done_once) {
  tell(sut, order(1, 20));
  tell(sut, order(1, 20));
  BOOST_TEST(device->waiting.size() == 1u);
  work();
  BOOST_TEST((reply().failure.code == core::ec::none));
}

BOOST_AUTO_TEST_CASE(what_it_throws_fails_its_order_by_name) {
  tell(sut, order(1, 13));
  work();
  const auto why = reply().failure;
  BOOST_TEST((why.code == core::ec::internal));
  BOOST_TEST(why.text == "stage 'soften' threw in run: no memory on it");
}

BOOST_AUTO_TEST_CASE(work_that_the_executor_drops_fails_its_order) {
  tell(sut, order(1, 20));
  device->waiting.clear();
  run();
  BOOST_TEST((reply().failure.code == core::ec::unavailable));
  BOOST_TEST(reply().failure.text
             == "device cuda:7 left the work of a stage "
                "out");
  BOOST_TEST(devices.empty());
  BOOST_TEST(!has(1));
}

BOOST_AUTO_TEST_CASE(an_executor_that_throws_fails_the_order_alone) {
  device->call_throws = true;
  tell(sut, order(1, 20));
  run();
  BOOST_TEST((reply().failure.code == core::ec::unavailable));
  scheduler->all.clear();
  device->call_throws = false;
  tell(sut, order(2, 20));
  work();
  BOOST_TEST((reply().failure.code == core::ec::none));
}

BOOST_AUTO_TEST_CASE(work_that_the_executor_repeats_is_done_once) {
  tell(sut, order(1, 20));
  const auto work = device->waiting.front();
  work();
  work();
  device->waiting.clear();
  run();
  BOOST_TEST((reply().failure.code == core::ec::none));
  BOOST_TEST(devices.size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_executor_without_a_way_of_its_own_runs_it_at_once) {
  scheduler->all.clear();
  start(std::make_shared<test::scripted_executor>());
  tell(sut, order(1, 20));
  BOOST_TEST((reply().failure.code == core::ec::none));
}

BOOST_AUTO_TEST_SUITE_END()
