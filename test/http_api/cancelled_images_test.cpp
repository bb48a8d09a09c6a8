// SPDX-License-Identifier: Apache-2.0

// Cancelling single images of a job: its effect on the job, its routes, and
// waiting clients.

#include "support/api_rig.hpp"
#include <atelier/runtime/http/job_routes.hpp>
#include <atelier/runtime/http/openai_routes.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::runtime::http;
using namespace std::chrono_literals;
using nlohmann::json;
using test::fake_images;
using test::job_rig;
using texts = std::vector<std::string>;
using indices = std::vector<uint32_t>;

namespace {

struct rig : test::api_rig {
  rig() {
    add_job_routes(routes, all, context());
    add_openai_routes(routes, all, context());
  }

  std::string submit(int n) {
    const auto got = post_json("/v1/jobs", json{{"prompt", "p"}, {"n", n}});
    BOOST_TEST_REQUIRE(got->status() == 202u);
    return got->body()["id"];
  }

  exchange_ptr cancel(const std::string& id, const std::string& index) {
    return post("/v1/jobs/" + id + "/images/" + index + "/cancel", "");
  }
};

/// Returns the name of a job of n images that it keeps.
std::string enter(job_rig& in, uint32_t n, job_listener news = {}) {
  auto wish = in.wish(n);
  wish.keeps = true;
  return in.enter(wish, std::move(news)).id;
}

} // namespace

BOOST_AUTO_TEST_SUITE(cancelled_images_test)

BOOST_AUTO_TEST_CASE(one_image_is_cancelled_and_the_others_are_drawn) {
  job_rig rig;
  texts heard;
  const auto id = enter(rig, 3, rig.note(heard));
  BOOST_TEST((rig.all->cancel_image(id, 1) == jobs::cancelled::yes));
  BOOST_TEST(!rig.images->at(1).cancelled);
  BOOST_TEST(rig.images->at(2).cancelled);
  BOOST_TEST(!rig.images->at(3).cancelled);
  auto v = rig.all->find(id);
  BOOST_TEST((v->state == job_state::queued));
  BOOST_TEST((v->cancelled_images == indices{1}));

  rig.images->finish(1);
  // The engine answers a cancelled request with a failure, or with its image if
  // the cancellation came too late.
  rig.images->fail(2, "cancelled");
  BOOST_TEST((rig.all->find(id)->state == job_state::running));
  rig.images->finish(3);
  v = rig.all->find(id);
  // Only a completed job has all its images.
  BOOST_TEST((v->state == job_state::cancelled));
  BOOST_TEST(v->why.code == "cancelled");
  BOOST_TEST(v->why.text == "image 1 of job " + id + " was cancelled");
  BOOST_TEST((v->cancelled_images == indices{1}));
  BOOST_TEST(v->images_done == 2u);
  BOOST_TEST((v->results[1] == nullptr));
  BOOST_TEST(rig.all->open() == 0u);
  BOOST_TEST(
    (heard
     == texts{"progressed 0/0", "imaged 0", "imaged 2", "ended cancelled"}));
}

BOOST_AUTO_TEST_CASE(an_image_that_is_drawn_all_the_same_is_not_kept) {
  job_rig rig;
  const auto id = enter(rig, 2);
  rig.all->cancel_image(id, 0);
  rig.images->step(1, 8, 8, fake_images::grey_preview(8));
  rig.images->finish(1);
  const auto v = rig.all->find(id);
  BOOST_TEST((v->state == job_state::queued));
  BOOST_TEST(v->images_done == 0u);
  BOOST_TEST((v->seen == nullptr));
}

BOOST_AUTO_TEST_CASE(what_has_finished_or_is_unknown_is_not_cancelled) {
  job_rig rig;
  const auto id = enter(rig, 3);
  rig.images->finish(1);
  BOOST_TEST((rig.all->cancel_image(id, 0) == jobs::cancelled::ended));
  BOOST_TEST((rig.all->cancel_image(id, 1) == jobs::cancelled::yes));
  BOOST_TEST((rig.all->cancel_image(id, 1) == jobs::cancelled::ended));
  BOOST_TEST((rig.all->cancel_image(id, 3) == jobs::cancelled::unknown));
  BOOST_TEST((rig.all->cancel_image("job_x", 0) == jobs::cancelled::unknown));
  rig.images->fail(3, "poison");
  BOOST_TEST((rig.all->cancel_image(id, 2) == jobs::cancelled::ended));
  // The first failure ends a job, whatever was cancelled before.
  const auto v = rig.all->find(id);
  BOOST_TEST((v->state == job_state::failed));
  BOOST_TEST(v->why.code == "poison");
  BOOST_TEST((v->cancelled_images == indices{1}));
}

