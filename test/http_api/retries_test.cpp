// SPDX-License-Identifier: Apache-2.0
// Calls whose clients disconnect and try again.
#include "support/api_rig.hpp"
#include <atelier/runtime/http/a1111_routes.hpp>
#include <atelier/runtime/http/openai_routes.hpp>
#include <atelier/runtime/http/result_files.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <map>
#include <random>

using namespace atelier;
using namespace atelier::runtime::http;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

constexpr const char* openai = "/v1/images/generations";
constexpr const char* a1111 = "/sdapi/v1/txt2img";

struct rig : test::api_rig {
  explicit rig(job_limits within = {}) : api_rig(within) {
    add_openai_routes(routes, all, context());
    add_a1111_routes(routes, all, context());
  }

  exchange_ptr call(const std::string& path, const std::string& idempotency,
                    const json& more = json::object()) {
    json body{{"prompt", "a cat"}};
    body.update(more);
    fields headers{{"content-type", "application/json"}};
    if (!idempotency.empty())
      headers.emplace_back("idempotency-key", idempotency);
    return post(path, body.dump(), headers);
  }

  /// Returns an edit whose form has this boundary.
  exchange_ptr edit(const std::string& boundary, const std::string& prompt) {
    const auto file = png(8, 8);
    const auto mark = "--" + boundary;
    auto body = mark
              + "\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\n"
              + prompt + "\r\n" + mark
              + "\r\nContent-Disposition: form-data; name=\"image\"; "
                "filename=\"a.png\"\r\n\r\n";
    body.append(file.begin(), file.end());
    body += "\r\n" + mark + "--\r\n";
    return post("/v1/images/edits", body,
                {{"content-type", "multipart/form-data; boundary=" + boundary},
                 {"idempotency-key", "k"}});
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(retries_test)

BOOST_AUTO_TEST_CASE(a_call_that_comes_again_joins_the_first_one) {
  for (const auto* path : {openai, a1111}) {
    rig r;
    const auto first = r.call(path, "k");
    first->leave();
    const auto again = r.call(path, "k");
    BOOST_TEST(r.images->count() == 1u, path);
    r.now += 1h;
    r.all->tick();
    r.all->put_away();
    BOOST_TEST(!r.images->at(1).cancelled, path);
    r.images->finish(1);
    BOOST_TEST(again->status() == 200u, path);
    BOOST_TEST(!again->faulty, path);
  }
}

BOOST_AUTO_TEST_CASE(one_whose_reply_was_lost_gets_the_same_images) {
  for (const auto* path : {openai, a1111}) {
    rig r;
    const auto first = r.call(path, "k");
    r.images->finish(1);
    const auto again = r.call(path, "k");
    BOOST_TEST(r.images->count() == 1u, path);
    BOOST_TEST(again->status() == 200u, path);
    BOOST_TEST((again->answered->body == first->answered->body), path);
  }
}

BOOST_AUTO_TEST_CASE(images_in_files_are_found_again) {
  const test::scratch_folder folder;
  for (const auto* path : {openai, a1111}) {
    rig r;
    auto files = result_files::open(folder.path / std::string(1, path[1]), {});
    BOOST_REQUIRE(files);
    const auto kept =
      std::make_shared<jobs>(r.images, job_limits{}, r.clocks(), *files);
    r.routes = {};
    add_openai_routes(r.routes, kept, r.context());
    add_a1111_routes(r.routes, kept, r.context());
    const auto first = r.call(path, "k");
    r.images->finish(1);
    kept->tick();
    kept->put_away();
    BOOST_TEST(kept->kept().disk_bytes > 0u, path);
    const auto again = r.call(path, "k");
    BOOST_TEST(again->status() == 200u, path);
    BOOST_TEST(again->answered->body == first->answered->body, path);
    BOOST_TEST(r.images->count() == 1u, path);
  }
}

BOOST_AUTO_TEST_CASE(a_stream_joins_too) {
  rig r;
  const json stream{{"stream", true}};
  const auto first = r.call(openai, "k", stream);
  first->leave();
  const auto again = r.call(openai, "k", stream);
  r.images->finish(1);
  BOOST_TEST(again->event_names() == "image_generation.completed");
  BOOST_TEST(again->ended);
  const auto late = r.call(openai, "k", stream);
  BOOST_TEST(late->event_names() == "image_generation.completed");
  BOOST_TEST(!late->faulty);
  BOOST_TEST(r.images->count() == 1u);
}

BOOST_AUTO_TEST_CASE(nobody_comes_again_for_ever) {
  job_limits within;
  within.retry = 10s;
  rig r{within};
  r.call(openai, "k")->leave();
  BOOST_TEST(!r.images->at(1).cancelled);
  r.now += 10s - 1ms;
  r.all->tick();
  r.all->put_away();
  BOOST_TEST(!r.images->at(1).cancelled);
  r.now += 1ms;
  r.all->tick();
  r.all->put_away();
  BOOST_TEST(r.images->at(1).cancelled);
  BOOST_TEST(r.all->open() == 0u);
  // A later call is drawn anew.
  const auto late = r.call(openai, "k");
  BOOST_TEST(late->status() == 0u);
  r.images->finish(2);
  BOOST_TEST(late->status() == 200u);
}

BOOST_AUTO_TEST_CASE(the_last_one_to_go_counts) {
  job_limits within;
  within.retry = 0s;
  rig r{within};
  const auto a = r.call(openai, "k");
  const auto b = r.call(openai, "k");
  a->leave();
  BOOST_TEST(!r.images->at(1).cancelled);
  b->leave();
  BOOST_TEST(r.images->at(1).cancelled);
}

BOOST_AUTO_TEST_CASE(without_a_key_each_call_is_one_of_its_own) {
  for (const auto* path : {openai, a1111}) {
    rig r;
    r.call(path, "")->leave();
    BOOST_TEST(r.images->at(1).cancelled, path);
    const auto again = r.call(path, "");
    r.images->finish(2);
    BOOST_TEST(again->status() == 200u, path);
    BOOST_TEST(r.all->kept().jobs == 0u, path);
  }
}

BOOST_AUTO_TEST_CASE(one_that_failed_is_tried_again) {
  rig r;
  const auto first = r.call(openai, "k");
  r.images->fail(1, "unavailable");
  BOOST_TEST(first->status() == 503u);
  const auto again = r.call(openai, "k");
  BOOST_TEST(r.images->count() == 2u);
  r.images->finish(2);
  BOOST_TEST(again->status() == 200u);
  BOOST_TEST(r.call(openai, "k")->status() == 200u);
  BOOST_TEST(r.images->count() == 2u);
}

BOOST_AUTO_TEST_CASE(a_key_with_another_call_is_refused) {
  for (const auto* path : {openai, a1111}) {
    rig r;
    r.call(path, "k");
    const auto other = r.call(path, "k", {{"seed", 2}});
    BOOST_TEST(other->status() == 422u, path);
    const auto elsewhere = r.call(path == openai ? a1111 : openai, "k");
    BOOST_TEST(elsewhere->status() == 422u, path);
    BOOST_TEST(r.call(path, std::string(256, 'k'))->status() == 400u, path);
    // The same call with another key is another call.
    r.key = "bob";
    BOOST_TEST(r.call(path, "k")->status() == 0u, path);
    BOOST_TEST(r.images->count() == 2u, path);
  }
}

BOOST_AUTO_TEST_CASE(a_form_is_the_same_with_another_boundary) {
  rig r;
  r.edit("aaaa", "a cat")->leave();
  const auto again = r.edit("bbbbbb", "a cat");
  BOOST_TEST(r.images->count() == 1u);
  BOOST_TEST(r.edit("aaaa", "a dog")->status() == 422u);
  r.images->finish(1);
  BOOST_TEST(again->status() == 200u);
}

BOOST_AUTO_TEST_CASE(a_call_whose_client_went_in_the_queue_is_not_begun) {
  // The rig's end cancels open calls, which adds functions here. So this
  // outlives the rig.
  std::vector<std::function<void()>> waiting;
  rig r;
  auto with = r.context();
  with.elsewhere = [&](const std::string&, std::function<void()> x) {
    waiting.push_back(std::move(x));
    return true;
  };
  r.routes = {};
  add_openai_routes(r.routes, r.all, with);
  const auto gone = r.edit("aaaa", "a cat");
  const auto stays = r.edit("aaaa", "a dog");
  gone->leave();
  for (const auto& x : waiting)
    x();
  BOOST_TEST(gone->status() == 499u);
  BOOST_TEST(r.images->count() == 1u);
  BOOST_TEST(r.images->at(1).wanted.prompt == "a dog");
  BOOST_TEST(stays->status() == 0u);
}

BOOST_AUTO_TEST_CASE(random_clients_never_have_two_attempts_drawn) {
  const auto rounds = test::scaled(10'000);
  std::mt19937_64 random{test::seed()};
  const auto draw = [&](uint64_t below) { return random() % below; };
  constexpr uint64_t keys = 3;
  for (size_t round = 0; round < rounds; ++round) {
    job_limits within;
    within.retry = std::chrono::seconds{draw(4)};
    within.kept = 20s;
    test::job_rig rig{within};
    rig.images->answers_cancel = true;
    std::vector<int> ends(60, 0);
    std::vector<uint64_t> attending;
    size_t clients = 0;
    for (size_t i = 0; i < ends.size(); ++i) {
      rig.now += std::chrono::milliseconds{draw(3000)};
      const auto orders = rig.images->count();
      switch (draw(6)) {
        case 0:
        case 1: {
          auto what = rig.wish(1);
          what.idempotency_key = "k" + std::to_string(draw(keys));
          what.images[0].prompt = what.idempotency_key;
          job_listener news;
          news.ended = [&, me = clients](const auto&) { ++ends[me]; };
          ++clients;
          const auto got = rig.all->attend(std::move(what), std::move(news));
          BOOST_TEST_REQUIRE(std::holds_alternative<jobs::attendance>(got));
          attending.push_back(std::get<jobs::attendance>(got).number);
          break;
        }
        case 2:
          if (!attending.empty()) {
            const auto at = static_cast<std::ptrdiff_t>(draw(attending.size()));
            rig.all->abandon(attending[static_cast<size_t>(at)]);
            attending.erase(attending.begin() + at);
          }
          break;
        case 3:
          if (orders > 0)
            rig.images->finish(1 + draw(orders));
          break;
        case 4:
          if (orders > 0)
            rig.images->fail(1 + draw(orders), "poison");
          break;
        default:
          rig.all->tick();
          rig.all->put_away();
      }
      std::map<std::string, int> open;
      for (uint64_t r = 1; r <= rig.images->count(); ++r)
        if (const auto x = rig.images->at(r); !x.answered)
          BOOST_TEST(++open[x.wanted.prompt] == 1);
    }
    for (const auto number : attending)
      rig.all->abandon(number);
    rig.now += within.retry;
    rig.all->tick();
    rig.all->put_away();
    BOOST_TEST(rig.all->open() == 0u);
    for (size_t i = 0; i < clients; ++i)
      BOOST_TEST(ends[i] == 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
