// SPDX-License-Identifier: Apache-2.0

// Jobs over servers that end and start. The file is long because every case
// needs the rig that ends and starts them.

#include "support/api_rig.hpp"
#include "support/fake_journal.hpp"
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/job_routes.hpp>
#include <atelier/runtime/http/openai_routes.hpp>

#include <boost/test/unit_test.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <unistd.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>

using namespace atelier;
using namespace atelier::runtime::http;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

/// Servers one after the other, over one journal and one folder of results.
struct rig : test::api_rig {
  explicit rig(job_limits in = {}) : within(in) {
    start();
  }

  ~rig() {
    end();
    fs::remove_all(folder);
  }

  void start() {
    std::set<uint64_t> known;
    for (const auto& x : journal->there.jobs)
      if (x.end)
        known.insert(x.was.number);
    auto files = result_files::open(folder, known);
    BOOST_REQUIRE(files);
    engine = std::make_shared<test::fake_images>();
    engine->bytes_of = [](const generation& g) {
      const auto text = g.prompt + std::to_string(g.seed.value_or(0));
      return std::vector<uint8_t>(text.begin(), text.end());
    };
    images = engine;
    kept = std::make_shared<jobs>(images, within, clocks(), *files, journal);
    kept->restore(journal->there);
    routes = {};
    add_job_routes(routes, kept, context());
    add_openai_routes(routes, kept, context());
  }

  void end() {
    routes = {};
    kept.reset();
  }

  /// Acts as a kill: the server does nothing that it does at a normal end.
  void kill() {
    auto was = journal->there;
    const auto aside = folder.string() + "-aside";
    fs::copy(folder, aside);
    end();
    fs::remove_all(folder);
    fs::rename(aside, folder);
    journal = std::make_shared<test::fake_journal>();
    for (auto& x : was.jobs) {
      journal->accept(x.was, [](const auto&) {});
      for (const auto index : x.cancelled_images)
        journal->cancel_image({x.was.number, index});
      if (x.end)
        journal->end(*x.end);
    }
    journal->there.forgotten = was.forgotten;
    start();
  }

  exchange_ptr job(const json& body, fields headers = {}) {
    return post("/v1/jobs", body.dump(), std::move(headers));
  }

  std::string status_of(const std::string& id) {
    const auto got = get("/v1/jobs/" + id + "?images=none");
    return got->status() == 200 ? std::string{got->body()["status"]}
                                : std::to_string(got->status());
  }

  std::string image_of(const std::string& id, int index = 0) {
    const auto got = get("/v1/jobs/" + id + "/images/" + std::to_string(index));
    return got->status() == 200 ? got->answered->body
                                : std::to_string(got->status());
  }

  const fs::path folder =
    fs::temp_directory_path() / ("atelier-kept-" + std::to_string(getpid()));
  job_limits within;
  std::shared_ptr<test::fake_journal> journal =
    std::make_shared<test::fake_journal>();
  std::shared_ptr<test::fake_images> engine;
  std::shared_ptr<jobs> kept;
};

} // namespace

BOOST_AUTO_TEST_SUITE(jobs_journal_test)

BOOST_AUTO_TEST_CASE(a_job_is_answered_once_it_is_in_the_journal) {
  rig r;
  r.journal->holds = true;
  const auto call = r.job({{"prompt", "a"}});
  BOOST_TEST(call->status() == 0u);
  // Drawing does not wait for the disk.
  BOOST_TEST(r.engine->count() == 1u);
  r.journal->write();
  BOOST_TEST(call->status() == 202u);
  BOOST_TEST(call->body()["poll_url"]
             == "/v1/jobs/" + std::string{call->body()["id"]});
}

BOOST_AUTO_TEST_CASE(what_the_journal_does_not_take_is_refused) {
  rig r;
  r.journal->full = true;
  const auto call = r.job({{"prompt", "a"}, {"id", "mine"}});
  BOOST_TEST(call->status() == 507u);
  BOOST_TEST(call->body()["error"]["code"] == "not_journalled");
  BOOST_TEST(find_field(call->answered->headers, "Retry-After") == "10");
  BOOST_TEST(r.engine->at(1).cancelled);
  BOOST_TEST(r.status_of("mine") == "404");
  BOOST_TEST(r.kept->open() == 0u);
  // Its name is free again.
  r.journal->full = false;
  BOOST_TEST(r.job({{"prompt", "a"}, {"id", "mine"}})->status() == 202u);
}

