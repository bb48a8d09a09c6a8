// SPDX-License-Identifier: Apache-2.0
#include "live_executor.hpp"
#include <atelier/gpu/batching/decode_turns.hpp>
#include <atelier/gpu/device/detail/device_thread.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

using namespace atelier;
using namespace atelier::gpu;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(decode_share)

namespace {

constexpr uint32_t parts = 6;

/// Records the device's work: 's' is a step; 'p' is a part of an image, which
/// takes longer than a step; 'd' is the last part of an image.
class noted_rows final : public detail::row_engine {
public:
  explicit noted_rows(std::shared_ptr<std::string> log)
    : log_(std::move(log)) {}

  void open(const open_job&) override {}

  void close(core::ticket) override {}

  uint32_t steps_left(const std::vector<core::ticket>&,
                      uint32_t most) override {
    return most;
  }

  void step(const std::vector<core::ticket>&) override {
    *log_ += 's';
  }

  std::vector<row_report> report(
    const std::vector<core::ticket>& who) override {
    std::vector<row_report> all;
    for (const auto x : who)
      all.push_back({x, 1, true, {}, {}});
    return all;
  }

  std::optional<decode_report> decode_part(core::ticket who) override {
    const auto end = core::time_point::clock::now() + 1ms;
    while (core::time_point::clock::now() < end)
      std::this_thread::yield();
    if (++done_[who] < parts) {
      *log_ += 'p';
      return std::nullopt;
    }
    *log_ += 'd';
    decode_report x;
    x.ticket = who;
    return x;
  }

private:
  const std::shared_ptr<std::string> log_;
  std::unordered_map<core::ticket, uint32_t> done_;
};

/// A device that holds no model. Its log may be read between two reports.
struct noted_device {
  std::shared_ptr<std::string> log = std::make_shared<std::string>();
  test::inbox<run_report> ran;
  test::inbox<decode_report> decoded;
  std::shared_ptr<executor> sut;

  noted_device() {
    sut = std::make_shared<detail::device_thread>(
      std::make_unique<noted_rows>(log));
    sut->connect({[this](run_report x) { ran.put(std::move(x)); },
                  [this](decode_report x) { decoded.put(std::move(x)); }});
  }
};

constexpr core::ticket first{core::request_id{1}, 1};
constexpr core::ticket second{core::request_id{2}, 1};
constexpr core::ticket third{core::request_id{3}, 1};

} // namespace

BOOST_AUTO_TEST_CASE(one_part_always_runs_and_more_within_the_bound) {
  static_assert(may_decode_more(0ms, 500ms, 0ms));
  static_assert(may_decode_more(0ms, 500ms, 10ms));
  static_assert(may_decode_more(14ms, 6ms, 10ms));
  static_assert(!may_decode_more(15ms, 6ms, 10ms));
  static_assert(!may_decode_more(1ms, 1ms, 0ms));
  BOOST_TEST(!may_decode_more(20ms, 1ns, 10ms));
}

BOOST_FIXTURE_TEST_CASE(a_step_waits_for_a_part_and_not_for_a_image,
                        noted_device) {
  sut->decode(first);
  sut->run({{second}, 8});
  const auto image = decoded.take();
  const auto steps = ran.take();
  BOOST_TEST((image.ticket == first));
  BOOST_TEST(steps.steps == 8u);
  // The amount that ran before the steps were requested depends on the machine.
  const auto begin = log->find('s');
  const auto end = log->find('d');
  BOOST_REQUIRE(end != std::string::npos);
  for (auto i = begin; i < end; ++i)
    BOOST_TEST(((*log)[i] == 's') == ((i - begin) % 2 == 0), *log);
  BOOST_TEST(log->size() == 8u + parts);
  // Each report has only its own time.
  BOOST_CHECK(image.took >= parts * 1ms);
  BOOST_CHECK(steps.took < parts * 1ms);
  BOOST_CHECK(image.ended <= steps.ended);
}

BOOST_FIXTURE_TEST_CASE(images_are_done_one_after_the_other, noted_device) {
  sut->decode(first);
  sut->decode(second);
  sut->run({{third}, 3 * parts});
  BOOST_TEST((decoded.take().ticket == first));
  BOOST_TEST((decoded.take().ticket == second));
  BOOST_TEST(ran.take().steps == 3 * parts);
}

BOOST_FIXTURE_TEST_CASE(images_go_on_where_nothing_runs, noted_device) {
  sut->decode(first);
  BOOST_TEST((decoded.take().ticket == first));
  BOOST_TEST(*log == std::string(parts - 1, 'p') + 'd');
}

BOOST_FIXTURE_TEST_CASE(one_that_is_closed_is_not_told_of, noted_device) {
  sut->decode(first);
  sut->close(first);
  sut->decode(second);
  // The first image may have been done before it was closed.
  auto told = decoded.take();
  if (told.ticket == first)
    told = decoded.take();
  BOOST_TEST((told.ticket == second));
}

BOOST_AUTO_TEST_SUITE_END()
