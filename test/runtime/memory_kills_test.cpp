// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/split/memory_kills.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>

#include <filesystem>
#include <fstream>

using namespace atelier;
using runtime::memory_kills;
using runtime::parse_memory_kills;

namespace {

namespace fs = std::filesystem;

/// The root of a file system with a few of the kernel's files.
struct root : test::scratch_folder {
  void write(const std::string& name, const std::string& text) const {
    const auto file = path / name;
    fs::create_directories(file.parent_path());
    std::ofstream{file} << text;
  }

  memory_kills make() const {
    return memory_kills{path.string()};
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(memory_kills_test, root)

BOOST_AUTO_TEST_CASE(the_count_is_read_from_its_line) {
  BOOST_TEST(parse_memory_kills("low 0\nhigh 1\noom 4\noom_kill 3\n").value()
             == 3u);
  BOOST_TEST(
    parse_memory_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 1").value()
    == 1u);
  for (const auto* text : {"", "oom_kill", "oom_kill x", "oom_kill 1x",
                           "oom_group_kill 2", "oom_kill -1"})
    BOOST_TEST(!parse_memory_kills(text), text);
}

BOOST_AUTO_TEST_CASE(each_kill_in_the_own_group_is_seen_once) {
  write("proc/self/cgroup", "0::/user/one\n");
  write("proc/vmstat", "oom_kill 7\n");
  write("sys/fs/cgroup/user/one/memory.events", "oom_kill 2\n");
  auto sut = make();
  BOOST_TEST(!sut.more());
  // Another process on the same host was killed.
  write("proc/vmstat", "oom_kill 8\n");
  BOOST_TEST(!sut.more());
  write("sys/fs/cgroup/user/one/memory.events", "oom_kill 3\n");
  BOOST_TEST(sut.more());
  BOOST_TEST(!sut.more());
}

BOOST_AUTO_TEST_CASE(kills_in_the_group_of_a_moved_child_are_seen) {
  write("proc/self/cgroup", "0::/engine\n");
  write("sys/fs/cgroup/engine/memory.events", "oom_kill 1\n");
  auto sut = make();
  write("proc/7/cgroup", "0::/engine\n");
  BOOST_TEST(sut.other_group(7).empty());
  BOOST_TEST(sut.other_group(8).empty());
  write("proc/7/cgroup", "0::/worker\n");
  write("sys/fs/cgroup/worker/memory.events", "oom_kill 1\n");
  const auto group = sut.other_group(7);
  BOOST_TEST(!sut.more());
  BOOST_TEST(sut.more(group));
  BOOST_TEST(!sut.more(group));
  write("sys/fs/cgroup/worker/memory.events", "oom_kill 2\n");
  BOOST_TEST(sut.more(group));
  // Another group of that name counts from the start.
  fs::remove(path / "sys/fs/cgroup/worker/memory.events");
  BOOST_TEST(!sut.more(group));
  write("sys/fs/cgroup/worker/memory.events", "oom_kill 1\n");
  BOOST_TEST(sut.more(group));
  // A group below the own one counts for both.
  write("proc/7/cgroup", "0::/engine/worker\n");
  write("sys/fs/cgroup/engine/worker/memory.events", "oom_kill 1\n");
  write("sys/fs/cgroup/engine/memory.events", "oom_kill 2\n");
  BOOST_TEST(sut.more(sut.other_group(7)));
  BOOST_TEST(!sut.more());
}

BOOST_AUTO_TEST_CASE(a_child_that_ends_while_it_is_looked_at_has_no_group) {
  write("proc/vmstat", "oom_kill 7\n");
  auto sut = make();
  // Like the file of a process that is gone, it opens and cannot be read.
  fs::create_directories(path / "proc/7/cgroup");
  BOOST_TEST(sut.other_group(7).empty());
  BOOST_TEST(!sut.more());
}

BOOST_AUTO_TEST_CASE(a_group_at_the_root_and_one_of_version_1_are_found) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.events", "oom_kill 0\n");
  auto second = make();
  write("sys/fs/cgroup/memory.events", "oom_kill 1\n");
  BOOST_TEST(second.more());
  write("proc/self/cgroup", "12:pids:/a\n9:memory:/a\n");
  write("sys/fs/cgroup/memory/a/memory.oom_control", "oom_kill 0\n");
  auto first = make();
  write("sys/fs/cgroup/memory/a/memory.oom_control", "oom_kill 1\n");
  BOOST_TEST(first.more());
}

BOOST_AUTO_TEST_CASE(without_a_group_the_host_counts_and_without_it_nobody) {
  BOOST_TEST(!make().more());
  write("proc/vmstat", "nr_free_pages 1\noom_kill 7\n");
  auto sut = make();
  write("proc/vmstat", "nr_free_pages 1\noom_kill 9\n");
  BOOST_TEST(sut.more());
  fs::remove(path / "proc/vmstat");
  BOOST_TEST(!sut.more());
}

BOOST_AUTO_TEST_SUITE_END()