BOOST_AUTO_TEST_CASE(nothing_is_drawn_for_a_journal_that_is_behind) {
  rig r;
  r.journal->behind = true;
  const auto call = r.job({{"prompt", "a"}, {"id", "mine"}});
  BOOST_TEST(call->status() == 507u);
  BOOST_TEST(call->body()["error"]["code"] == "not_journalled");
  BOOST_TEST(find_field(call->answered->headers, "Retry-After") == "10");
  BOOST_TEST(r.engine->count() == 0u);
  BOOST_TEST(r.status_of("mine") == "404");
  r.journal->behind = false;
  BOOST_TEST(r.job({{"prompt", "a"}, {"id", "mine"}})->status() == 202u);
}

BOOST_AUTO_TEST_CASE(a_drawn_job_counts_until_it_is_in_the_journal) {
  job_limits within;
  within.jobs = 2;
  rig r{within};
  r.journal->holds = true;
  const auto first = r.job({{"prompt", "a"}});
  const auto second = r.job({{"prompt", "b"}});
  r.engine->finish(1);
  r.engine->finish(2);
  r.now += 2h;
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.kept->open() == 0u);
  const auto refused = r.job({{"prompt", "c"}});
  BOOST_TEST(refused->body()["error"]["code"] == "overloaded");
  r.journal->write();
  BOOST_TEST(first->status() == 202u);
  BOOST_TEST(second->status() == 202u);
  r.journal->holds = false;
  BOOST_TEST(r.job({{"prompt", "c"}})->status() == 202u);
}

BOOST_AUTO_TEST_CASE(what_was_drawn_meanwhile_is_refused_too) {
  rig r;
  r.journal->holds = true;
  const auto call = r.job({{"prompt", "a"}, {"id", "mine"}});
  r.engine->finish(1);
  r.kept->tick();
  r.kept->put_away();
  r.journal->full = true;
  r.journal->write();
  BOOST_TEST(call->status() == 507u);
  BOOST_TEST(r.status_of("mine") == "404");
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.kept->kept().jobs == 0u);
  BOOST_TEST(fs::is_empty(r.folder));
  BOOST_TEST(r.journal->there.jobs.empty());
}

BOOST_AUTO_TEST_CASE(the_same_call_again_waits_for_the_first_one) {
  rig r;
  const fields key{{"idempotency-key", "k"}};
  r.journal->holds = true;
  const auto first = r.job({{"prompt", "a"}}, key);
  const auto second = r.job({{"prompt", "a"}}, key);
  BOOST_TEST(second->status() == 0u);
  r.journal->write();
  BOOST_TEST(second->status() == 202u);
  BOOST_TEST(first->body()["id"] == second->body()["id"]);
  BOOST_TEST(r.engine->count() == 1u);
  // If the first is refused, the second is refused too.
  const fields other{{"idempotency-key", "l"}};
  r.journal->full = true;
  const auto third = r.job({{"prompt", "a"}}, other);
  const auto fourth = r.job({{"prompt", "a"}}, other);
  r.journal->write();
  BOOST_TEST(third->status() == 507u);
  BOOST_TEST(fourth->status() == 507u);
}

BOOST_AUTO_TEST_CASE(what_the_engine_refuses_is_not_journalled) {
  rig r;
  r.engine->refuse_after = 0;
  BOOST_TEST(r.job({{"prompt", "a"}})->status() == 429u);
  BOOST_TEST(r.journal->there.jobs.empty());
}

BOOST_AUTO_TEST_CASE(calls_that_wait_are_not_journalled) {
  rig r;
  r.post_json("/v1/images/generations",
              {{"prompt", "a"}, {"response_format", "url"}});
  BOOST_TEST(r.engine->count() == 1u);
  BOOST_TEST(r.journal->there.jobs.empty());
  r.engine->finish(1);
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.journal->ends == 0u);
  r.kill();
  // No client knows its address.
  BOOST_TEST(fs::is_empty(r.folder));
}

