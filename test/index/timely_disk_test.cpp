// SPDX-License-Identifier: Apache-2.0
#include "index/store_rig.hpp"
#include <atelier/index/memory.hpp>
#include <atelier/index/timely.hpp>

#include <boost/test/unit_test.hpp>
#include <support/eventually.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;
using test::code_of;

constexpr std::string_view key = "k";
constexpr std::string_view text = "a red fox";

/// Kept work in memory behind a disk that stops answering.
class stuck_disk final : public index::kept_work {
public:
  explicit stuck_disk(std::shared_future<void> let_go)
    : let_go_(std::move(let_go)) {}

  std::vector<planning::match> near(std::string_view at, std::string_view of,
                                    const index::search_terms& by) override {
    return kept_.near(at, of, by);
  }

  core::result<index::payload> state(uint64_t entry, uint32_t steps) override {
    answer(reads_stick);
    if (throws)
      throw std::bad_alloc{};
    return kept_.state(entry, steps);
  }

  core::result<index::payload> image(uint64_t entry, core::extent px,
                                     uint32_t skips) override {
    answer(reads_stick);
    return kept_.image(entry, px, skips);
  }

  void drop_torn(uint64_t entry) override {
    kept_.drop_torn(entry);
    unwritten = true;
  }

  bool has_unwritten() const override {
    return unwritten;
  }

  void write_back() override {
    answer(writes_stick);
    unwritten = false;
  }

  bool keep(std::string_view at, std::string_view of,
            index::leftover what) override {
    answer(writes_stick);
    if (throws)
      throw 7;
    return kept_.keep(at, of, std::move(what));
  }

  index::kept_counts counts() const override {
    return kept_.counts();
  }

  core::result<std::vector<index::kept_entry>> list(
    const index::entry_page& which) override {
    if (throws)
      throw std::bad_alloc{};
    return kept_.list(which);
  }

  std::vector<float> vector_of(std::string_view at,
                               std::string_view of) override {
    return kept_.vector_of(at, of);
  }

  std::optional<index::space_extent> extent(
    std::string_view space) const override {
    return kept_.extent(space);
  }

  std::vector<float> vectors(std::string_view space,
                             size_t most) const override {
    return kept_.vectors(space, most);
  }

  std::atomic<bool> reads_stick = false;
  std::atomic<bool> writes_stick = false;
  std::atomic<bool> unwritten = false;
  std::atomic<bool> throws = false;
  /// Calls that came while it did not answer.
  std::atomic<int> stuck = 0;

private:
  void answer(const std::atomic<bool>& sticks) {
    if (!sticks)
      return;
    ++stuck;
    let_go_.wait();
  }

  std::shared_future<void> let_go_;
  index::memory kept_{{1 << 20, 100}};
};

struct fixture {
  fixture() {
    // Long for a call that waits for no disk, also on a busy machine.
    how.read_wait = how.write_wait = 100ms;
    // A call that has not ended may use the clock after the fixture's end.
    how.now = [at = seconds] { return core::time_point{} + at->load() * 1s; };
    sut = make();
  }

  ~fixture() {
    release();
  }

  std::unique_ptr<index::timely_work> make() const {
    return std::make_unique<index::timely_work>(disk, queue, how);
  }

  void release() {
    if (!std::exchange(released, true))
      let_go.set_value();
  }

  bool keep() {
    return sut->keep(key, text, test::kept_states({8}));
  }

  ec read() {
    return code_of(sut->state(1, 5));
  }

  size_t found() {
    return sut->near(key, text, {1}).size();
  }

