// SPDX-License-Identifier: Apache-2.0
// A host's own policy, in both modes.
#include <atelier/planning/policy.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>
#include <support/host_policy.hpp>

#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::eventually;
using test::mode;

namespace {

engine_options options_with(
  mode how, std::vector<std::shared_ptr<const planning::policy>> own,
  std::vector<std::string> more = {}) {
  more.insert(
    more.begin(),
    {"devices=[{name='cpu:0',executor='test_card',variants=['light@2',"
     "'heavy@4'],test_card_step_ms=1}]",
     "planner.period_s=0.2", "monitor.window_s=0.2"});
  auto options = test::options_of(how, std::move(more));
  options.extend.policies = std::move(own);
  return options;
}

generation asking(std::string prompt, uint64_t seed = 1) {
  generation x;
  x.prompt = std::move(prompt);
  x.width = x.height = 64;
  x.seed = seed;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_host_policy_test)

BOOST_DATA_TEST_CASE(its_decisions_and_its_memory_count,
                     boost::unit_test::data::make({mode::single, mode::split}),
                     how) {
  const auto own = std::make_shared<const test::turn_policy>();
  auto sut = test::start(options_with(how, {own}, {"policy.name=turns"}));
  BOOST_TEST(sut->status().policy == "turns");
  // Its memory has passed through several plans.
  BOOST_TEST(eventually([&] { return sut->status().plan_version > 3; }));
  std::vector<generation> all;
  for (uint64_t i = 0; i < 8; ++i)
    all.push_back(asking("card", i));
  for (const auto& made : test::answers_to(*sut, all))
    BOOST_TEST(test::image_in(made).variant == "heavy@4");
  BOOST_TEST(own->chosen >= all.size());
  BOOST_TEST(sut->stop(10s));
}

BOOST_DATA_TEST_CASE(what_it_throws_ends_one_decision,
                     boost::unit_test::data::make({mode::single, mode::split}),
                     how) {
  const auto own = std::make_shared<const test::turn_policy>();
  auto sut = test::start(options_with(how, {own}, {"policy.name=turns"}));
  auto refused = test::hand_in(*sut, asking("throw it away"));
  BOOST_TEST(test::code_of(test::await(refused)) == "internal");
  auto misplaced = test::hand_in(*sut, asking("misplace it"));
  BOOST_TEST(test::code_of(test::await(misplaced)) == "");
  // The plan in force stays, and answers.
  own->plans_fail = true;
  BOOST_TEST(eventually([&] { return own->plans_failed > 1; }));
  const auto version = sut->status().plan_version;
  const auto failed = own->plans_failed.load();
  BOOST_TEST(eventually([&] { return own->plans_failed > failed + 1; }));
  BOOST_TEST(sut->status().plan_version == version);
  auto drawn = test::hand_in(*sut, asking("card"));
  BOOST_TEST(test::image_in(test::await(drawn)).variant == "heavy@4");
  own->plans_fail = false;
  BOOST_TEST(eventually([&] { return sut->status().plan_version > version; }));
  BOOST_TEST(sut->status().figure("workers_lost") == 0u);
  BOOST_TEST(sut->stop(10s));
}

BOOST_DATA_TEST_CASE(an_engine_that_started_has_planned_for_its_devices,
                     boost::unit_test::data::make({mode::single, mode::split}),
                     how) {
  struct slow_policy : test::turn_policy {
    planning::plan replan(const planning::demand& asked,
                          const planning::profile& known,
                          const planning::cluster_view& there,
                          const planning::plan& previous) const override {
      auto out = turn_policy::replan(asked, known, there, previous);
      if (!there.workers.empty()) {
        // An engine that did not wait for this plan would start meanwhile.
        std::unique_lock hold{mutex};
        changed.wait_for(hold, 300ms, [&] { return started; });
        ++planned;
      }
      return out;
    }

    void note_start() const {
      const std::lock_guard hold{mutex};
      started = true;
      changed.notify_all();
    }

    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    mutable bool started = false;
    mutable uint32_t planned = 0;
  };

  const auto own = std::make_shared<const slow_policy>();
  auto sut = test::start(options_with(how, {own}, {"policy.name=turns"}));
  {
    const std::lock_guard hold{own->mutex};
    BOOST_TEST(own->planned > 0u);
  }
  own->note_start();
  BOOST_TEST(sut->stop(10s));
}

BOOST_DATA_TEST_CASE(a_plan_that_throws_ends_neither_start_nor_engine,
                     boost::unit_test::data::xrange(1u, 5u), at) {
  struct thrower : test::turn_policy {
    explicit thrower(uint32_t at) : at_(at) {}

    planning::plan replan(const planning::demand& asked,
                          const planning::profile& known,
                          const planning::cluster_view& there,
                          const planning::plan& previous) const override {
      if (++calls == at_)
        throw 7;
      return turn_policy::replan(asked, known, there, previous);
    }

    mutable std::atomic<uint32_t> calls{0};
    uint32_t at_;
  };

  const auto own = std::make_shared<const thrower>(at);
  auto started =
    engine::start(options_with(mode::single, {own}, {"policy.name=turns"}));
  if (at == 1) {
    BOOST_TEST_REQUIRE(std::holds_alternative<failure>(started));
    BOOST_TEST(std::get<failure>(started).code == "bad_config");
    return;
  }
  BOOST_TEST_REQUIRE(bool(started));
  auto& sut = started.value();
  BOOST_TEST(eventually([&] { return own->calls > at; }));
  auto drawn = test::hand_in(*sut, asking("card"));
  test::image_in(test::await(drawn));
  BOOST_TEST(sut->stop(10s));
}

BOOST_DATA_TEST_CASE(a_plan_that_blocks_holds_neither_start_nor_stop,
                     boost::unit_test::data::xrange(1u, 5u), at) {
  struct blocker : test::turn_policy {
    explicit blocker(uint32_t at) : at_(at) {}

    planning::plan replan(const planning::demand& asked,
                          const planning::profile& known,
                          const planning::cluster_view& there,
                          const planning::plan& previous) const override {
      if (++calls == at_)
        released.wait();
      return turn_policy::replan(asked, known, there, previous);
    }

    mutable std::atomic<uint32_t> calls{0};
    uint32_t at_;
    std::promise<void> release;
    std::shared_future<void> released = release.get_future().share();
  };

  const auto own = std::make_shared<blocker>(at);
  auto sut =
    test::start(options_with(mode::single, {own}, {"policy.name=turns"}));
  BOOST_TEST(eventually([&] { return own->calls == at; }));
  auto drawn = test::hand_in(*sut, asking("card"));
  test::image_in(test::await(drawn));
  // The plan does not return meanwhile.
  BOOST_TEST(sut->stop(10s));
  sut.reset();
  BOOST_TEST(own->calls == at);
  own->release.set_value();
}

BOOST_AUTO_TEST_CASE(its_code_does_not_run_inside_submit) {
  struct watcher : test::turn_policy {
    planning::choice choose(
      const planning::decision_context& by) const override {
      inside = inside || std::this_thread::get_id() == submitter;
      return turn_policy::choose(by);
    }

    mutable std::atomic<bool> inside{false};
    std::thread::id submitter = std::this_thread::get_id();
  };

  const auto own = std::make_shared<const watcher>();
  auto options = options_with(mode::single, {own}, {"policy.name=turns"});
  const auto draw = [&](uint32_t images) {
    auto sut = test::start(options);
    for (uint32_t i = 0; i < images && !own->inside; ++i) {
      BOOST_TEST_REQUIRE(test::comes_to_rest(*sut));
      auto drawn = test::hand_in(*sut, asking("card"));
      test::image_in(test::await(drawn));
    }
  };
  draw(20);
  BOOST_TEST(!own->inside);
  // It does if the host says so.
  options.caller_runs_actors = true;
  draw(1000);
  BOOST_TEST(own->inside);
}

BOOST_AUTO_TEST_CASE(built_in_ones_are_there_besides) {
  const auto own = std::make_shared<const test::turn_policy>();
  auto sut =
    test::start(options_with(mode::single, {own}, {"policy.name=vanilla"}));
  auto drawn = test::hand_in(*sut, asking("card"));
  BOOST_TEST(test::image_in(test::await(drawn)).variant == "light@2");
  BOOST_TEST(own->chosen == 0u);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_named_is_refused) {
  struct named : test::turn_policy {
    explicit named(std::string x) : called(std::move(x)) {}

    std::string_view name() const override {
      return called;
    }

    std::string called;
  };

  const auto refusal =
    [](std::vector<std::shared_ptr<const planning::policy>> own,
       const std::string& name) {
      auto started = engine::start(
        options_with(mode::single, std::move(own), {"policy.name=" + name}));
      BOOST_TEST_REQUIRE(std::holds_alternative<failure>(started));
      const auto why = std::get<failure>(started);
      BOOST_TEST(why.code == "bad_config");
      return why.text;
    };
  const auto own = std::make_shared<const test::turn_policy>();
  BOOST_TEST(refusal({std::make_shared<const named>("argus"), nullptr,
                      std::make_shared<const named>("fixed"),
                      std::make_shared<const named>(""), own, own},
                     "turns")
             == "extensions::policies[0]: policy 'argus' "
                "already exists\n"
                "extensions::policies[1]: is null\n"
                "extensions::policies[2]: policy 'fixed' "
                "already exists\n"
                "extensions::policies[3]: has no name\n"
                "extensions::policies[5]: policy 'turns' "
                "already exists");
  const auto unknown = refusal({own}, "nosuch");
  BOOST_TEST(unknown.find("\n  the host's own: turns") != std::string::npos,
             unknown);
  own->plans_fail = true;
  BOOST_TEST(refusal({own}, "turns")
             == "policy.name: 'turns' cannot make its first plan: no plan "
                "today");
}

BOOST_AUTO_TEST_SUITE_END()