BOOST_AUTO_TEST_CASE(an_open_job_is_drawn_again_after_a_kill) {
  rig r;
  const fields key{{"idempotency-key", "k"}};
  const json body{{"prompt", "a"}, {"n", 2}, {"steps", 7}, {"guidance", 2.5}};
  const std::string id = r.job(body, key)->body()["id"];
  const auto seed = *r.engine->at(1).wanted.seed;
  r.engine->finish(1);
  r.kill();
  BOOST_TEST(r.status_of(id) == "queued");
  BOOST_TEST(r.engine->count() == 0u);
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.engine->count() == 2u);
  const auto again = r.engine->at(2).wanted;
  BOOST_TEST(*again.seed == seed + 1);
  BOOST_TEST(*again.steps == 7u);
  BOOST_TEST(*again.guidance == 2.5f);
  BOOST_TEST(again.tenant == r.key);
  // The request is submitted only once.
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.engine->count() == 2u);
  r.engine->finish(1);
  r.engine->finish(2);
  BOOST_TEST(r.status_of(id) == "completed");
  BOOST_TEST(r.image_of(id) == "a" + std::to_string(seed));
  BOOST_TEST(r.job(body, key)->body()["id"] == id);
  BOOST_TEST(r.engine->count() == 2u);
  // Its owner is known, and another key does not see it.
  r.key = "bob";
  BOOST_TEST(r.status_of(id) == "404");
}

BOOST_AUTO_TEST_CASE(a_job_has_its_key_s_share_at_the_start_that_continues_it) {
  const auto shares = std::make_shared<std::map<std::string, uint32_t>>();
  (*shares)["ann"] = 3;
  job_limits within;
  within.allowance.share = [shares](const std::string& owner) {
    return (*shares)[owner];
  };
  rig r{within};
  r.job({{"prompt", "a"}, {"n", 2}});
  BOOST_TEST(r.engine->at(2).wanted.share == 3u);
  // Meanwhile the key file was changed.
  (*shares)["ann"] = 5;
  r.kill();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST_REQUIRE(r.engine->count() == 2u);
  for (const uint64_t image : {1u, 2u}) {
    BOOST_TEST(r.engine->at(image).wanted.tenant == "ann");
    BOOST_TEST(r.engine->at(image).wanted.share == 5u);
  }
}

BOOST_AUTO_TEST_CASE(what_is_held_against_a_image_comes_back_after_a_kill) {
  rig r;
  r.job({{"prompt", "a"}, {"n", 2}});
  r.journal->holds = true;
  size_t gone_on = 0;
  r.engine->at(2).calls.suspected({"finishing", 0, 3, 1}, [&] { ++gone_on; });
  // The trial begins once the note is on the disk.
  BOOST_TEST(gone_on == 0u);
  r.journal->write();
  BOOST_TEST(gone_on == 1u);
  r.kill();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.engine->at(1).wanted.suspected.trials == 0u);
  const auto held = r.engine->at(2).wanted.suspected;
  BOOST_TEST(held.phase == "finishing");
  BOOST_TEST(held.steps == 3u);
  BOOST_TEST(held.trials == 1u);
  // The count continues from there.
  r.engine->at(2).calls.suspected({"finishing", 0, 3, 2}, [&] { ++gone_on; });
  BOOST_TEST(gone_on == 2u);
  r.kill();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.engine->at(2).wanted.suspected.trials == 2u);
}

BOOST_AUTO_TEST_CASE(what_is_not_journalled_is_tried_at_once) {
  rig r;
  r.post_json("/v1/images/generations",
              {{"prompt", "a"}, {"response_format", "url"}});
  r.journal->holds = true;
  bool goes_on = false;
  r.engine->at(1).calls.suspected({"preparing", 0, 0, 1},
                                  [&] { goes_on = true; });
  BOOST_TEST(goes_on);
}

