// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/hosting.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::death;
using actors::hosting;
using actors::role;
using actors::worker;

constexpr core::variant_id light{0};
constexpr core::variant_id heavy{1};
constexpr ipc::process_life life{core::process_id{1}, core::incarnation{1}};
constexpr core::ticket some_row{core::request_id{1}, 1};

std::shared_ptr<const planning::profile> known() {
  planning::profile p;
  for (const auto* name : {"light", "heavy"}) {
    planning::variant_profile v;
    v.name = name;
    v.load = 2s;
    p.variants.push_back(v);
  }
  return std::make_shared<const planning::profile>(p);
}

planning::assignment hosts(std::vector<core::variant_id> what) {
  planning::assignment x;
  x.hosting = std::move(what);
  x.batch = 2;
  return x;
}

gpu::load_failure fails(core::variant_id v,
                        core::ec why = core::ec::bad_payload) {
  return {v, core::fail(why, "broken")};
}

struct rig {
  hosting sut{known(), std::nullopt};
  core::time_point now{1h};

  worker device(bool beside = false) {
    actors::worker_ready x;
    x.worker = {life, role::denoise_step, 0};
    x.device = "cpu";
    x.seats = 4;
    x.max_batch = 4;
    x.variants = {"light"};
    x.loads_beside = beside;
    return {core::worker_id{1}, x, *known(), now};
  }

