// SPDX-License-Identifier: Apache-2.0
#include "support/api_rig.hpp"
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/job_routes.hpp>
#include <atelier/runtime/http/openai_routes.hpp>

#include <boost/test/unit_test.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

using namespace atelier;
using namespace atelier::runtime::http;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

/// Jobs whose images go into files, and their routes.
struct rig : test::api_rig {
  explicit rig(job_limits within = {}) {
    auto files = result_files::open(folder);
    BOOST_REQUIRE(files);
    images->bytes_of = [](const generation& g) {
      return std::vector<uint8_t>(1000, static_cast<uint8_t>(g.prompt[0]));
    };
    filed = std::make_shared<jobs>(images, within, clocks(), *files);
    add_job_routes(routes, filed, context());
  }

  ~rig() {
    routes = {};
    filed.reset();
    fs::remove_all(folder);
  }

  /// Returns the name of an ended job with one image.
  std::string done(const std::string& prompt) {
    const std::string id =
      post_json("/v1/jobs", {{"prompt", prompt}})->body()["id"];
    images->finish(images->count());
    return id;
  }

  size_t count() const {
    return static_cast<size_t>(
      std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
  }

  unsigned image_of(const std::string& id) {
    return get("/v1/jobs/" + id + "/images/0")->status();
  }

  const fs::path folder =
    fs::temp_directory_path() / ("atelier-jobs-" + std::to_string(getpid()));
  std::shared_ptr<jobs> filed;
};

} // namespace

BOOST_AUTO_TEST_SUITE(jobs_files_test)

BOOST_AUTO_TEST_CASE(a_image_goes_from_memory_into_a_file) {
  rig r;
  const auto id = r.done("a");
  BOOST_TEST(r.count() == 0u);
  BOOST_TEST(r.image_of(id) == 200u);
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.count() == 1u);
  BOOST_TEST(r.filed->find({id, r.key})->results[0]->bytes.empty());
  const auto got = r.get("/v1/jobs/" + id + "/images/0");
  BOOST_TEST(got->answered->body == std::string(1000, 'a'));
  // Other routes return the same bytes.
  const auto text = to_base64(std::vector<uint8_t>(1000, 'a'));
  BOOST_TEST(r.get("/v1/jobs/" + id)->body()["result"]["images"][0]["b64_json"]
             == text);
  const auto late = r.get("/v1/jobs/" + id + "/events?images=b64_json");
  BOOST_TEST(late->event_names() == "status,image,completed");
  BOOST_TEST(late->event_data(1)["b64_json"] == text);
  BOOST_TEST(!late->faulty);
}

BOOST_AUTO_TEST_CASE(a_late_stream_reads_only_the_file_of_each_image) {
  rig r;
  const std::string id =
    r.post_json("/v1/jobs", {{"prompt", "a"}, {"n", 2}})->body()["id"];
  r.images->finish(1);
  r.images->finish(2);
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST_REQUIRE(r.count() == 2u);
  // The second image's file is gone, which the first image does not need.
  for (const auto& file : fs::directory_iterator{r.folder})
    if (file.path().filename().string().find("-1") != std::string::npos)
      fs::remove(file);
  BOOST_TEST_REQUIRE(r.count() == 1u);
  const auto late = r.get("/v1/jobs/" + id + "/events?images=b64_json");
  BOOST_TEST(late->event_names() == "status,image,completed");
  BOOST_TEST(late->event_data(1)["index"] == 0);
  BOOST_TEST(late->event_data(1)["b64_json"]
             == to_base64(std::vector<uint8_t>(1000, 'a')));
}

BOOST_AUTO_TEST_CASE(
  a_late_stream_above_its_limit_is_refused_before_it_begins) {
  rig r;
  const std::string id =
    r.post_json("/v1/jobs", {{"prompt", "a"}, {"n", 2}})->body()["id"];
  r.images->finish(1);
  r.images->finish(2);
  const auto events = "/v1/jobs/" + id + "/events";
  const auto whole = r.get(events + "?images=b64_json");
  BOOST_TEST(whole->event_names() == "status,image,image,completed");
  size_t sent = 0;
  for (const auto& [name, data] : whole->events)
    sent += data.size();
  // In memory and then in files the images are of the same size.
  for (const bool filed : {false, true}) {
    if (filed)
      r.filed->put_away();
    BOOST_TEST(r.count() == (filed ? 2u : 0u));
    r.unread_bytes = sent - 1;
    const auto refused = r.get(events + "?images=b64_json");
    BOOST_TEST(!refused->streaming);
    BOOST_TEST(refused->status() == 400u);
    BOOST_TEST(refused->body()["error"]["param"] == "images");
    const std::string why = refused->body()["error"]["message"];
    BOOST_TEST(why.find("(http.unsent_mib)") != std::string::npos, why);
    BOOST_TEST(why.find("images=url") != std::string::npos, why);
    BOOST_TEST(r.get(events)->event_names() == "status,image,image,completed");
    // The bound leaves a little room for each event beside the images.
    r.unread_bytes = sent + 4096;
    BOOST_TEST(r.get(events + "?images=b64_json")->event_names()
               == "status,image,image,completed");
  }
}

