// SPDX-License-Identifier: Apache-2.0
#include "actors/fact_questions.hpp"
#include "actors/parts_rig.hpp"
#include <atelier/actors/scheduler/asides.hpp>
#include <atelier/actors/scheduler/queue_ids.hpp>

#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::role;
using actors::run_stage;
using test::parts_rig;

const core::error broken = core::fail(core::ec::internal, "broken");

// A stage that looks for near work when a policy asks, as searches do.
struct rig : parts_rig {
  rig() : parts_rig(with()), sut(of, out), worker(pool(role::recall)) {
    follow([](planning::plan& x) { x.probe_every = 10s; });
  }

  static options with() {
    options o;
    o.stages = test::fact_questions::stages();
    return o;
  }

  std::vector<run_stage> probe() {
    sut.probe(accept().request, now);
    return take_sent<run_stage>();
  }

  static actors::stage_done reply(const run_stage& x, bool finds = true) {
    test::question_stage::done told;
    told.tells.near = finds;
    actors::stage_done done;
    done.ticket = x.ticket;
    done.stage = x.stage;
    done.took = 30ms;
    done.outcome = core::typed_body::of(std::move(told));
    return done;
  }

  const std::vector<planning::retrieval_sample>& samples() const {
    return of.records.counts().retrievals;
  }

  static planning::need search() {
    planning::need x;
    x.near = true;
    return x;
  }

  actors::asides sut;
  actors::worker& worker;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(asides_search_test, rig)

BOOST_AUTO_TEST_CASE(search_that_finds_is_measured_by_its_worker) {
  auto& r = accept();
  BOOST_REQUIRE(sut.ask(id_of(r), r, search(), now));
  const auto x = take_sent<run_stage>().at(0);
  BOOST_TEST(of.queues.offered(actors::recall_queue)
               .contains({worker.seat.taken(), worker.id()}));
  now += 50ms;
  BOOST_REQUIRE(sut.over(reply(x), of.orders.at(x.ticket), {}, now));
  profile->reuse.emplace();
  BOOST_REQUIRE(sut.end(id_of(r), r, now));
  BOOST_TEST_REQUIRE(samples().size() == 1u);
  BOOST_TEST(samples()[0].seconds == 0.03, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(!samples()[0].failed);
  actors::answer a;
  r.account.close(a, r.request->arrived, now);
  BOOST_TEST((a.took.retrieve == 50ms));
}

BOOST_AUTO_TEST_CASE(search_that_finds_nothing_is_measured_by_its_question) {
  auto& r = accept();
  BOOST_REQUIRE(sut.ask(id_of(r), r, search(), now));
  now += 50ms;
  BOOST_REQUIRE(sut.end(id_of(r), r, now));
  BOOST_TEST_REQUIRE(samples().size() == 1u);
  BOOST_TEST(samples()[0].seconds == 0.05, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(samples()[0].failed);
  BOOST_TEST_REQUIRE(r.course.known().near.has_value());
  BOOST_TEST(r.course.known().near->empty());
}

BOOST_AUTO_TEST_CASE(probe_begins_as_often_as_the_plan_says) {
  const auto first = probe();
  BOOST_TEST_REQUIRE(first.size() == 1u);
  BOOST_TEST(actors::probes::is_probe(first[0].ticket.id));
  const auto about = first[0].order.as<test::question_stage::work>();
  BOOST_TEST_REQUIRE(bool(about));
  BOOST_TEST((*about)->near);
  BOOST_TEST(!(*about)->tolerated);
  BOOST_TEST((first[0].left == 1s));
  BOOST_TEST(of.orders.at(first[0].ticket).side);
  now += 900ms;
  BOOST_TEST(!sut.over(reply(first[0]), of.orders.at(first[0].ticket), {}, now)
                .has_value());
  BOOST_TEST_REQUIRE(samples().size() == 1u);
  BOOST_TEST(samples()[0].seconds == 0.03, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(!samples()[0].failed);
  now += 9100ms - 1ns;
  BOOST_TEST(probe().empty());
  now += 1ns;
  BOOST_TEST(probe().size() == 1u);
}

BOOST_AUTO_TEST_CASE(probe_that_fails_or_finds_nothing_is_a_failure) {
  const auto fails = [&](bool finds, const core::error& why) {
    const auto x = probe().at(0);
    now += 70ms;
    sut.over(reply(x, finds), of.orders.at(x.ticket), why, now);
    now += 10s;
    const auto& last = samples().back();
    BOOST_TEST(last.seconds == 0.07, boost::test_tools::tolerance(1e-9));
    return last.failed;
  };
  BOOST_TEST(fails(false, {}));
  BOOST_TEST(fails(true, broken));
}

BOOST_AUTO_TEST_CASE(probe_that_is_late_ends_as_a_failure) {
  const auto first = probe();
  now += 1s - 1ns;
  probe();
  BOOST_TEST(samples().empty());
  now += 1ns;
  probe();
  BOOST_TEST_REQUIRE(samples().size() == 1u);
  BOOST_TEST(samples()[0].failed);
  BOOST_TEST(samples()[0].seconds == 1.0);
  // Its answer is none.
  sut.over(reply(first.at(0)), of.orders.at(first.at(0).ticket), {}, now);
  BOOST_TEST(samples().size() == 1u);
}

BOOST_AUTO_TEST_CASE(probe_without_a_worker_waits_for_the_next_time) {
  worker.trial.drain();
  BOOST_TEST(probe().empty());
  worker.trial.go_on();
  BOOST_TEST(probe().empty());
  now += 10s;
  BOOST_TEST(probe().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
