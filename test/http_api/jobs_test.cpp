// SPDX-License-Identifier: Apache-2.0
#include "support/job_rig.hpp"

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::runtime::http;
using namespace std::chrono_literals;
using test::fake_images;
using test::job_rig;
using texts = std::vector<std::string>;

namespace {

failure refusal_of(std::variant<job_view, failure> x) {
  BOOST_REQUIRE(std::holds_alternative<failure>(x));
  return std::get<failure>(x);
}

} // namespace

BOOST_AUTO_TEST_SUITE(jobs_test)

BOOST_AUTO_TEST_CASE(a_job_waits_then_runs_then_is_completed) {
  job_rig rig;
  texts heard;
  auto what = rig.wish(2);
  what.keeps = true;
  const auto id = rig.enter(what, rig.note(heard)).id;
  BOOST_TEST(rig.all->open() == 1u);
  auto v = rig.all->find(id);
  BOOST_TEST_REQUIRE(v.has_value());
  BOOST_TEST((v->state == job_state::queued));
  BOOST_TEST(v->queue_position == 1u);
  BOOST_TEST(!v->started.has_value());
  BOOST_TEST(v->images == 2u);

  rig.now += 5s;
  rig.images->step(1, 0, 8);
  rig.now += 1s;
  rig.images->step(1, 2, 8, fake_images::grey_preview(2));
  v = rig.all->find(id);
  BOOST_TEST((v->state == job_state::running));
  BOOST_TEST(v->queue_position == 0u);
  BOOST_TEST(v->steps_done == 2u);
  // The second request's expected work is derived from the first.
  BOOST_TEST(v->steps == 16u);
  BOOST_TEST_REQUIRE(v->remaining.has_value());
  BOOST_TEST(core::to_seconds(*v->remaining) == 7.0);
  BOOST_TEST_REQUIRE(v->seen != nullptr);
  BOOST_TEST(v->seen->step == 2u);

  rig.images->finish(1);
  rig.images->finish(2);
  v = rig.all->find(id);
  BOOST_TEST((v->state == job_state::completed));
  BOOST_TEST((*v->started - v->created == 5s));
  BOOST_TEST((*v->completed - v->created == 6s));
  BOOST_TEST(v->images_done == 2u);
  BOOST_TEST_REQUIRE(v->results.size() == 2u);
  BOOST_TEST(v->results[1]->request == 2u);
  BOOST_TEST(!v->remaining.has_value());
  BOOST_TEST(rig.all->open() == 0u);
  BOOST_TEST((heard
              == texts{"progressed 0/16", "progressed 2/16", "imaged 0",
                       "imaged 1", "ended completed"}));
}

BOOST_AUTO_TEST_CASE(what_happens_before_submit_returned_is_told_in_order) {
  job_rig rig;
  texts heard;
  rig.images->on_submit = [&](uint64_t request) {
    rig.images->step(request, 1, 1);
    rig.images->finish(request);
    BOOST_TEST(heard.empty());
  };
  rig.enter(rig.wish(2), rig.note(heard));
  BOOST_TEST((heard
              == texts{"progressed 1/2", "imaged 0", "progressed 2/2",
                       "imaged 1", "ended completed"}));
  // The job keeps nothing.
  BOOST_TEST(rig.all->list({}, 10).empty());
}

BOOST_AUTO_TEST_CASE(where_one_image_is_refused_none_is_handed_in) {
  job_rig rig;
  rig.images->refuse_after = 2;
  texts heard;
  auto what = rig.wish(3);
  what.id = "mine";
  what.keeps = true;
  rig.images->on_submit = [&](uint64_t request) {
    rig.images->step(request, 1, 2);
  };
  const auto why = refusal_of(rig.all->submit(what, rig.note(heard)));
  BOOST_TEST(why.code == "overloaded");
  BOOST_TEST((why.retry_after == 3s));
  BOOST_TEST(rig.images->at(1).cancelled);
  BOOST_TEST(rig.images->at(2).cancelled);
  BOOST_TEST(heard.empty());
  BOOST_TEST(!rig.all->find("mine").has_value());
  BOOST_TEST(!rig.all->forgotten("mine"));
  BOOST_TEST(rig.all->open() == 0u);
  // Late answers change nothing.
  rig.images->finish(1);
  BOOST_TEST(heard.empty());
}

BOOST_AUTO_TEST_CASE(the_first_failed_image_ends_its_job) {
  job_rig rig;
  texts heard;
  auto what = rig.wish(3);
  what.keeps = true;
  const auto id = rig.enter(what, rig.note(heard)).id;
  rig.images->finish(2);
  rig.images->fail(1, "deadline_missed", "late");
  BOOST_TEST(rig.images->at(3).cancelled);
  rig.images->fail(3, "cancelled");
  const auto v = rig.all->find(id);
  BOOST_TEST((v->state == job_state::failed));
  BOOST_TEST(v->why.code == "deadline_missed");
  BOOST_TEST(v->results[0] == nullptr);
  BOOST_TEST(v->results[1] != nullptr);
  BOOST_TEST((heard == texts{"imaged 1", "ended failed"}));
}

