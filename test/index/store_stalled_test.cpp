// SPDX-License-Identifier: Apache-2.0

// A store whose disk does not end a write. This program's `fsync` takes the
// place of the system's, for the store's files and for SQLite's.

#include "index/store_rig.hpp"
#include <atelier/index/timely.hpp>

#include <boost/test/unit_test.hpp>
#include <support/eventually.hpp>
#include <support/write_gate.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <string>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;
using test::code_of;
using test::disk_gate;

constexpr uint64_t many = 300;

struct fixture {
  fixture() {
    with.entries = 2 * many;
    with.bytes = 64 << 20;
    with.memory_bytes = 16 << 20;
    // Long for a read, and longer for a write, so that only a read that waits
    // for a write is late.
    how.read_wait = 2s;
    how.write_wait = 10min;
  }

  ~fixture() {
    disk_gate.open();
    if (writing.valid())
      writing.wait();
    sut.reset();
  }

  /// Keeps entries 1..`many`, and lets the write of another one stall.
  void stall() {
    disk = folder.open(with);
    for (uint64_t n = 1; n <= many; ++n)
      BOOST_REQUIRE(disk->keep("k", "a red fox " + std::to_string(n),
                               test::kept_states({64}, n)));
    before_stall();
    sut =
      std::make_unique<index::timely_work>(disk, index::queue_bounds{0}, how);
    disk_gate.close();
    writing = std::async(std::launch::async, [this] {
      return sut->keep("k", "a grey wolf", test::kept_states({64}));
    });
    BOOST_TEST_REQUIRE(test::eventually([] { return disk_gate.is_reached(); }));
  }

  /// Returns how many of the entries can be read.
  uint64_t read_all() {
    uint64_t out = 0;
    for (uint64_t n = 1; n <= many; ++n)
      out += sut->state(n, 5) ? 1u : 0u;
    return out;
  }

  const test::store_folder folder;
  index::store_options with = folder.options();
  index::disk_pace how;
  std::function<void()> before_stall = [] {};
  std::shared_ptr<index::store> disk;
  std::unique_ptr<index::timely_work> sut;
  std::future<bool> writing;
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

BOOST_FIXTURE_TEST_SUITE(store_stalled_test, fixture)

BOOST_AUTO_TEST_CASE(a_write_that_does_not_end_stops_no_read_from_memory) {
  stall();
  BOOST_TEST(read_all() == many);
  BOOST_TEST(disk->has_unwritten());
  const auto told = sut->counts();
  BOOST_TEST(told.failed == 0u);
  BOOST_TEST(!told.reads_left_out);
  disk_gate.open();
  BOOST_TEST(writing.get());
  // What the reads changed is written after the write, by the same thread.
  BOOST_TEST(test::eventually([&] { return !disk->has_unwritten(); }));
}

BOOST_AUTO_TEST_CASE(a_write_that_does_not_end_stops_no_read_of_a_file) {
  with.memory_bytes = 0;
  stall();
  BOOST_TEST(read_all() == many);
  BOOST_TEST(sut->counts().failed == 0u);
}

BOOST_AUTO_TEST_CASE(entries_with_a_last_answer_leave_during_a_write) {
  with.answers = 1;
  stall();
  BOOST_TEST(read_all() == many);
  BOOST_TEST(sut->counts().spent == many);
  BOOST_TEST((code_of(sut->state(1, 5)) == ec::not_found));
  BOOST_TEST(sut->near("k", "a red fox", {5}).empty());
  // Their files leave after the write. They count until then.
  BOOST_TEST(folder.files().size() >= many);
  disk_gate.open();
  BOOST_TEST(writing.get());
  BOOST_TEST(test::eventually([&] { return folder.files().size() == 1u; }));
  sut.reset();
  disk.reset();
  BOOST_TEST(folder.open(with)->counts().entries == 1u);
}

BOOST_AUTO_TEST_CASE(a_torn_entry_leaves_during_a_write) {
  with.memory_bytes = 0;
  before_stall = [this] {
    for (const auto& file : folder.files())
      std::fstream{file, std::ios::in | std::ios::out} << "other bytes";
  };
  stall();
  for (uint64_t n = 1; n <= many; ++n)
    BOOST_TEST_REQUIRE((code_of(sut->state(n, 5)) == ec::bad_payload));
  sut->drop_torn(1);
  auto told = sut->counts();
  BOOST_TEST(told.dropped_torn == many);
  BOOST_TEST(told.entries == 0u);
  BOOST_TEST(told.failed == 0u);
  disk_gate.open();
  BOOST_TEST(writing.get());
  BOOST_TEST(test::eventually([&] { return folder.files().size() == 1u; }));
}

BOOST_AUTO_TEST_SUITE_END()