BOOST_AUTO_TEST_CASE(at_its_expiry_the_file_is_removed) {
  job_limits within;
  within.kept = 10s;
  rig r{within};
  const auto id = r.done("a");
  r.filed->tick();
  r.filed->put_away();
  r.now += 9s;
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.image_of(id) == 200u);
  r.now += 1s;
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.count() == 0u);
  BOOST_TEST(r.image_of(id) == 410u);
  BOOST_TEST(r.filed->kept().bytes == 0u);
  BOOST_TEST(r.filed->kept().disk_bytes == 0u);
  BOOST_TEST(r.filed->kept().jobs == 0u);
}

BOOST_AUTO_TEST_CASE(a_wall_clock_that_is_set_expires_and_estimates_nothing) {
  job_limits within;
  within.kept = 10s;
  for (const auto by : {24h * 365, -24h * 365}) {
    rig r{within};
    const auto id = r.done("a");
    const std::string open =
      r.post_json("/v1/jobs", {{"prompt", "b"}, {"steps", 8}})->body()["id"];
    r.images->step(2, 0, 8);
    r.now += 2s;
    r.images->step(2, 4, 8);
    r.filed->tick();
    r.filed->put_away();
    r.set_off = by;
    r.filed->tick();
    r.filed->put_away();
    BOOST_TEST(r.image_of(id) == 200u);
    BOOST_TEST(r.get("/v1/jobs/" + open)->body()["eta_s"] == 2.0);
    r.now += 7s;
    r.filed->tick();
    r.filed->put_away();
    BOOST_TEST(r.image_of(id) == 200u);
    r.now += 1s;
    r.filed->tick();
    r.filed->put_away();
    BOOST_TEST(r.image_of(id) == 410u);
  }
}

BOOST_AUTO_TEST_CASE(what_was_not_asked_for_the_longest_goes_first) {
  job_limits within;
  // Each has 1000 bytes and its overhead.
  within.kept_disk_bytes = 3 * 2100;
  rig r{within};
  const auto a = r.done("a");
  r.now += 1s;
  const auto b = r.done("b");
  r.now += 1s;
  const auto c = r.done("c");
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.count() == 3u);
  r.now += 1s;
  BOOST_TEST(r.image_of(a) == 200u);
  r.now += 1s;
  const auto d = r.done("d");
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.count() == 3u);
  BOOST_TEST(r.image_of(b) == 410u);
  for (const auto& id : {a, c, d})
    BOOST_TEST(r.image_of(id) == 200u);
}

BOOST_AUTO_TEST_CASE(a_file_that_somebody_removed_is_told_as_expired) {
  rig r;
  const auto id = r.done("a");
  r.filed->tick();
  r.filed->put_away();
  fs::remove_all(r.folder);
  BOOST_TEST(r.image_of(id) == 410u);
  BOOST_TEST(r.get("/v1/jobs/" + id)->status() == 410u);
  BOOST_TEST(r.get("/v1/jobs/" + id + "?images=none")->status() == 200u);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_written_stays_in_memory_until_it_can) {
  rig r;
  fs::remove_all(r.folder);
  const auto a = r.done("a");
  const auto b = r.done("b");
  for (int i = 0; i < 3; ++i)
    r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.image_of(a) == 200u);
  BOOST_TEST(r.image_of(b) == 200u);
  BOOST_TEST(r.filed->kept().disk_bytes == 0u);
  BOOST_TEST(r.filed->kept().bytes > 2000u);
  fs::create_directories(r.folder);
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.count() == 2u);
  BOOST_TEST(r.filed->kept().bytes == 0u);
  BOOST_TEST(r.image_of(a) == 200u);
}

