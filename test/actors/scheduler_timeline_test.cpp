// SPDX-License-Identifier: Apache-2.0
#include "actors/scheduler_rig.hpp"

#include <algorithm>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using actors::timeline_event;
using test::prepare;
using test::scheduler_rig;
using kind = timeline_event::kind;

struct drawing : actors::timeline {
  void add(timeline_event what) override {
    all.push_back(std::move(what));
  }

  std::vector<timeline_event> all;
};

// A rig with a CPU process, a device, and a timeline that records.
struct drawn : scheduler_rig {
  explicit drawn(options o = {}) : drawn(std::make_shared<drawing>(), o) {}

  drawn(std::shared_ptr<drawing> x, options o)
    : scheduler_rig(with(std::move(o), x)), seen(std::move(x)) {
    add_cpu();
    add_device(life(2));
  }

  static options with(options o, std::shared_ptr<drawing> x) {
    o.drawing = std::move(x);
    return o;
  }

  // Returns the names of the events on a request's track, in the order in which
  // they were drawn.
  std::vector<std::string> of(core::request_id id) const {
    std::vector<std::string> names;
    for (const auto& e : seen->all)
      if (e.request == id)
        names.emplace_back(e.name);
    return names;
  }

  // Returns the last event with that name.
  const timeline_event& last(std::string_view name) const {
    const auto at = std::find_if(seen->all.rbegin(), seen->all.rend(),
                                 [&](const auto& e) { return e.name == name; });
    BOOST_REQUIRE_MESSAGE(at != seen->all.rend(), "no " << name);
    return *at;
  }

  bool has(std::string_view name) const {
    return std::any_of(seen->all.begin(), seen->all.end(),
                       [&](const auto& e) { return e.name == name; });
  }

  std::string text(const timeline_event& e, std::string_view key) const {
    for (const auto& [k, v] : e.texts)
      if (k == key)
        return v;
    return {};
  }

  std::shared_ptr<drawing> seen;
};

using names = std::vector<std::string>;

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_timeline_test)

BOOST_AUTO_TEST_CASE(a_request_is_drawn_from_entry_to_answer) {
  drawn rig;
  const auto id = rig.submit([](core::request& x) { x.trace = "00-ab-cd-01"; });
  BOOST_REQUIRE(rig.work_off());
  const names expected{"request", "queue", "preprocess",  "queue",
                       "denoise", "queue", "postprocess", "request"};
  BOOST_TEST(rig.of(id) == expected, boost::test_tools::per_element());
  BOOST_TEST(rig.text(rig.seen->all.front(), "trace") == "00-ab-cd-01");
  BOOST_TEST((rig.seen->all.front().type == kind::accepted));
  BOOST_TEST((rig.seen->all.back().type == kind::ended));
  BOOST_TEST(rig.text(rig.seen->all.back(), "outcome") == "answered");
  BOOST_TEST(rig.text(rig.seen->all.back(), "variant") == "card@4");
}

BOOST_AUTO_TEST_CASE(spans_have_the_times_of_the_workers) {
  drawn rig;
  const auto id = rig.submit();
  const auto p = rig.take<prepare>();
  rig.now += 10ms;
  BOOST_REQUIRE(rig.store->publish(p.state, 1, 0));
  test::prepared prepared;
  prepared.who = p.who;
  prepared.took = 4ms;
  prepared.began_ns = (rig.now - 5ms).time_since_epoch().count();
  rig.on(prepared.reply());
  // The event on the request's track is as long as the dispatch.
  const auto& work = rig.last("preprocess");
  BOOST_TEST((work.request == id));
  BOOST_TEST((work.to - work.from == 10ms));
  // The event on the worker's track is as long as its work.
  const auto at =
    std::find_if(rig.seen->all.begin(), rig.seen->all.end(), [](const auto& e) {
      return e.name == "preprocess" && e.track;
    });
  BOOST_REQUIRE((at != rig.seen->all.end()));
  BOOST_TEST((at->from == rig.now - 5ms));
  BOOST_TEST((at->to == rig.now - 1ms));
  BOOST_TEST(to_string(*at->track) == "preprocess 0");
}