BOOST_AUTO_TEST_CASE(an_ended_job_keeps_its_images_after_a_kill) {
  rig r;
  const std::string id =
    r.job({{"prompt", "a"}, {"seed", 5}, {"n", 2}})->body()["id"];
  r.engine->finish(1);
  r.engine->finish(2);
  r.kept->tick();
  r.kept->put_away();
  const auto before = r.get("/v1/jobs/" + id)->body();
  r.kill();
  BOOST_TEST(r.get("/v1/jobs/" + id)->body() == before);
  BOOST_TEST(r.image_of(id, 1) == "a6");
  BOOST_TEST(r.kept->kept().jobs == 1u);
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.engine->count() == 0u);
  // A new job's files do not use its names.
  const std::string next = r.job({{"prompt", "b"}, {"seed", 1}})->body()["id"];
  r.engine->finish(1);
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.image_of(id) == "a5");
  BOOST_TEST(r.image_of(next) == "b1");
}

BOOST_AUTO_TEST_CASE(images_not_in_files_yet_are_drawn_again) {
  rig r;
  const std::string id = r.job({{"prompt", "a"}, {"seed", 5}})->body()["id"];
  r.engine->finish(1);
  BOOST_TEST(r.status_of(id) == "completed");
  r.kill();
  r.kept->tick();
  r.kept->put_away();
  r.engine->finish(1);
  BOOST_TEST(r.image_of(id) == "a5");
}

BOOST_AUTO_TEST_CASE(failed_and_cancelled_jobs_stay_so) {
  rig r;
  const std::string failed = r.job({{"prompt", "a"}})->body()["id"];
  const std::string cancelled = r.job({{"prompt", "b"}})->body()["id"];
  r.engine->fail(1, "poison", "twice");
  r.kept->cancel({cancelled, r.key});
  r.kill();
  BOOST_TEST(r.status_of(failed) == "failed");
  BOOST_TEST(r.get("/v1/jobs/" + failed)->body()["error"]["code"] == "poison");
  BOOST_TEST(r.status_of(cancelled) == "cancelled");
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.engine->count() == 0u);
}

BOOST_AUTO_TEST_CASE(an_image_that_was_cancelled_alone_stays_so) {
  rig r;
  const std::string id =
    r.job({{"prompt", "a"}, {"seed", 5}, {"n", 3}})->body()["id"];
  const auto cancelled = [&] {
    return r.get("/v1/jobs/" + id)->body()["cancelled_images"] == json{1};
  };
  r.post("/v1/jobs/" + id + "/images/1/cancel", "");
  r.kill();
  BOOST_TEST(cancelled());
  BOOST_TEST(r.status_of(id) == "queued");
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST_REQUIRE(r.engine->count() == 2u);
  BOOST_TEST(*r.engine->at(2).wanted.seed == 7u);
  r.engine->finish(1);
  r.engine->finish(2);
  BOOST_TEST(r.status_of(id) == "cancelled");
  r.kept->tick();
  r.kept->put_away();
  const auto before = r.get("/v1/jobs/" + id)->body();
  r.kill();
  BOOST_TEST(r.get("/v1/jobs/" + id)->body() == before);
  BOOST_TEST(cancelled());
  BOOST_TEST(r.image_of(id, 0) == "a5");
  BOOST_TEST(r.image_of(id, 1) == "404");
  BOOST_TEST(r.image_of(id, 2) == "a7");
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.engine->count() == 0u);
}

BOOST_AUTO_TEST_CASE(images_beside_a_cancelled_one_are_drawn_until_in_files) {
  rig r;
  const std::string id =
    r.job({{"prompt", "a"}, {"seed", 5}, {"n", 2}})->body()["id"];
  r.post("/v1/jobs/" + id + "/images/0/cancel", "");
  r.engine->finish(2);
  BOOST_TEST(r.status_of(id) == "cancelled");
  // The other image is not in a file yet.
  r.kill();
  BOOST_TEST(r.status_of(id) == "queued");
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST_REQUIRE(r.engine->count() == 1u);
  r.engine->finish(1);
  BOOST_TEST(r.status_of(id) == "cancelled");
  BOOST_TEST(r.image_of(id, 1) == "a6");
}

