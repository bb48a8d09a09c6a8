// SPDX-License-Identifier: Apache-2.0

// A journal and results whose disk does not end a write. This program's `fsync`
// and `fdatasync` take the place of the system's, also for SQLite.

#include "support/fake_images.hpp"
#include "support/job_rig.hpp"
#include <atelier/runtime/http/journal_writer.hpp>
#include <atelier/runtime/http/result_files.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <support/eventually.hpp>
#include <support/write_gate.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <variant>
#include <vector>

using namespace atelier;
using namespace atelier::runtime::http;
using namespace std::chrono_literals;
using test::disk_gate;

namespace {

constexpr uint64_t mib = 1 << 20;

/// A server's jobs over a journal on a disk, which is closed at first.
struct fixture : test::job_rig {
  fixture() {
    auto file = journal_file::open(folder.path / "jobs.sqlite", 10);
    BOOST_REQUIRE(file);
    auto files = result_files::open(folder.path / "results", {});
    BOOST_REQUIRE(files);
    disk_gate.close();
    journal = std::make_shared<journal_writer>(
      std::move(*file), journal_queue{4 * mib, 10s, [this] {
                                        return core::time_point{}
                                             + seconds.load() * 1s;
                                      }});
    kept =
      std::make_shared<jobs>(images, job_limits{}, clocks(), *files, journal);
  }

  ~fixture() {
    disk_gate.open();
    // The thread of the journal must not be the one that ends it.
    kept.reset();
    test::eventually([&] { return journal.use_count() == 1; });
    journal.reset();
  }

  /// Submits a job with an input image of that size.
  void submit(uint64_t bytes) {
    job_request what;
    what.keeps = true;
    what.images.resize(1);
    what.images[0].image.resize(bytes);
    kept->take_on(std::move(what), [this](const auto& got) {
      const auto* const why = std::get_if<failure>(&got);
      ++(why == nullptr ? taken : refused);
      if (why != nullptr && why->code != jobs::not_journalled)
        ++wrong;
    });
  }

  const test::scratch_folder folder;
  std::atomic<int> seconds = 0;
  std::atomic<uint64_t> taken = 0;
  std::atomic<uint64_t> refused = 0;
  std::atomic<uint64_t> wrong = 0;
  std::shared_ptr<journal_writer> journal;
  std::shared_ptr<jobs> kept;
};

} // namespace

extern "C" int fsync(int file) {
  disk_gate.pass();
  return static_cast<int>(syscall(SYS_fsync, file));
}

extern "C" int fdatasync(int file) {
  disk_gate.pass();
  return static_cast<int>(syscall(SYS_fdatasync, file));
}

BOOST_FIXTURE_TEST_SUITE(journal_stalled_test, fixture)

BOOST_AUTO_TEST_CASE(a_disk_that_does_not_answer_bounds_the_jobs_in_memory) {
  submit(mib);
  BOOST_TEST_REQUIRE(test::eventually([] { return disk_gate.is_reached(); }));
  for (int i = 1; i < 300; ++i)
    submit(mib);
  // The fourth fills the queue.
  BOOST_TEST(refused == 296u);
  BOOST_TEST(taken == 0u);
  disk_gate.open();
  BOOST_TEST(test::eventually([&] { return taken == 4u; }));
  BOOST_TEST(test::eventually([&] { return !journal->is_behind(); }));
  submit(mib);
  BOOST_TEST(test::eventually([&] { return taken == 5u; }));
  BOOST_TEST(wrong == 0u);
  BOOST_TEST(kept->open() == 5u);
}

BOOST_AUTO_TEST_CASE(a_job_larger_than_the_queue_is_taken_alone) {
  submit(9 * mib);
  BOOST_TEST(refused == 0u);
  submit(1);
  BOOST_TEST(refused == 1u);
  disk_gate.open();
  BOOST_TEST(test::eventually([&] { return taken == 1u; }));
}

BOOST_AUTO_TEST_CASE(no_job_joins_one_that_has_waited_for_long) {
  submit(1);
  BOOST_TEST_REQUIRE(test::eventually([] { return disk_gate.is_reached(); }));
  seconds = 9;
  submit(1);
  BOOST_TEST(refused == 0u);
  seconds = 10;
  submit(1);
  BOOST_TEST(refused == 1u);
  disk_gate.open();
  BOOST_TEST(test::eventually([&] { return taken == 2u; }));
  submit(1);
  BOOST_TEST(test::eventually([&] { return taken == 3u; }));
  BOOST_TEST(refused == 1u);
}

BOOST_AUTO_TEST_CASE(results_that_cannot_be_written_delay_no_other_chore) {
  disk_gate.open();
  auto files = result_files::open(folder.path / "more", {},
                                  result_files::durability::synchronised);
  BOOST_REQUIRE(files);
  jobs sut{images, {}, clocks(), *files};
  journal_contents earlier;
  earlier.jobs.resize(1);
  earlier.jobs[0].was.number = 7;
  earlier.jobs[0].was.wanted = wish();
  earlier.jobs[0].was.wanted.id = "restored";
  sut.restore(std::move(earlier));
  auto what = wish();
  what.id = "ended";
  what.keeps = true;
  BOOST_REQUIRE(std::holds_alternative<job_view>(sut.submit(std::move(what))));
  images->finish(1);
  what = wish();
  what.id = "abandoned";
  what.idempotency_key = "k";
  const auto came = sut.attend(std::move(what));
  BOOST_REQUIRE(std::holds_alternative<jobs::attendance>(came));
  disk_gate.close();
  auto writing = std::async(std::launch::async, [&] { sut.put_away(); });
  BOOST_TEST_REQUIRE(test::eventually([] { return disk_gate.is_reached(); }));
  sut.abandon(std::get<jobs::attendance>(came).number);
  now += 11s;
  sut.tick();
  BOOST_TEST(images->at(2).cancelled);
  BOOST_TEST(images->count() == 3u);
  BOOST_TEST(sut.find("ended").has_value());
  now += 2h;
  sut.tick();
  BOOST_TEST(!sut.find("ended").has_value());
  disk_gate.open();
  writing.get();
  sut.put_away();
  BOOST_TEST(std::filesystem::is_empty(folder.path / "more"));
}

BOOST_AUTO_TEST_SUITE_END()