BOOST_AUTO_TEST_CASE(while_the_disk_fails_memory_has_its_limit) {
  job_limits within;
  within.kept_bytes = 2 * 2100;
  rig r{within};
  const auto filed = r.done("f");
  r.filed->tick();
  r.filed->put_away();
  fs::permissions(r.folder, fs::perms::owner_read | fs::perms::owner_exec);
  const bool locked_out = !std::ofstream{r.folder / "try"};
  if (!locked_out) {
    // If the process may write anywhere, the folder is removed instead.
    fs::remove_all(r.folder);
  }
  std::vector<std::string> ids;
  for (const auto* prompt : {"a", "b", "c"}) {
    r.now += 1s;
    ids.push_back(r.done(prompt));
    r.filed->tick();
    r.filed->put_away();
  }
  BOOST_TEST(r.image_of(ids[0]) == 410u);
  BOOST_TEST(r.image_of(ids[1]) == 200u);
  BOOST_TEST(r.image_of(ids[2]) == 200u);
  // An image in a file does not make room in memory.
  if (locked_out)
    BOOST_TEST(r.image_of(filed) == 200u);
  fs::create_directories(r.folder);
  fs::permissions(r.folder, fs::perms::owner_all);
}

BOOST_AUTO_TEST_CASE(a_image_above_the_disks_limit_stays_in_memory) {
  job_limits within;
  within.kept_disk_bytes = 2100;
  rig r{within};
  const auto small = r.done("a");
  r.filed->tick();
  r.filed->put_away();
  r.images->bytes_of = [](const generation&) {
    return std::vector<uint8_t>(3000, 1);
  };
  const auto large = r.done("b");
  r.filed->tick();
  r.filed->put_away();
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.count() == 1u);
  BOOST_TEST(r.image_of(small) == 200u);
  BOOST_TEST(r.image_of(large) == 200u);
}

BOOST_AUTO_TEST_CASE(a_job_of_more_images_than_fit_keeps_the_rest_in_memory) {
  job_limits within;
  within.kept_disk_bytes = 2 * 2100;
  rig r{within};
  const std::string id =
    r.post_json("/v1/jobs", {{"prompt", "a"}, {"n", 3}})->body()["id"];
  for (uint64_t i = 1; i <= 3; ++i)
    r.images->finish(i);
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.count() == 2u);
  const auto got = r.get("/v1/jobs/" + id)->body()["result"]["images"];
  BOOST_TEST(got.size() == 3u);
  for (const auto& x : got)
    BOOST_TEST(x["b64_json"] == to_base64(std::vector<uint8_t>(1000, 'a')));
  BOOST_TEST(r.filed->kept().jobs == 1u);
}

BOOST_AUTO_TEST_CASE(a_job_forgotten_for_a_new_one_takes_its_files_along) {
  job_limits within;
  within.jobs = 2;
  rig r{within};
  const auto a = r.done("a");
  r.now += 1s;
  r.done("b");
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.count() == 2u);
  r.now += 1s;
  r.done("c");
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.count() == 2u);
  BOOST_TEST(r.image_of(a) == 410u);
}

BOOST_AUTO_TEST_CASE(a_url_of_openais_api_finds_the_file) {
  rig r;
  add_openai_routes(r.routes, r.filed, r.context());
  const auto call = r.post_json("/v1/images/generations",
                                {{"prompt", "a"}, {"response_format", "url"}});
  r.images->finish(1);
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.count() == 1u);
  const std::string url = call->body()["data"][0]["url"];
  const auto path = url.substr(url.find("/v1/"));
  BOOST_TEST(r.get(path)->answered->body == std::string(1000, 'a'));
  fs::remove_all(r.folder);
  BOOST_TEST(r.get(path)->status() == 410u);
  fs::create_directories(r.folder);
}

