// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/free_memory.hpp>

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace atelier;

namespace {

namespace fs = std::filesystem;

constexpr uint64_t mib = 1ull << 20;

/// A root of a file system with the kernel's files.
struct kernel_files {
  fs::path root = make();

  ~kernel_files() {
    fs::remove_all(root);
  }

  void write(const std::string& file, const std::string& text) const {
    const auto path = root / file;
    fs::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }

  void group(const std::string& name, const std::string& most, uint64_t now,
             uint64_t files = 0, uint64_t shmem = 0) const {
    const auto folder = "sys/fs/cgroup" + name;
    write(folder + "/memory.max", most);
    write(folder + "/memory.current", std::to_string(now));
    write(folder + "/memory.stat", "anon 5\nfile " + std::to_string(files)
                                     + "\nshmem " + std::to_string(shmem));
  }

  void available(uint64_t bytes, uint64_t swap = 0) const {
    write("proc/meminfo", "MemTotal: 999999999 kB\nMemAvailable:   "
                            + std::to_string(bytes / 1024) + " kB\nSwapFree: "
                            + std::to_string(swap / 1024) + " kB\n");
  }

  std::optional<uint64_t> free() const {
    return ipc::free_memory(root.string());
  }

  static fs::path make() {
    auto name = (fs::temp_directory_path() / "memory-XXXXXX").string();
    BOOST_TEST_REQUIRE((mkdtemp(name.data()) != nullptr));
    return name;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(free_memory_test)

BOOST_AUTO_TEST_CASE(a_machine_grants_what_is_available_and_its_swap) {
  const kernel_files x;
  BOOST_TEST(!x.free());
  x.available(700 * mib, 300 * mib);
  BOOST_TEST(*x.free() == 1000 * mib);
}

BOOST_AUTO_TEST_CASE(swap_is_not_ram) {
  const kernel_files x;
  BOOST_TEST(!ipc::free_ram(x.root.string()));
  x.available(700 * mib, 300 * mib);
  BOOST_TEST(*ipc::free_ram(x.root.string()) == 700 * mib);
  x.write("proc/self/cgroup", "0::/\n");
  x.group("", std::to_string(512 * mib), 112 * mib);
  BOOST_TEST(*ipc::free_ram(x.root.string()) == 400 * mib);
}

BOOST_AUTO_TEST_CASE(the_narrowest_group_counts) {
  const kernel_files x;
  x.available(4096 * mib);
  x.write("proc/self/cgroup", "9:memory:/old\n0::/outer/inner\n");
  x.group("/outer/inner", "max", 100 * mib);
  x.group("/outer", std::to_string(600 * mib), 500 * mib);
  BOOST_TEST(*x.free() == 100 * mib);
  x.group("/outer/inner", std::to_string(150 * mib), 100 * mib);
  BOOST_TEST(*x.free() == 50 * mib);
  x.group("/outer/inner", std::to_string(50 * mib), 100 * mib);
  BOOST_TEST(*x.free() == 0u);
}

BOOST_AUTO_TEST_CASE(a_container_may_see_only_the_root) {
  const kernel_files x;
  x.available(4096 * mib);
  x.write("proc/self/cgroup", "0::/docker/123\n");
  x.group("", std::to_string(512 * mib), 112 * mib);
  BOOST_TEST(*x.free() == 400 * mib);
}

BOOST_AUTO_TEST_CASE(copies_of_files_are_free_and_shared_memory_is_not) {
  const kernel_files x;
  x.available(4096 * mib);
  x.write("proc/self/cgroup", "0::/\n");
  x.group("", std::to_string(500 * mib), 450 * mib, 300 * mib, 100 * mib);
  BOOST_TEST(*x.free() == 250 * mib);
}

BOOST_AUTO_TEST_CASE(groups_of_the_first_version_count_too) {
  const kernel_files x;
  x.available(4096 * mib);
  x.write("proc/self/cgroup", "5:cpu:/a\n4:memory:/a\n");
  const std::string folder = "sys/fs/cgroup/memory/a";
  x.write(folder + "/memory.limit_in_bytes", std::to_string(90 * mib));
  x.write(folder + "/memory.usage_in_bytes", std::to_string(30 * mib));
  BOOST_TEST(*x.free() == 60 * mib);
}

BOOST_AUTO_TEST_CASE(this_machine_tells) {
  BOOST_TEST(ipc::free_memory().value_or(0) > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