BOOST_AUTO_TEST_CASE(a_job_taken_back_ends_once) {
  job_rig rig;
  texts heard;
  auto what = rig.wish(2);
  what.keeps = true;
  const auto id = rig.enter(what, rig.note(heard)).id;
  rig.images->finish(1);
  BOOST_TEST((rig.all->cancel(id) == jobs::cancelled::yes));
  BOOST_TEST(rig.images->at(2).cancelled);
  BOOST_TEST((rig.all->cancel(id) == jobs::cancelled::ended));
  BOOST_TEST((rig.all->cancel("job_x") == jobs::cancelled::unknown));
  rig.images->finish(2);
  const auto v = rig.all->find(id);
  BOOST_TEST((v->state == job_state::cancelled));
  BOOST_TEST(v->why.code == "cancelled");
  BOOST_TEST(v->images_done == 1u);
  BOOST_TEST((heard == texts{"imaged 0", "ended cancelled"}));
}

BOOST_AUTO_TEST_CASE(one_taken_back_while_it_is_handed_in_is_taken_back_whole) {
  job_rig rig;
  texts heard;
  auto what = rig.wish(3);
  what.id = "x";
  rig.images->on_submit = [&](uint64_t request) {
    if (request == 2)
      BOOST_TEST((rig.all->cancel("x") == jobs::cancelled::yes));
  };
  const auto v = rig.enter(what, rig.note(heard));
  BOOST_TEST((v.state == job_state::cancelled));
  BOOST_TEST(rig.images->count() == 2u);
  BOOST_TEST(rig.images->at(1).cancelled);
  BOOST_TEST(rig.images->at(2).cancelled);
  BOOST_TEST((heard == texts{"ended cancelled"}));
}

BOOST_AUTO_TEST_CASE(listeners_may_call_back) {
  job_rig rig;
  texts heard;
  auto news = rig.note(heard);
  std::string id;
  news.progressed = [&](const job_view& v) {
    heard.push_back("stop");
    rig.all->cancel(v.id);
    heard.push_back("stopped");
  };
  rig.images->answers_cancel = true;
  rig.enter(rig.wish(), news);
  rig.images->step(1, 1, 2);
  BOOST_TEST((heard == texts{"stop", "stopped", "ended cancelled"}));
}

BOOST_AUTO_TEST_CASE(a_listener_that_throws_harms_nobody) {
  job_rig rig;
  texts heard;
  job_listener bad;
  bad.progressed = [](const job_view&) { throw std::runtime_error{"no"}; };
  auto what = rig.wish();
  what.id = "x";
  rig.enter(what, bad);
  BOOST_TEST(rig.all->listen("x", rig.note(heard)) != 0u);
  rig.images->step(1, 1, 2);
  rig.images->finish(1);
  BOOST_TEST((heard == texts{"progressed 1/2", "imaged 0", "ended completed"}));
}

BOOST_AUTO_TEST_CASE(listeners_come_and_leave) {
  job_rig rig;
  texts first, second, third;
  auto what = rig.wish();
  what.keeps = true;
  what.id = "x";
  rig.enter(what);
  BOOST_TEST(rig.all->listen("y", rig.note(first)) == 0u);
  const auto me = rig.all->listen("x", rig.note(first));
  rig.images->step(1, 1, 2);
  rig.all->listen("x", rig.note(second));
  rig.all->leave("x", me);
  rig.images->finish(1);
  rig.all->listen("x", rig.note(third));
  BOOST_TEST((first == texts{"progressed 1/2"}));
  BOOST_TEST((second == texts{"imaged 0", "ended completed"}));
  BOOST_TEST((third == texts{"ended completed"}));
}

BOOST_AUTO_TEST_CASE(the_same_idempotency_key_is_the_same_job) {
  job_rig rig;
  texts first, second, third;
  auto what = rig.wish();
  what.keeps = true;
  what.owner = "ann";
  what.idempotency_key = "k";
  const auto a = rig.enter(what, rig.note(first));
  const auto b = rig.enter(what, rig.note(second));
  BOOST_TEST(a.id == b.id);
  BOOST_TEST(rig.images->count() == 1u);
  auto of_bob = what;
  of_bob.owner = "bob";
  BOOST_TEST(rig.enter(of_bob).id != a.id);
  rig.images->finish(1);
  BOOST_TEST(rig.enter(what, rig.note(third)).id == a.id);
  BOOST_TEST((first == texts{"imaged 0", "ended completed"}));
  BOOST_TEST((second == first));
  BOOST_TEST((third == texts{"ended completed"}));
  // Once the first is forgotten, it is a new job.
  rig.now += 2h;
  rig.all->tick();
  rig.all->put_away();
  BOOST_TEST(rig.enter(what).id != a.id);
}