BOOST_AUTO_TEST_CASE(a_job_ends_with_its_last_image_that_is_cancelled) {
  job_rig rig;
  texts heard;
  const auto id = enter(rig, 2, rig.note(heard));
  rig.images->answers_cancel = true;
  BOOST_TEST((rig.all->cancel_image(id, 1) == jobs::cancelled::yes));
  BOOST_TEST(rig.all->open() == 1u);
  BOOST_TEST((rig.all->cancel_image(id, 0) == jobs::cancelled::yes));
  BOOST_TEST(rig.all->open() == 0u);
  const auto v = rig.all->find(id);
  BOOST_TEST((v->state == job_state::cancelled));
  BOOST_TEST(v->why.text == "images 0, 1 of job " + id + " were cancelled");
  BOOST_TEST((heard == texts{"progressed 0/0", "ended cancelled"}));
  BOOST_TEST((rig.all->cancel(id) == jobs::cancelled::ended));
}

BOOST_AUTO_TEST_CASE(a_job_may_be_cancelled_after_one_of_its_images) {
  job_rig rig;
  const auto id = enter(rig, 3);
  rig.all->cancel_image(id, 1);
  rig.images->finish(1);
  BOOST_TEST((rig.all->cancel(id) == jobs::cancelled::yes));
  BOOST_TEST(rig.images->at(3).cancelled);
  const auto v = rig.all->find(id);
  BOOST_TEST((v->state == job_state::cancelled));
  BOOST_TEST((v->cancelled_images == indices{1}));
  BOOST_TEST(v->images_done == 1u);
}

BOOST_AUTO_TEST_CASE(of_a_cancelled_image_only_the_steps_that_ran_count) {
  job_rig rig;
  const auto id = enter(rig, 2);
  rig.images->step(1, 2, 8, fake_images::grey_preview(2));
  rig.images->step(2, 3, 8);
  BOOST_TEST(rig.all->find(id)->steps == 16u);
  BOOST_TEST((rig.all->find(id)->image_steps == indices{2, 3}));
  BOOST_TEST(rig.all->find(id)->steps_per_image == 8u);
  BOOST_TEST((rig.all->find(id)->seen != nullptr));
  rig.all->cancel_image(id, 0);
  auto v = rig.all->find(id);
  BOOST_TEST(v->steps == 10u);
  BOOST_TEST(v->steps_done == 5u);
  // Its preview shows an image that is no longer wanted.
  BOOST_TEST((v->seen == nullptr));
  rig.images->step(1, 4, 8);
  BOOST_TEST(rig.all->find(id)->steps_done == 5u);
  rig.images->finish(2);
  v = rig.all->find(id);
  BOOST_TEST(v->steps_done == 10u);
  BOOST_TEST(v->steps == 10u);
}

BOOST_AUTO_TEST_CASE(images_are_cancelled_while_their_job_is_handed_in) {
  job_rig rig;
  texts heard;
  auto what = rig.wish(4);
  what.id = "x";
  rig.images->on_submit = [&](uint64_t request) {
    // The engine has the second request, but its number is not known yet. The
    // third was not submitted.
    if (request == 2)
      for (const uint32_t index : {1u, 2u})
        BOOST_TEST((rig.all->cancel_image("x", index) == jobs::cancelled::yes));
  };
  const auto v = rig.enter(what, rig.note(heard));
  BOOST_TEST((v.cancelled_images == indices{1, 2}));
  BOOST_TEST_REQUIRE(rig.images->count() == 3u);
  BOOST_TEST(rig.images->at(2).cancelled);
  BOOST_TEST(rig.images->at(3).wanted.prompt == "p3");
  rig.images->finish(1);
  rig.images->finish(3);
  BOOST_TEST((heard
              == texts{"progressed 0/0", "progressed 0/0", "imaged 0",
                       "imaged 3", "ended cancelled"}));
}