BOOST_AUTO_TEST_CASE(a_run_is_drawn_on_its_device_with_all_its_rows) {
  drawn rig;
  const auto a = rig.submit();
  const auto b = rig.submit();
  rig.done(rig.take<prepare>());
  rig.done(rig.take<prepare>());
  const auto first = rig.take<denoise>();
  const auto second = rig.take<denoise>();
  rig.stepping({first.ticket, second.ticket});
  rig.now += 50ms;
  actors::stepped run;
  run.worker = scheduler_rig::device_at(scheduler_rig::life(2));
  run.batch = 2;
  run.steps = 3;
  run.took = 30ms;
  run.opening = 6ms;
  run.ended_ns = rig.now.time_since_epoch().count();
  rig.on(run);
  const auto& steps = rig.last("steps");
  BOOST_TEST((steps.from == rig.now - 30ms));
  BOOST_TEST((steps.to == rig.now));
  BOOST_TEST((steps.rows == std::vector<core::request_id>{a, b}));
  BOOST_TEST(to_string(*steps.track) == "cpu");
  const auto& open = rig.last("open");
  BOOST_TEST((open.from == rig.now - 36ms));
  BOOST_TEST((open.to == rig.now - 30ms));
}

BOOST_AUTO_TEST_CASE(text_and_decoding_stand_within_their_dispatch) {
  drawn rig;
  const auto id = rig.submit();
  rig.done(rig.take<prepare>());
  const auto d = rig.take<denoise>();
  const auto sent = rig.now;
  rig.now += 100ms;
  BOOST_REQUIRE(rig.store->publish(d.image, 1, 0));
  actors::denoised told;
  told.ticket = d.ticket;
  told.steps_done = told.steps_run = 4;
  told.text = 20ms;
  told.decode = 10ms;
  // The worker's clock is ahead of the scheduler's.
  told.first_step_ns = (sent + 10ms).time_since_epoch().count();
  told.decoded_ns = (rig.now + 3ms).time_since_epoch().count();
  rig.on(told);
  const auto& text = rig.last("text");
  BOOST_TEST((text.request == id));
  BOOST_TEST((text.from == sent));
  BOOST_TEST((text.to == sent + 10ms));
  const auto& decode = rig.last("decode");
  BOOST_TEST((decode.request == id));
  BOOST_TEST((decode.to == rig.now));
}

BOOST_AUTO_TEST_CASE(a_death_and_what_goes_on_are_instants) {
  drawn rig;
  const auto id = rig.submit();
  rig.done(rig.take<prepare>());
  const auto d = rig.take<denoise>();
  rig.stepped(d, 2);
  rig.lose(scheduler_rig::life(2));
  const auto& died = rig.last("died");
  BOOST_TEST((died.type == kind::instant));
  BOOST_TEST(to_string(*died.track) == "cpu");
  BOOST_TEST((died.rows == std::vector<core::request_id>{id}));
  const auto& resumed = rig.last("resumed");
  BOOST_TEST((resumed.type == kind::instant));
  BOOST_TEST((resumed.request == id));
  BOOST_TEST((resumed.numbers.front().second == 2));
  BOOST_TEST(!rig.has("begun again"));
}

BOOST_AUTO_TEST_CASE(a_death_without_a_step_begins_again) {
  drawn rig;
  rig.submit();
  rig.lose(scheduler_rig::life(1));
  BOOST_TEST((rig.last("begun again").type == kind::instant));
  BOOST_TEST(!rig.has("resumed"));
}

BOOST_AUTO_TEST_CASE(who_leaves_at_the_end_did_not_die) {
  drawn rig;
  rig.stop();
  rig.lose(scheduler_rig::life(2));
  BOOST_TEST(!rig.has("died"));
}

BOOST_AUTO_TEST_CASE(a_cancelled_one_ends_and_its_late_reply_is_the_workers) {
  drawn rig;
  const auto id = rig.submit();
  const auto p = rig.take<prepare>();
  rig.cancel(id);
  BOOST_TEST(rig.text(rig.last("request"), "outcome") == "cancelled");
  const auto before = rig.of(id).size();
  rig.done(p);
  BOOST_TEST(rig.of(id).size() == before);
}

BOOST_AUTO_TEST_CASE(a_refusal_stands_on_no_track) {
  scheduler_rig::options o;
  o.limits.requests = 1;
  drawn rig{o};
  rig.submit();
  rig.submit([](core::request& x) { x.trace = "second"; });
  const auto& refused = rig.last("refused");
  BOOST_TEST((refused.type == kind::instant));
  BOOST_TEST(!refused.request.has_value());
  BOOST_TEST(rig.text(refused, "trace") == "second");
  BOOST_TEST(rig.text(refused, "why").find("limits.requests")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