BOOST_AUTO_TEST_CASE(an_image_cancelled_before_its_job_is_journalled_stays_so) {
  rig r;
  r.journal->holds = true;
  r.engine->on_submit = [&](uint64_t request) {
    if (request == 2)
      BOOST_TEST(
        (r.kept->cancel_image({"mine", r.key}, 0) == jobs::cancelled::yes));
  };
  r.job({{"prompt", "a"}, {"seed", 5}, {"n", 2}, {"id", "mine"}});
  r.journal->write();
  r.kill();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST_REQUIRE(r.engine->count() == 1u);
  BOOST_TEST(*r.engine->at(1).wanted.seed == 6u);
}

BOOST_AUTO_TEST_CASE(a_job_without_an_open_image_ends_at_the_start) {
  rig r;
  const std::string id = r.job({{"prompt", "a"}, {"n", 2}})->body()["id"];
  r.post("/v1/jobs/" + id + "/images/0/cancel", "");
  r.post("/v1/jobs/" + id + "/images/1/cancel", "");
  // The kill happened before the end was written.
  r.journal->there.jobs.at(0).end.reset();
  r.kill();
  BOOST_TEST(r.status_of(id) == "cancelled");
  BOOST_TEST(r.journal->there.jobs.at(0).end.has_value());
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.engine->count() == 0u);
}

BOOST_AUTO_TEST_CASE(what_ends_with_the_engine_is_drawn_after_the_next_start) {
  rig r;
  const std::string id = r.job({{"prompt", "a"}, {"seed", 5}})->body()["id"];
  r.engine->fail(1, "stopping", "the engine is stopping");
  BOOST_TEST(r.status_of(id) == "failed");
  r.kept->tick();
  r.kept->put_away();
  r.end();
  r.start();
  BOOST_TEST(r.status_of(id) == "queued");
  r.kept->tick();
  r.kept->put_away();
  r.engine->finish(1);
  BOOST_TEST(r.image_of(id) == "a5");
}

BOOST_AUTO_TEST_CASE(an_orderly_end_brings_images_into_files_first) {
  rig r;
  const std::string id = r.job({{"prompt", "a"}, {"seed", 5}})->body()["id"];
  r.engine->finish(1);
  r.end();
  r.start();
  BOOST_TEST(r.status_of(id) == "completed");
  BOOST_TEST(r.image_of(id) == "a5");
}

BOOST_AUTO_TEST_CASE(images_to_start_from_come_back) {
  rig r;
  const auto image = r.png(16, 16);
  const auto mask = r.png(16, 16, 255);
  r.job({{"prompt", "a"},
         {"image", to_base64(image)},
         {"mask", to_base64(mask)},
         {"n", 2}});
  r.kill();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST_REQUIRE(r.engine->count() == 2u);
  BOOST_TEST((r.engine->at(2).wanted.image == image));
  BOOST_TEST((r.engine->at(2).wanted.mask == mask));
}

BOOST_AUTO_TEST_CASE(an_engine_that_is_full_takes_the_rest_later) {
  rig r;
  std::vector<std::string> ids;
  for (const auto* prompt : {"a", "b", "c"})
    ids.push_back(r.job({{"prompt", prompt}, {"seed", 1}})->body()["id"]);
  r.kill();
  r.engine->refuse_after = 2;
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.engine->count() == 2u);
  BOOST_TEST(r.status_of(ids[2]) == "queued");
  // A request that was accepted and then refused is submitted again, too.
  r.engine->fail(1, "overloaded", "full");
  BOOST_TEST(r.status_of(ids[0]) == "queued");
  r.engine->refuse_after.reset();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.engine->count() == 4u);
  for (uint64_t i = 2; i <= 4; ++i)
    r.engine->finish(i);
  BOOST_TEST(r.image_of(ids[0]) == "a1");
  BOOST_TEST(r.image_of(ids[2]) == "c1");
}

BOOST_AUTO_TEST_CASE(an_answer_before_submit_returned_is_handed_in_again) {
  rig r;
  const std::string id = r.job({{"prompt", "a"}, {"seed", 1}})->body()["id"];
  r.kill();
  r.engine->on_submit = [&](uint64_t request) {
    if (request == 1)
      r.engine->fail(1, "overloaded", "full");
  };
  r.kept->tick();
  r.kept->put_away();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST_REQUIRE(r.engine->count() == 2u);
  r.engine->finish(2);
  BOOST_TEST(r.image_of(id) == "a1");
}

