// SPDX-License-Identifier: Apache-2.0

// A cache whose disk is slow, does not answer or fails, under load: every
// request is answered, and the disk is left out.

#include <boost/test/unit_test.hpp>
#include <process/cache_attacks/attack_rig.hpp>
#include <process/cache_attacks/held_disk.hpp>
#include <support/eventually.hpp>

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::disk_answer;

namespace atelier::test {

std::ostream& operator<<(std::ostream& out, disk_answer x);

std::ostream& operator<<(std::ostream& out, disk_answer x) {
  constexpr const char* names[] = {"at once", "late", "never", "with faults"};
  return out << names[static_cast<size_t>(x)];
}

} // namespace atelier::test

namespace {

constexpr disk_answer faults[] = {disk_answer::late, disk_answer::never,
                                  disk_answer::with_faults};
/// Failures in a row after which a disk is left out.
constexpr uint64_t most_failures = 3;
constexpr size_t prompts = 8;
constexpr size_t load = 40;

std::string lake_prompt(size_t i) {
  const auto n = std::to_string(i);
  return "tower" + n + " over" + n + " lake" + n;
}

struct disk_fixture : test::attack_rig {
  ~disk_fixture() {
    disk_reads(disk_answer::at_once);
    disk_writes(disk_answer::at_once);
  }

  std::unique_ptr<engine> open(const std::string& retry_s,
                               const std::string& wait_ms = "50") {
    return open(retry_s, wait_ms, wait_ms);
  }

  std::unique_ptr<engine> open(const std::string& retry_s,
                               const std::string& wait_ms,
                               const std::string& write_wait_ms) {
    const auto with = test::options_of(
      test::mode::single,
      settings(test::tier::memory,
               {"cache.folder='" + (folder.path / "kept").string() + "'",
                "cache.disk_wait_ms=" + wait_ms,
                "cache.disk_write_wait_ms=" + write_wait_ms,
                "cache.disk_retry_s=" + retry_s}));
    std::unique_ptr<engine> out;
    // A call that the disk held may still have the folder.
    BOOST_TEST_REQUIRE(test::eventually([&] {
      auto made = engine::start(with);
      if (made)
        out = std::get<0>(std::move(made));
      return out != nullptr;
    }));
    return out;
  }

  /// Leaves images on the disk and copies of none in memory.
  void leave_images() {
    auto sut = open("3600", "60000");
    for (size_t i = 0; i < prompts; ++i)
      draw(*sut, "", lake_prompt(i));
    BOOST_TEST_REQUIRE(sut->status().cache.value().entries == prompts);
    BOOST_TEST_REQUIRE(sut->stop(10s));
  }

  /// Requires an image for each of many requests at once.
  static void all_are_answered(engine& by, const char* use, size_t first = 0) {
    std::vector<generation> wanted;
    for (size_t i = 0; i < load; ++i) {
      wanted.push_back(
        test::recall_rig::wanted(lake_prompt(first + i % prompts)));
      wanted.back().cache = use;
    }
    for (const auto& x : test::answers_to(by, wanted))
      test::image_in(x);
    BOOST_TEST(test::comes_to_rest(by));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(slow_disk_test, disk_fixture)

BOOST_AUTO_TEST_CASE(a_disk_that_cannot_be_read_is_left_out) {
  leave_images();
  for (const auto fault : faults)
    BOOST_TEST_CONTEXT("it answers " << fault) {
      auto sut = open("3600");
      disk_reads(fault);
      all_are_answered(*sut, "read");
      // No request waited for it after that.
      auto told = sut->status().cache.value();
      // The second of two workers may have been waiting for it, too.
      const auto failures = told.failures;
      BOOST_TEST(failures >= most_failures);
      BOOST_TEST(failures <= most_failures + 1);
      BOOST_TEST(told.reads_left_out);
      BOOST_TEST(!told.writes_left_out);
      const auto hits = told.hits;
      all_are_answered(*sut, "read");
      told = sut->status().cache.value();
      BOOST_TEST(told.failures == failures);
      BOOST_TEST(told.hits == hits);
      BOOST_TEST(sut->stop(10s));
      // Its end does not wait for the disk either.
      sut.reset();
      disk_reads(disk_answer::at_once);
    }
}

BOOST_AUTO_TEST_CASE(a_disk_that_cannot_be_written_is_left_out) {
  for (const auto fault : faults)
    BOOST_TEST_CONTEXT("it answers " << fault) {
      auto sut = open("3600");
      disk_writes(fault);
      all_are_answered(*sut, "on");
      BOOST_TEST(test::eventually(
        [&] { return sut->status().cache.value().writes_left_out; }));
      all_are_answered(*sut, "on");
      const auto told = sut->status().cache.value();
      BOOST_TEST(told.failures == most_failures);
      BOOST_TEST(!told.reads_left_out);
      BOOST_TEST(sut->stop(10s));
      sut.reset();
      disk_writes(disk_answer::at_once);
    }
}

BOOST_AUTO_TEST_CASE(reading_and_storing_have_waits_of_their_own) {
  leave_images();
  auto sut = open("3600", "60000", "50");
  disk_reads(disk_answer::late);
  disk_writes(disk_answer::never);
  // What repeats a kept prompt is not stored.
  all_are_answered(*sut, "on", prompts);
  BOOST_TEST(test::eventually(
    [&] { return sut->status().cache.value().writes_left_out; }));
  BOOST_TEST(ask(*sut, "", lake_prompt(0)).is_hit());
  const auto told = sut->status().cache.value();
  BOOST_TEST(told.failures == most_failures);
  BOOST_TEST(!told.reads_left_out);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(no_search_waits_while_results_are_stored) {
  constexpr size_t most_pending = 16;
  constexpr size_t more = 4;
  leave_images();
  auto sut = open("3600", "60000");
  disk_writes(disk_answer::never);
  for (size_t i = 0; i < most_pending + more; ++i)
    test::image_in(test::answers_to(*sut, {test::recall_rig::wanted(
                                            "sea" + std::to_string(i))})
                     .front());
  auto similar = test::recall_rig::wanted(lake_prompt(0));
  similar.cache = "read";
  BOOST_TEST(test::image_in(test::answers_to(*sut, {similar}).front())
               .reused.has_value());
  BOOST_TEST(test::eventually([&] {
    const auto told = sut->status().cache.value();
    return told.pending == most_pending && told.overflowed == more;
  }));
  BOOST_TEST(sut->status().cache.value().entries == prompts);
  disk_writes(disk_answer::at_once);
  BOOST_TEST(test::comes_to_rest(*sut));
  const auto told = sut->status().cache.value();
  BOOST_TEST(told.entries == prompts + most_pending);
  BOOST_TEST(told.failures == 0u);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(a_disk_that_answers_again_is_used_again) {
  leave_images();
  for (const auto fault : faults)
    BOOST_TEST_CONTEXT("it answers " << fault) {
      auto sut = open("0.05");
      disk_reads(fault);
      disk_writes(fault);
      all_are_answered(*sut, "on");
      disk_reads(disk_answer::at_once);
      disk_writes(disk_answer::at_once);
      BOOST_TEST(test::eventually(
        [&] { return ask(*sut, "", lake_prompt(0)).is_hit(); }));
      BOOST_TEST(!sut->status().cache.value().reads_left_out);
      // An image that was kept late counts for no answer of the disk.
      BOOST_TEST(test::eventually([&] {
        const auto before = sut->status().cache.value().entries;
        draw(*sut, "", "another " + std::to_string(before) + " tree");
        const auto told = sut->status().cache.value();
        return told.entries > before && !told.writes_left_out;
      }));
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_SUITE_END()