BOOST_AUTO_TEST_CASE(a_twin_of_a_refused_job_hears_of_it) {
  job_rig rig;
  texts heard;
  rig.images->refuse_after = 1;
  auto what = rig.wish(2);
  what.idempotency_key = "k";
  rig.images->on_submit = [&](uint64_t) { rig.enter(what, rig.note(heard)); };
  BOOST_TEST(refusal_of(rig.all->submit(what)).code == "overloaded");
  BOOST_TEST((heard == texts{"ended failed"}));
}

BOOST_AUTO_TEST_CASE(places_in_the_queue_follow_priority_and_age) {
  job_rig rig;
  const auto enter = [&](std::string id, std::string priority) {
    auto what = rig.wish();
    what.id = std::move(id);
    what.images[0].priority = std::move(priority);
    rig.enter(what);
  };
  enter("a", "normal");
  enter("b", "low");
  enter("c", "normal");
  enter("d", "high");
  const auto places = [&] {
    std::string all;
    for (const auto* id : {"a", "b", "c", "d"})
      all += std::to_string(rig.all->find(id)->queue_position);
    return all;
  };
  BOOST_TEST(places() == "2431");
  rig.images->step(4, 0, 8);
  BOOST_TEST(places() == "1320");
  rig.all->cancel("a");
  BOOST_TEST(rig.all->find("c")->queue_position == 1u);
  BOOST_TEST(rig.all->find("b")->queue_position == 2u);
}

BOOST_AUTO_TEST_CASE(places_in_the_queue_follow_the_owners_turns) {
  job_rig rig;
  const auto enter = [&](std::string id, std::string owner) {
    auto what = rig.wish();
    what.id = std::move(id);
    what.owner = std::move(owner);
    rig.enter(what);
  };
  for (int i = 0; i < 5; ++i)
    enter("a" + std::to_string(i), "ann");
  enter("b", "ben");
  BOOST_TEST(rig.all->find({"a0", "ann"})->queue_position == 1u);
  BOOST_TEST(rig.all->find({"b", "ben"})->queue_position == 2u);
  BOOST_TEST(rig.all->find({"a4", "ann"})->queue_position == 6u);
}

BOOST_AUTO_TEST_CASE(faulty_names_and_counts_are_refused) {
  job_rig rig{{10, 2, 1000, 1h}};
  const auto refused = [&](job_request x) {
    const auto why = refusal_of(rig.all->submit(std::move(x)));
    BOOST_TEST(why.code == "invalid_argument");
    return why.text;
  };
  BOOST_TEST(refused(rig.wish(0)) == "n 0 is outside 1..2");
  BOOST_TEST(refused(rig.wish(3)) == "n 3 is outside 1..2");
  for (const auto& id :
       {std::string{"a b"}, std::string{"a/b"}, std::string{"job_1"},
        std::string(129, 'a'), std::string{"\xc3\xa4"}}) {
    auto what = rig.wish();
    what.id = id;
    refused(what);
  }
  auto what = rig.wish();
  what.id = "task(abc)-1._";
  rig.enter(what);
  BOOST_TEST(refused(what) == "id 'task(abc)-1._' is taken");
  BOOST_TEST(rig.images->count() == 1u);
}

BOOST_AUTO_TEST_CASE(made_names_are_of_all_random_bits) {
  job_rig rig;
  rig.drawn = 0xfedcba9876543210;
  const auto id = rig.enter(rig.wish()).id;
  BOOST_TEST(id == "job_fedcba9876543211fedcba9876543212");
}

BOOST_AUTO_TEST_CASE(a_key_that_opens_all_jobs_does_not_shut_out_others) {
  job_rig rig{{4, 64, 1 << 20, 1h}};
  const auto enter = [&](const char* owner) {
    auto what = rig.wish();
    what.owner = owner;
    const auto got = rig.all->submit(std::move(what));
    const auto* const why = std::get_if<failure>(&got);
    BOOST_TEST((why == nullptr || why->code == "overloaded"));
    return why == nullptr;
  };
  for (int i = 0; i < 4; ++i)
    BOOST_TEST(enter("ann"));
  BOOST_TEST(!enter("ann"));
  // Each of two keys has a half.
  BOOST_TEST(enter("bob"));
  BOOST_TEST(enter("bob"));
  BOOST_TEST(!enter("bob"));
  BOOST_TEST(!enter("ann"));
  // All keys together have twice the limit.
  BOOST_TEST(enter("cid"));
  BOOST_TEST(enter("dan"));
  BOOST_TEST(!enter("eve"));
  rig.images->finish(1);
  BOOST_TEST(enter("eve"));
}