BOOST_AUTO_TEST_CASE(what_can_be_drawn_no_longer_ends_as_failed) {
  rig r;
  const std::string id = r.job({{"prompt", "a"}, {"n", 3}})->body()["id"];
  r.kill();
  r.engine->refuse_after = 1;
  r.engine->refusal = {"not_found", "variant 'tiny@8' is not hosted", {}};
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.status_of(id) == "failed");
  BOOST_TEST(r.engine->at(1).cancelled);
  const auto said = r.get("/v1/jobs/" + id)->body()["error"];
  BOOST_TEST(said["code"] == "not_found");
  BOOST_TEST(said["message"] == "variant 'tiny@8' is not hosted");
  r.kill();
  BOOST_TEST(r.status_of(id) == "failed");
}

BOOST_AUTO_TEST_CASE(a_deadline_goes_on_while_the_server_is_away) {
  rig r;
  const std::string in_time =
    r.job({{"prompt", "a"}, {"deadline_ms", 9000}})->body()["id"];
  const std::string late =
    r.job({{"prompt", "b"}, {"deadline_ms", 3000}})->body()["id"];
  r.now += 4s;
  r.kill();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST_REQUIRE(r.engine->count() == 1u);
  BOOST_TEST((r.engine->at(1).wanted.deadline == 5s));
  BOOST_TEST(r.status_of(in_time) == "queued");
  BOOST_TEST(r.get("/v1/jobs/" + late)->body()["error"]["code"]
             == "deadline_missed");
}

BOOST_AUTO_TEST_CASE(images_expire_as_if_the_server_had_not_ended) {
  job_limits within;
  within.kept = 10s;
  rig r{within};
  const std::string id = r.job({{"prompt", "a"}, {"seed", 5}})->body()["id"];
  r.engine->finish(1);
  r.kept->tick();
  r.kept->put_away();
  r.now += 9s;
  r.kill();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.image_of(id) == "a5");
  r.now += 1s;
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.status_of(id) == "410");
  BOOST_TEST(fs::is_empty(r.folder));
  BOOST_TEST(r.journal->there.jobs.empty());
  // Its name is remembered, also by the next server.
  r.kill();
  BOOST_TEST(r.status_of(id) == "410");
}

BOOST_AUTO_TEST_CASE(what_ended_before_the_machine_started_expires_too) {
  job_limits within;
  within.kept = 10s;
  rig r{within};
  const std::string id = r.job({{"prompt", "a"}})->body()["id"];
  r.engine->fail(1, "poison", "twice");
  // Its end is before the zero of the steady clock.
  r.set_off += 9s;
  r.kill();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.status_of(id) == "failed");
  r.set_off += 1s;
  r.kill();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.status_of(id) == "410");
}

BOOST_AUTO_TEST_CASE(a_image_that_somebody_removed_is_told_as_expired) {
  rig r;
  const std::string id = r.job({{"prompt", "a"}, {"n", 2}})->body()["id"];
  r.engine->finish(1);
  r.engine->finish(2);
  r.kept->tick();
  r.kept->put_away();
  fs::remove(*fs::directory_iterator{r.folder});
  r.kill();
  BOOST_TEST(r.image_of(id, 0) == "410");
  BOOST_TEST(r.image_of(id, 1) == "410");
  BOOST_TEST(fs::is_empty(r.folder));
  BOOST_TEST(r.kept->kept().disk_bytes == 0u);
}

BOOST_AUTO_TEST_CASE(limits_that_shrank_hold_for_what_ended) {
  rig r;
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) {
    r.now += 1s;
    ids.push_back(r.job({{"prompt", "a"}, {"seed", i}})->body()["id"]);
    r.engine->finish(r.engine->count());
    r.kept->tick();
    r.kept->put_away();
  }
  r.within.kept_disk_bytes = 2 * 1100;
  r.kill();
  BOOST_TEST(r.kept->kept().jobs == 2u);
  BOOST_TEST(r.image_of(ids[1]) == "410");
  BOOST_TEST(r.image_of(ids[3]) == "a3");
  r.within.jobs = 2;
  r.kill();
  r.job({{"prompt", "b"}});
  BOOST_TEST(r.kept->list({}, 10).size() == 2u);
}