BOOST_AUTO_TEST_CASE(in_any_order_limits_hold_and_bytes_are_the_right_ones) {
  std::mt19937_64 random{test::seed()};
  const auto below = [&](uint64_t most) { return random() % most; };
  for (uint64_t run = 0; run < test::scaled(2000); ++run) {
    job_limits within;
    within.jobs = 8;
    within.kept = 20s;
    within.kept_bytes = 4000 + below(20'000);
    within.kept_disk_bytes = 4000 + below(20'000);
    rig r{within};
    r.images->bytes_of = [](const generation& g) {
      return std::vector<uint8_t>(size_t{16} << (g.prompt[0] % 9),
                                  static_cast<uint8_t>(g.prompt[0]));
    };
    std::vector<std::pair<std::string, char>> made;
    for (int i = 0; i < 60; ++i) {
      r.now += std::chrono::milliseconds{below(1500)};
      switch (below(5)) {
        case 0:
        case 1: {
          const auto letter = static_cast<char>('a' + below(26));
          made.emplace_back(r.done(std::string{letter}), letter);
          break;
        }
        case 2:
          r.filed->tick();
          r.filed->put_away();
          break;
        case 3:
          // The disk disappears and returns.
          if (fs::exists(r.folder) && below(4) == 0)
            fs::rename(r.folder, r.folder.string() + "-away");
          else if (!fs::exists(r.folder))
            fs::rename(r.folder.string() + "-away", r.folder);
          break;
        default:
          if (made.empty() || !fs::exists(r.folder))
            break;
          const auto& [id, letter] = made[below(made.size())];
          const auto got = r.get("/v1/jobs/" + id + "/images/0");
          // The status may be 404: after many later jobs even its name is
          // forgotten.
          BOOST_TEST((got->status() == 200u || got->status() == 410u
                      || got->status() == 404u));
          if (got->status() == 200u)
            BOOST_TEST(got->answered->body
                       == std::string(size_t{16} << (letter % 9), letter));
      }
      const auto kept = r.filed->kept();
      BOOST_TEST(kept.bytes <= within.kept_bytes);
      BOOST_TEST(kept.disk_bytes <= within.kept_disk_bytes);
    }
    if (!fs::exists(r.folder))
      fs::rename(r.folder.string() + "-away", r.folder);
    r.now += 30s;
    r.filed->tick();
    r.filed->put_away();
    r.filed->tick();
    r.filed->put_away();
    const auto kept = r.filed->kept();
    BOOST_TEST(kept.jobs + kept.bytes + kept.disk_bytes == 0u);
  }
}

BOOST_AUTO_TEST_CASE(an_end_of_the_server_leaves_no_file) {
  rig r;
  r.done("a");
  r.done("b");
  r.filed->tick();
  r.filed->put_away();
  BOOST_TEST(r.count() == 2u);
  r.routes = {};
  r.filed.reset();
  BOOST_TEST(r.count() == 0u);
}

BOOST_AUTO_TEST_CASE(files_are_read_apart_from_pixels) {
  rig r;
  const auto id = r.done("a");
  r.filed->put_away();
  auto with = r.context();
  with.elsewhere = [](const std::string&, std::function<void()>) {
    BOOST_ERROR("a file is read where pixels are processed");
    return true;
  };
  std::vector<std::string> read;
  with.at_files = [&](const std::string& whose, std::function<void()> work) {
    read.push_back(whose);
    work();
    return true;
  };
  r.routes = {};
  add_job_routes(r.routes, r.filed, with);
  add_openai_routes(r.routes, r.filed, with);
  for (const auto& path : {"/v1/jobs/" + id + "/images/0", "/v1/jobs/" + id,
                           "/v1/images/" + id + "-0/content"})
    BOOST_TEST(r.get(path)->status() == 200u);
  r.get("/v1/jobs/" + id + "/events?images=b64_json");
  BOOST_TEST(read == std::vector<std::string>(4, "key ann"),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(files_without_a_key_are_read_in_turns_of_addresses) {
  rig r;
  r.key.clear();
  const auto id = r.done("a");
  r.filed->put_away();
  auto with = r.context();
  std::vector<std::string> read;
  with.at_files = [&](const std::string& whose, std::function<void()> work) {
    read.push_back(whose);
    work();
    return true;
  };
  r.routes = {};
  add_job_routes(r.routes, r.filed, with);
  for (const auto* client : {"192.0.2.1", "192.0.2.2", "2001:db8::1:2"}) {
    r.client = client;
    BOOST_TEST(r.get("/v1/jobs/" + id)->status() == 200u);
  }
  BOOST_TEST(
    read == (std::vector<std::string>{"192.0.2.1", "192.0.2.2", "2001:db8::"}),
    boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(disk_quota_is_shared_between_keys) {
  job_limits within;
  within.kept_disk_bytes = 4 * 2100;
  rig r{within};
  const auto of_ann = r.done("a");
  r.filed->put_away();
  r.key = "bob";
  std::vector<std::string> of_bob;
  for (int i = 0; i < 10; ++i) {
    r.now += 1s;
    of_bob.push_back(r.done("b"));
    r.filed->put_away();
  }
  BOOST_TEST(r.count() == 4u);
  BOOST_TEST(r.image_of(of_bob.front()) == 410u);
  BOOST_TEST(r.image_of(of_bob.back()) == 200u);
  r.key = "ann";
  BOOST_TEST(r.image_of(of_ann) == 200u);
}

BOOST_AUTO_TEST_CASE(deleted_job_loses_its_files) {
  rig r;
  const auto id = r.done("a");
  r.filed->put_away();
  BOOST_TEST(r.count() == 1u);
  request_message x;
  x.method = "DELETE";
  x.path = "/v1/jobs/" + id;
  BOOST_TEST(r.ask(std::move(x))->status() == 204u);
  BOOST_TEST(r.image_of(id) == 410u);
  r.filed->put_away();
  BOOST_TEST(r.count() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