  /// The worker answers its last order.
  hosting::change answer(worker& w,
                         std::vector<gpu::load_failure> failed = {}) {
    actors::adopted x;
    x.number = w.host.last_order();
    x.failed = std::move(failed);
    return sut.adopted(w, x, now).value_or(hosting::change{});
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(hosting_test, rig)

BOOST_AUTO_TEST_CASE(an_idle_worker_loads_at_once_and_takes_no_rows_meanwhile) {
  auto w = device();
  const auto began = sut.apply(w, hosts({heavy}), {}, now);
  BOOST_TEST_REQUIRE(began.orders.size() == 1u);
  BOOST_TEST((began.orders[0].hosting == std::vector{heavy}));
  BOOST_TEST(began.orders[0].batch == 2u);
  BOOST_TEST(began.loads == 1u);
  BOOST_TEST(began.rehome);
  BOOST_TEST(!w.host.takes_rows());
  BOOST_TEST(!w.host.hosts(light));
  BOOST_TEST(w.host.will_host(heavy));
  now += 3s;
  const auto done = answer(w);
  BOOST_TEST(done.report);
  BOOST_TEST(w.host.takes_rows());
  BOOST_TEST(w.host.hosts(heavy));
  BOOST_TEST(w.host.serves(planning::queue_of(heavy)));
  BOOST_TEST_REQUIRE(done.loaded.has_value());
  BOOST_TEST((done.loaded->first == heavy));
  BOOST_TEST((done.loaded->second == 3s));
}

BOOST_AUTO_TEST_CASE(a_busy_worker_loads_when_its_last_row_ended) {
  auto w = device();
  w.seat.sit(some_row, 1);
  BOOST_TEST(sut.apply(w, hosts({heavy}), {}, now).orders.empty());
  BOOST_TEST(!w.host.takes_rows());
  BOOST_TEST(sut.row_ended(w, now).orders.empty());
  w.seat.stand_up(some_row, 1);
  BOOST_TEST(sut.row_ended(w, now).orders.size() == 1u);
  // It loads once.
  BOOST_TEST(sut.row_ended(w, now).orders.empty());
}

BOOST_AUTO_TEST_CASE(a_load_beside_rows_keeps_what_they_run) {
  auto w = device(true);
  w.seat.sit(some_row, 1);
  const std::vector running{light};
  const auto began = sut.apply(w, hosts({heavy}), running, now);
  BOOST_TEST_REQUIRE(began.orders.size() == 1u);
  BOOST_TEST((began.orders[0].keep == std::vector{light}));
  BOOST_TEST(!began.rehome);
  BOOST_TEST(w.host.takes_rows());
  BOOST_TEST(w.host.hosts(light));
  const auto done = answer(w);
  BOOST_TEST(done.loads == 1u);
  BOOST_TEST(done.rehome);
  BOOST_TEST(w.host.hosts(heavy));
  BOOST_TEST(!w.host.hosts(light));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_beside_rows_is_loaded_without_them) {
  auto w = device(true);
  w.seat.sit(some_row, 1);
  sut.apply(w, hosts({heavy}), {}, now);
  const auto done = answer(w, {fails(heavy, core::ec::out_of_resources)});
  BOOST_TEST(done.loads == 0u);
  BOOST_TEST(done.orders.empty());
  BOOST_TEST(!w.host.takes_rows());
  BOOST_TEST(sut.failures_at(w).empty());
  w.seat.stand_up(some_row, 1);
  BOOST_TEST(sut.row_ended(w, now).orders.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_variant_that_failed_pauses_and_is_tried_again_last) {
  auto w = device();
  sut.apply(w, hosts({light, heavy}), {}, now);
  const auto done = answer(w, {fails(heavy)});
  BOOST_TEST(done.report);
  BOOST_TEST((w.host.unloadable() == std::vector{heavy}));
  BOOST_TEST(sut.waits());
  BOOST_TEST(sut.retried_at(heavy).has_value());
  BOOST_TEST(sut.why_not_loaded(heavy).text.find("broken")
             != std::string::npos);
  // The plan still names it: it is left out until its pause is over.
  BOOST_TEST(sut.apply(w, hosts({light, heavy}), {}, now).orders.empty());
  now += actors::least_load_pause;
  BOOST_TEST(sut.retries(now).size() == 1u);
  hosting::change shown;
  BOOST_TEST(sut.retry(w, shown));
  BOOST_TEST(shown.members);
  BOOST_TEST(sut.apply(w, hosts({light, heavy}), {}, now).orders.size() == 1u);
  BOOST_TEST(answer(w).report);
  BOOST_TEST(sut.failures_at(w).empty());
}

BOOST_AUTO_TEST_CASE(a_death_while_one_variant_loads_is_its_failure) {
  auto w = device();
  sut.apply(w, hosts({heavy}), {}, now);
  BOOST_TEST(hosting::blames_load(w, death::crash));
  BOOST_TEST(!hosting::blames_load(w, death::outside));
  sut.died(w, death::outside, now);
  BOOST_TEST(sut.failures_at(w).empty());
  sut.died(w, death::crash, now);
  BOOST_TEST_REQUIRE(sut.failures_at(w).size() == 1u);
  BOOST_TEST((sut.failures_at(w)[0].variant == heavy));
}

BOOST_AUTO_TEST_CASE(variants_that_leave_are_unloaded_when_nothing_loads) {
  auto w = device();
  sut.apply(w, hosts({light, heavy}), {}, now);
  answer(w);
  auto x = hosts({light});
  x.leaving = {heavy};
  w.seat.sit(some_row, 1);
  const auto told = sut.apply(w, x, {}, now);
  BOOST_TEST(!w.host.hosts(heavy));
  BOOST_TEST(told.rehome);
  BOOST_TEST_REQUIRE(told.orders.size() == 1u);
  BOOST_TEST((told.orders[0].leaving == std::vector{heavy}));
}

BOOST_AUTO_TEST_CASE(new_batch_settings_are_told_and_numbered) {
  auto w = device();
  auto x = hosts({light});
  x.batch = 9;
  const auto told = sut.apply(w, x, {}, now);
  // The batch stays within the worker's bound, so that nothing changed.
  BOOST_TEST(told.orders.empty());
  x.batch = 3;
  const auto first = sut.apply(w, x, {}, now);
  BOOST_TEST_REQUIRE(first.orders.size() == 1u);
  BOOST_TEST(first.orders[0].hosting.empty());
  BOOST_TEST(first.orders[0].batch == 3u);
  BOOST_TEST(first.orders[0].number == 1u);
  BOOST_TEST(sut.apply(w, x, {}, now).orders.empty());
}

BOOST_AUTO_TEST_CASE(an_answer_that_loads_nothing_changes_nothing) {
  auto w = device();
  actors::adopted x;
  BOOST_TEST(!sut.adopted(w, x, now).has_value());
}

BOOST_AUTO_TEST_CASE(
  a_batch_that_joins_as_a_whole_takes_rows_while_it_is_filled) {
  auto w = device();
  auto x = hosts({light});
  x.join = planning::joining::whole_batch;
  sut.apply(w, x, {}, now);
  w.batch.fill();
  w.seat.sit(some_row, 1);
  BOOST_TEST(w.takes_more());
  w.batch.end_filling();
  BOOST_TEST(!w.takes_more());
  w.seat.stand_up(some_row, 1);
  // A single row is its batch.
  x.join = planning::joining::single;
  sut.apply(w, x, {}, now);
  w.batch.fill();
  BOOST_TEST(w.takes_more());
  w.seat.sit(some_row, 1);
  BOOST_TEST(!w.takes_more());
}

BOOST_AUTO_TEST_CASE(a_missing_host_is_sought_once_for_each_change) {
  const auto queue = planning::queue_of(heavy);
  BOOST_TEST(sut.begin_search(queue));
  BOOST_TEST(!sut.begin_search(queue));
  BOOST_TEST(!sut.take_change());
  sut.changed();
  BOOST_TEST(sut.take_change());
  BOOST_TEST(!sut.take_change());
  BOOST_TEST(sut.begin_search(queue));
}

BOOST_AUTO_TEST_CASE(planners_are_told_of_what_is_new) {
  BOOST_TEST(!sut.tell(3, true).has_value());
  sut.missing(heavy);
  const auto news = sut.tell(3, true);
  BOOST_TEST_REQUIRE(news.has_value());
  BOOST_TEST((*news == std::vector{heavy}));
  // The last report had the same number of waiting requests.
  sut.crowded();
  BOOST_TEST(!sut.tell(3, true).has_value());
  sut.crowded();
  const auto crowd = sut.tell(4, true);
  BOOST_TEST_REQUIRE(crowd.has_value());
  BOOST_TEST(crowd->empty());
}

BOOST_AUTO_TEST_SUITE_END()