BOOST_AUTO_TEST_CASE(the_route_cancels_one_image_and_returns_the_job) {
  rig r;
  const auto id = r.submit(3);
  const auto events = r.get("/v1/jobs/" + id + "/events");
  BOOST_TEST(!r.get("/v1/jobs/" + id)->body().contains("cancelled_images"));
  const auto got = r.cancel(id, "1");
  BOOST_TEST(got->status() == 200u);
  BOOST_TEST(got->body()["id"] == id);
  BOOST_TEST(got->body()["status"] == "queued");
  BOOST_TEST((got->body()["cancelled_images"] == json{1}));
  BOOST_TEST(r.images->at(2).cancelled);
  BOOST_TEST(!r.images->at(1).cancelled);
  r.images->finish(1);
  r.images->finish(3);
  const auto v = r.get("/v1/jobs/" + id)->body();
  BOOST_TEST(v["status"] == "cancelled");
  BOOST_TEST(v["error"]["code"] == "cancelled");
  BOOST_TEST(v["error"]["message"]
             == "image 1 of job " + id + " was cancelled");
  BOOST_TEST(v["pictures_done"] == 2);
  BOOST_TEST((v["cancelled_images"] == json{1}));
  BOOST_TEST_REQUIRE(v["result"]["images"].size() == 2u);
  BOOST_TEST(v["result"]["images"][1]["index"] == 2);
  BOOST_TEST(r.get("/v1/jobs/" + id + "/images/1")->status() == 404u);
  BOOST_TEST(r.get("/v1/jobs/" + id + "/images/2")->status() == 200u);
  BOOST_TEST(events->event_names() == "status,progress,image,image,cancelled");
  BOOST_TEST((events->event_data(1)["cancelled_images"] == json{1}));
  BOOST_TEST(events->event_data(1)["image_steps"].size() == 3u);
  BOOST_TEST(events->event_data(1).contains("steps_per_image"));
  BOOST_TEST(events->event_data(4)["result"]["images"].size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_route_refuses_as_that_of_the_job_does) {
  rig r;
  const auto id = r.submit(3);
  r.images->finish(1);
  BOOST_TEST(r.cancel(id, "1")->status() == 200u);
  for (const auto* index : {"0", "1"}) {
    const auto got = r.cancel(id, index);
    BOOST_TEST(got->status() == 409u);
    BOOST_TEST(got->body()["error"]["code"] == "conflict");
    BOOST_TEST(got->body()["error"]["message"]
               == std::string{"image "} + index + " of job '" + id
                    + "' has ended");
  }
  for (const auto* index : {"3", "-1", "x", "1x", "99999999999"}) {
    const auto got = r.cancel(id, index);
    BOOST_TEST(got->status() == 404u, index);
    BOOST_TEST(got->body()["error"]["message"]
               == "job '" + id + "' has no image '" + index
                    + "'; its images are 0..2");
  }
  BOOST_TEST(r.cancel("job_0", "0")->status() == 404u);
  r.key = "bob";
  BOOST_TEST(r.cancel(id, "2")->status() == 404u);
  BOOST_TEST(!r.images->at(3).cancelled);
  // An admin may cancel it.
  r.who = scope::admin;
  BOOST_TEST(r.cancel(id, "2")->status() == 200u);
  BOOST_TEST(r.images->at(3).cancelled);
  BOOST_TEST(r.cancel(id, "2")->status() == 409u);
  r.now += 2h;
  r.all->tick();
  r.all->put_away();
  r.who = scope::user;
  r.key = "ann";
  BOOST_TEST(r.cancel(id, "2")->status() == 410u);
}

BOOST_AUTO_TEST_CASE(a_client_that_waits_is_told_that_an_image_was_cancelled) {
  rig r;
  const auto call =
    r.post_json("/v1/images/generations",
                {{"prompt", "a"}, {"n", 2}, {"response_format", "b64_json"}});
  const auto name = name_of(r.all->list({}, 1).at(0));
  BOOST_TEST((r.all->cancel_image(name, 0) == jobs::cancelled::yes));
  BOOST_TEST(call->status() == 0u);
  r.images->finish(2);
  BOOST_TEST(call->status() == 499u);
  BOOST_TEST(call->body()["error"]["code"] == "cancelled");
}

BOOST_AUTO_TEST_SUITE_END()