BOOST_AUTO_TEST_CASE(when_all_jobs_are_open_more_are_refused) {
  job_rig rig{{2, 64, 1 << 20, 1h}};
  auto what = rig.wish();
  what.keeps = true;
  const auto first = rig.enter(what).id;
  rig.enter(what);
  const auto why = refusal_of(rig.all->submit(what));
  BOOST_TEST(why.code == "overloaded");
  BOOST_TEST(why.retry_after.count() > 0);
  BOOST_TEST(rig.images->count() == 2u);
  // The job that ended first makes room.
  rig.images->finish(1);
  rig.enter(what);
  BOOST_TEST(!rig.all->find(first).has_value());
  BOOST_TEST(rig.all->forgotten(first));
  BOOST_TEST(rig.all->list({}, 10).size() == 2u);
}

BOOST_AUTO_TEST_CASE(kept_images_stay_within_their_bytes) {
  // Two images of 100 bytes fit, with the overhead of each.
  job_rig rig{{10, 64, 2500, 1h}};
  auto what = rig.wish();
  what.keeps = true;
  texts ids;
  for (uint64_t i = 1; i <= 3; ++i) {
    ids.push_back(rig.enter(what).id);
    rig.now += 1s;
    rig.images->finish(i);
  }
  const auto first = rig.all->find(ids[0]);
  BOOST_TEST(first->expired);
  BOOST_TEST(first->results[0] == nullptr);
  BOOST_TEST((first->state == job_state::completed));
  BOOST_TEST(!rig.all->find(ids[1])->expired);
  BOOST_TEST(!rig.all->find(ids[2])->expired);
  // An image that is too large for the whole memory is reported and then
  // dropped.
  std::shared_ptr<const generated_image> told;
  rig.images->bytes_of = [](const auto&) { return std::vector<uint8_t>(3000); };
  job_listener news;
  news.ended = [&](const job_view& v) { told = v.results[0]; };
  const auto large = rig.enter(what, news).id;
  rig.images->finish(4);
  BOOST_TEST_REQUIRE(told != nullptr);
  BOOST_TEST(told->bytes.size() == 3000u);
  BOOST_TEST(rig.all->find(large)->expired);
}

BOOST_AUTO_TEST_CASE(what_ended_is_forgotten_after_its_time) {
  job_rig rig;
  auto what = rig.wish();
  what.keeps = true;
  const auto kept = rig.enter(what).id;
  const auto running = rig.enter(what).id;
  rig.images->finish(1);
  rig.now += 59min;
  rig.all->tick();
  rig.all->put_away();
  BOOST_TEST(rig.all->find(kept).has_value());
  rig.now += 1min;
  rig.all->tick();
  rig.all->put_away();
  BOOST_TEST(!rig.all->find(kept).has_value());
  BOOST_TEST(rig.all->forgotten(kept));
  BOOST_TEST(rig.all->find(running).has_value());
  BOOST_TEST(!rig.all->forgotten(running));
}

BOOST_AUTO_TEST_CASE(only_as_many_names_are_remembered) {
  job_rig rig{{2, 64, 1 << 20, 1h}};
  for (uint64_t i = 1; i <= 3; ++i) {
    auto what = rig.wish();
    what.id = "n" + std::to_string(i);
    rig.enter(what);
    rig.images->finish(i);
  }
  BOOST_TEST(!rig.all->forgotten("n1"));
  BOOST_TEST(rig.all->forgotten("n2"));
  BOOST_TEST(rig.all->forgotten("n3"));
}

BOOST_AUTO_TEST_CASE(lists_are_of_one_owner_newest_first) {
  job_rig rig;
  const auto enter = [&](std::string id, std::string owner) {
    auto what = rig.wish();
    what.id = std::move(id);
    what.owner = std::move(owner);
    rig.enter(what);
  };
  enter("a", "ann");
  enter("b", "bob");
  enter("c", "ann");
  const auto names = [&](std::optional<std::string> owner, size_t most) {
    std::string all;
    for (const auto& v : rig.all->list(owner, most))
      all += v.id;
    return all;
  };
  BOOST_TEST(names("ann", 9) == "ca");
  BOOST_TEST(names({}, 9) == "cba");
  BOOST_TEST(names({}, 2) == "cb");
  BOOST_TEST(names("", 9).empty());
}

BOOST_AUTO_TEST_CASE(the_end_of_all_takes_back_what_is_open) {
  job_rig rig;
  texts heard;
  rig.enter(rig.wish(2), rig.note(heard));
  rig.images->finish(1);
  heard.clear();
  rig.all.reset();
  BOOST_TEST(rig.images->at(2).cancelled);
  rig.images->finish(2);
  BOOST_TEST(heard.empty());
}

BOOST_AUTO_TEST_SUITE_END()