  std::shared_ptr<std::atomic<int>> seconds =
    std::make_shared<std::atomic<int>>(0);
  index::queue_bounds queue{0};
  index::disk_pace how;
  std::promise<void> let_go;
  bool released = false;
  std::shared_ptr<stuck_disk> disk =
    std::make_shared<stuck_disk>(let_go.get_future().share());
  std::unique_ptr<index::timely_work> sut;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(timely_disk_test, fixture)

BOOST_AUTO_TEST_CASE(a_disk_that_answers_is_not_noticed) {
  how.read_wait = how.write_wait = 60s;
  sut = make();
  BOOST_TEST(keep());
  auto with_image = test::kept_states({});
  with_image.image = test::filled_bytes(8, 2);
  with_image.px = test::kept_px;
  BOOST_TEST(sut->keep(key, "three grey wolves", with_image));
  BOOST_TEST(found() == 1u);
  const auto state = sut->state(1, 5);
  BOOST_TEST_REQUIRE(bool{state});
  BOOST_TEST((**state == test::kept_states({8}).states.front().bytes));
  BOOST_TEST((code_of(sut->state(9, 5)) == ec::not_found));
  BOOST_TEST((code_of(sut->image(2, test::kept_px, 5)) == ec::none));
  sut->drop_torn(2);
  // Writing back has its turn before.
  BOOST_TEST(keep());
  BOOST_TEST(!disk->unwritten);
  BOOST_TEST(sut->extent(key)->entries == 2u);
  const auto fox = sut->vector_of(key, text);
  BOOST_TEST(!fox.empty());
  BOOST_TEST((sut->vectors(key, 1) == fox));
  const auto listed = sut->list({0, 10});
  BOOST_TEST_REQUIRE(bool{listed});
  BOOST_TEST(listed->size() == 2u);
  const auto told = sut->counts();
  BOOST_TEST(told.entries == 2u);
  BOOST_TEST(told.dropped_torn == 1u);
  BOOST_TEST(told.failed == 0u);
  BOOST_TEST(!told.reads_left_out);
  BOOST_TEST(!told.writes_left_out);
}

BOOST_AUTO_TEST_CASE(nothing_is_found_on_a_disk_that_does_not_answer) {
  BOOST_TEST_REQUIRE(disk->keep(key, text, test::kept_states({8})));
  disk->reads_stick = true;
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(!sut->counts().reads_left_out);
    BOOST_TEST(found() == 1u);
    BOOST_TEST((read() == ec::io_failed));
  }
  auto told = sut->counts();
  BOOST_TEST(told.reads_left_out);
  BOOST_TEST(!told.writes_left_out);
  BOOST_TEST(told.failed == 3u);
  const auto misses = told.misses;
  BOOST_TEST(found() == 0u);
  BOOST_TEST(sut->counts().misses == misses + 1);
  // It is not asked.
  BOOST_TEST((code_of(sut->image(1, test::kept_px, 5)) == ec::io_failed));
  BOOST_TEST(sut->counts().failed == 3u);
  BOOST_TEST(test::eventually([&] { return keep(); }));
  // It is tried once after a while.
  *seconds = 31;
  BOOST_TEST(!sut->counts().reads_left_out);
  BOOST_TEST(found() == 1u);
  BOOST_TEST((read() == ec::io_failed));
  BOOST_TEST(sut->counts().reads_left_out);
  BOOST_TEST(found() == 0u);
  disk->reads_stick = false;
  release();
  BOOST_TEST(test::eventually([&] {
    *seconds += 31;
    return read() == ec::none;
  }));
  BOOST_TEST(found() == 1u);
  BOOST_TEST(!sut->counts().reads_left_out);
}

BOOST_AUTO_TEST_CASE(nothing_is_kept_on_a_disk_that_does_not_answer) {
  BOOST_TEST_REQUIRE(disk->keep(key, text, test::kept_states({8})));
  disk->writes_stick = true;
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(!sut->counts().writes_left_out);
    BOOST_TEST(!keep());
  }
  BOOST_TEST(sut->counts().writes_left_out);
  BOOST_TEST(sut->counts().failed == 3u);
  BOOST_TEST(!keep());
  BOOST_TEST(sut->counts().failed == 3u);
  // Reads continue.
  BOOST_TEST(found() == 1u);
  BOOST_TEST(test::eventually([&] { return read() == ec::none; }));
  // No call waits for an entry that leaves.
  sut->drop_torn(1);
  BOOST_TEST(sut->counts().dropped_torn == 1u);
  BOOST_TEST(disk->unwritten);
  disk->writes_stick = false;
  release();
  BOOST_TEST(test::eventually([&] {
    *seconds += 31;
    return keep();
  }));
  BOOST_TEST(!sut->counts().writes_left_out);
  BOOST_TEST(!disk->unwritten);
}