BOOST_AUTO_TEST_CASE(open_jobs_beyond_a_limit_that_shrank_are_drawn) {
  rig r;
  for (int i = 0; i < 3; ++i)
    r.job({{"prompt", "a"}});
  r.within.jobs = 1;
  r.kill();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.engine->count() == 3u);
  BOOST_TEST(r.job({{"prompt", "b"}})->status() == 429u);
}

BOOST_AUTO_TEST_CASE(a_restored_job_can_be_cancelled_and_listened_to) {
  rig r;
  const std::string a = r.job({{"prompt", "a"}})->body()["id"];
  const std::string b = r.job({{"prompt", "b"}})->body()["id"];
  r.kill();
  BOOST_TEST((r.kept->cancel({a, r.key}) == jobs::cancelled::yes));
  const auto stream = r.get("/v1/jobs/" + b + "/events");
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.engine->count() == 1u);
  r.engine->step(1, 1, 8);
  r.engine->finish(1);
  BOOST_TEST(stream->event_names() == "status,progress,image,completed");
  BOOST_TEST(r.status_of(a) == "cancelled");
}

BOOST_AUTO_TEST_CASE(a_wall_clock_set_back_expires_nothing_early) {
  job_limits within;
  within.kept = 10s;
  rig r{within};
  const std::string id = r.job({{"prompt", "a"}, {"seed", 5}})->body()["id"];
  r.engine->finish(1);
  r.kept->tick();
  r.kept->put_away();
  for (auto& x : r.journal->there.jobs)
    x.end->completed += 1h;
  r.kill();
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.image_of(id) == "a5");
  r.now += 11s;
  r.kept->tick();
  r.kept->put_away();
  BOOST_TEST(r.status_of(id) == "410");
}

BOOST_AUTO_TEST_CASE(in_any_order_no_accepted_job_is_lost) {
  std::mt19937_64 random{test::seed()};
  const auto below = [&](uint64_t most) { return random() % most; };
  for (uint64_t run = 0; run < test::scaled(1000); ++run) {
    rig r;
    // The expected result of each job.
    std::map<std::string, std::string> wanted;
    for (int i = 0; i < 40; ++i) {
      r.now += 1s;
      switch (below(6)) {
        case 0:
        case 1: {
          r.journal->full = below(4) == 0;
          const auto seed = below(1000);
          const auto call = r.job({{"prompt", "a"}, {"seed", seed}});
          BOOST_TEST(call->status() == (r.journal->full ? 507u : 202u));
          if (call->status() == 202u)
            wanted[call->body()["id"]] = "a" + std::to_string(seed);
          r.journal->full = false;
          break;
        }
        case 2:
          r.kept->tick();
          r.kept->put_away();
          break;
        case 3:
          if (r.engine->count() > 0)
            r.engine->finish(1 + below(r.engine->count()));
          break;
        case 4:
          if (below(2) == 0 && r.engine->count() > 0)
            r.engine->fail(1 + below(r.engine->count()), "stopping");
          break;
        default:
          if (below(2) == 0) {
            r.kill();
          } else {
            r.end();
            r.start();
          }
      }
    }
    r.kill();
    r.kept->tick();
    r.kept->put_away();
    for (uint64_t i = 1; i <= r.engine->count(); ++i)
      r.engine->finish(i);
    for (const auto& [id, image] : wanted)
      BOOST_TEST(r.image_of(id) == image);
    BOOST_TEST(r.kept->list({}, 1000).size() == wanted.size());
  }
}

BOOST_AUTO_TEST_CASE(deleted_job_does_not_return_with_the_next_start) {
  rig r;
  const std::string id = r.job({{"prompt", "a"}})->body()["id"];
  r.engine->finish(1);
  r.kept->put_away();
  BOOST_TEST(r.status_of(id) == "completed");
  request_message x;
  x.method = "DELETE";
  x.path = "/v1/jobs/" + id;
  BOOST_TEST(r.ask(std::move(x))->status() == 204u);
  BOOST_TEST(r.journal->there.jobs.empty());
  r.kill();
  BOOST_TEST(r.status_of(id) == "410");
  BOOST_TEST(r.image_of(id) == "410");
}

BOOST_AUTO_TEST_SUITE_END()
