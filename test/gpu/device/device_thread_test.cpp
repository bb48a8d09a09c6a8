// SPDX-License-Identifier: Apache-2.0
#include "live_executor.hpp"
#include <atelier/gpu/device/detail/device_thread.hpp>
#include <atelier/planning/random_judge.hpp>
#include <atelier/planning/route.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>

using namespace atelier;
using namespace atelier::gpu;

namespace {

/// Rows that fail at every image for a judge, as if no device had the judge. A
/// row without text cannot be decoded.
class judgeless_rows final : public detail::row_engine {
public:
  void open(const open_job& job) override {
    jobs_[job.ticket] = job;
  }

  void close(core::ticket who) override {
    jobs_.erase(who);
  }

  uint32_t steps_left(const std::vector<core::ticket>&, uint32_t) override {
    return 0;
  }

  void step(const std::vector<core::ticket>&) override {}

  std::vector<row_report> report(const std::vector<core::ticket>&) override {
    return {};
  }

  std::optional<decode_report> decode_part(core::ticket who) override {
    const auto& job = jobs_.at(who);
    decode_report x;
    x.ticket = who;
    x.score = job.judge.empty() ? 0 : planning::unjudged;
    if (job.recipe.seed == 0)
      x.failure = core::fail(core::ec::internal, "no seed");
    return x;
  }

private:
  std::map<core::ticket, open_job> jobs_;
};

/// Rows whose images have four parts each.
class parted_rows final : public detail::row_engine {
public:
  explicit parted_rows(bool together) : together_(together) {}

  void open(const open_job&) override {}

  void close(core::ticket) override {}

  uint32_t steps_left(const std::vector<core::ticket>&, uint32_t) override {
    return 0;
  }

  void step(const std::vector<core::ticket>&) override {}

  std::vector<row_report> report(const std::vector<core::ticket>&) override {
    return {};
  }

  bool may_begin(core::ticket) override {
    BOOST_TEST(open_ > 0);
    return together_;
  }

  std::optional<decode_report> decode_part(core::ticket who) override {
    auto& parts = parts_[who];
    open_ += parts == 0 ? 1 : 0;
    if (!together_)
      BOOST_TEST(open_ == 1);
    if (++parts < 4)
      return std::nullopt;
    --open_;
    decode_report x;
    x.ticket = who;
    return x;
  }

private:
  bool together_;
  int open_ = 0;
  std::map<core::ticket, int> parts_;
};

struct fixture {
  fixture() {
    sut.connect({[](run_report) {},
                 [this](decode_report x) { decoded.put(std::move(x)); }});
  }

  /// Returns the result of an image with that seed and that judge.
  decode_report judged(uint64_t seed, std::string_view judge) {
    open_job job;
    job.ticket = {core::request_id{1}, ++attempts_};
    job.recipe.seed = seed;
    job.judge = judge;
    sut.open(job);
    sut.decode(job.ticket);
    auto x = decoded.take();
    sut.close(job.ticket);
    return x;
  }

  test::inbox<decode_report> decoded;
  detail::device_thread sut{std::make_unique<judgeless_rows>()};

private:
  uint32_t attempts_ = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(device_thread_test, fixture)

BOOST_AUTO_TEST_CASE(the_judge_that_draws_needs_nothing_of_the_rows) {
  for (uint64_t seed = 1; seed <= 20; ++seed)
    BOOST_TEST(judged(seed, planning::random_judge).score
               == planning::random_score(seed));
  BOOST_TEST(judged(1, planning::random_judge).score
             != judged(2, planning::random_judge).score);
  BOOST_TEST(judged(1, "").score == 0.0);
  BOOST_TEST(judged(1, "critic").score == planning::unjudged);
}

BOOST_AUTO_TEST_CASE(what_failed_is_not_judged) {
  const auto x = judged(0, planning::random_judge);
  BOOST_TEST((x.failure.code == core::ec::internal));
  BOOST_TEST(x.score == 0.0);
}

BOOST_AUTO_TEST_CASE(images_that_may_not_be_open_together_wait) {
  for (const bool together : {false, true}) {
    test::inbox<decode_report> images;
    detail::device_thread device{std::make_unique<parted_rows>(together)};
    device.connect(
      {[](run_report) {}, [&](decode_report x) { images.put(std::move(x)); }});
    constexpr uint32_t tenants = 8;
    std::vector<core::ticket> who;
    for (uint32_t i = 1; i <= tenants; ++i) {
      open_job job;
      job.ticket = {core::request_id{i}, 1};
      job.tenant = core::tenant_id{i};
      device.open(job);
      who.push_back(job.ticket);
    }
    for (const auto x : who)
      device.decode(x);
    for (uint32_t i = 0; i < tenants; ++i)
      BOOST_TEST(images.take().failure.text == "");
  }
}

BOOST_AUTO_TEST_CASE(calls_run_in_their_turn_on_the_thread_of_the_device) {
  test::inbox<std::thread::id> ran;
  detail::device_thread device{std::make_unique<judgeless_rows>()};
  device.connect({[&](run_report) { ran.put(std::this_thread::get_id()); },
                  [](decode_report) {}});
  std::atomic<int> calls = 0;
  const auto call = [&] {
    ++calls;
    ran.put(std::this_thread::get_id());
  };
  device.call(call);
  const auto its = ran.take();
  BOOST_TEST((its != std::this_thread::get_id()));
  device.run({{}, 1});
  device.call(call);
  BOOST_TEST((ran.take() == its));
  BOOST_TEST((ran.take() == its));
  BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(a_call_that_throws_ends_nothing_else) {
  test::inbox<int> ran;
  sut.call([] { throw std::runtime_error("scripted"); });
  sut.call([&] { ran.put(1); });
  BOOST_TEST(ran.take() == 1);
}

BOOST_AUTO_TEST_CASE(calls_that_wait_at_the_end_are_freed) {
  const auto held = std::make_shared<int>(0);
  std::promise<void> go_on;
  {
    detail::device_thread device{std::make_unique<judgeless_rows>()};
    device.connect({[](run_report) {}, [](decode_report) {}});
    test::inbox<int> began;
    device.call([&, wait = go_on.get_future().share()] {
      began.put(1);
      wait.wait();
    });
    device.call([held] { ++*held; });
    began.take();
    std::thread release{[&] { go_on.set_value(); }};
    release.join();
  }
  BOOST_TEST(held.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