// A request waits for what is read, and none for what is kept.
BOOST_AUTO_TEST_CASE(a_write_may_take_longer_than_a_read) {
  how.read_wait = 10ms;
  how.write_wait = 60s;
  sut = make();
  disk->reads_stick = disk->writes_stick = true;
  auto kept = std::async(std::launch::async, [&] { return keep(); });
  BOOST_TEST_REQUIRE(test::eventually([&] { return disk->stuck == 1; }));
  BOOST_TEST((read() == ec::io_failed));
  release();
  BOOST_TEST(kept.get());
  BOOST_TEST(sut->counts().failed == 1u);
}

BOOST_AUTO_TEST_CASE(late_writes_of_queued_work_count_and_hold_no_place) {
  queue = {2, 60s};
  how.write_wait = 10ms;
  sut = make();
  disk->writes_stick = true;
  for (uint64_t i = 1; i <= 3; ++i) {
    BOOST_TEST(keep());
    BOOST_TEST(test::eventually([&] { return sut->counts().failed == i; }));
  }
  BOOST_TEST(sut->counts().writes_left_out);
  // The disk is left out.
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(test::eventually([&] { return sut->counts().pending == 0; }));
    BOOST_TEST(keep());
  }
  BOOST_TEST(test::eventually([&] { return sut->counts().pending == 0; }));
  BOOST_TEST(sut->counts().failed == 3u);
  BOOST_TEST(sut->counts().overflowed == 0u);
}

BOOST_AUTO_TEST_CASE(a_call_that_throws_has_failed_and_ends_nothing_else) {
  how.read_wait = how.write_wait = 60s;
  sut = make();
  BOOST_TEST_REQUIRE(keep());
  disk->throws = true;
  BOOST_TEST((read() == ec::io_failed));
  BOOST_TEST(!keep());
  BOOST_TEST((code_of(sut->list({0, 10})) == ec::io_failed));
  BOOST_TEST(sut->counts().failed == 3u);
  // It was not late.
  BOOST_TEST(!sut->counts().reads_left_out);
  disk->throws = false;
  BOOST_TEST((read() == ec::none));
  BOOST_TEST(keep());
}

BOOST_AUTO_TEST_CASE(its_end_does_not_wait_for_a_disk_that_does_not_answer) {
  how.grace = 20ms;
  sut = make();
  disk->reads_stick = true;
  BOOST_TEST((code_of(sut->state(1, 5)) == ec::io_failed));
  sut.reset();
  // The call that has not ended owns it.
  const std::weak_ptr<index::kept_work> left = disk;
  disk.reset();
  BOOST_TEST(!left.expired());
  release();
  BOOST_TEST(test::eventually([&] { return left.expired(); }));
}

BOOST_AUTO_TEST_CASE(its_end_does_not_wait_for_queued_work_on_such_a_disk) {
  queue = {2, 20ms};
  how.write_wait = 60s;
  how.grace = 20ms;
  sut = make();
  disk->writes_stick = true;
  BOOST_TEST(keep());
  BOOST_TEST_REQUIRE(test::eventually([&] { return disk->stuck == 1; }));
  BOOST_TEST(keep());
  sut.reset();
  const std::weak_ptr<index::kept_work> left = disk;
  disk.reset();
  BOOST_TEST(!left.expired());
  release();
  BOOST_TEST(test::eventually([&] { return left.expired(); }));
}

BOOST_AUTO_TEST_SUITE_END()
