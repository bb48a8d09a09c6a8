// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include <atelier/gpu/device/detail/host_memory.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using atelier::gpu::detail::free_host_memory;

namespace {

struct fixture : atelier::test::scratch_folder {
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path / name).parent_path());
    write(name, text);
  }

  void has_available(uint64_t kib) const {
    put("proc/meminfo", "MemTotal:       99999 kB\nMemAvailable:   "
                          + std::to_string(kib) + " kB\n");
  }

  uint64_t free() const {
    const auto x = free_host_memory(path);
    BOOST_REQUIRE(x);
    return *x;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(host_memory, fixture)

BOOST_AUTO_TEST_CASE(nothing_is_known_of_a_machine_without_files) {
  BOOST_TEST(!free_host_memory(path));
}

BOOST_AUTO_TEST_CASE(this_machine_has_some) {
  BOOST_REQUIRE(free_host_memory());
  BOOST_TEST(*free_host_memory() > 0u);
}

BOOST_AUTO_TEST_CASE(the_machine_and_its_groups_limit_it) {
  has_available(4096);
  BOOST_TEST(free() == 4096u << 10);
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/memory.max", "max\n");
  put("sys/fs/cgroup/a/b/memory.current", "100000\n");
  BOOST_TEST(free() == 4096u << 10);
  put("sys/fs/cgroup/a/b/memory.max", "3000000\n");
  BOOST_TEST(free() == 2'900'000u);
  put("sys/fs/cgroup/a/memory.max", "1000000\n");
  put("sys/fs/cgroup/a/memory.current", "700000\n");
  BOOST_TEST(free() == 300'000u);
  // Files that were read are given up.
  put("sys/fs/cgroup/a/memory.stat", "file 5\ninactive_file 200000\n");
  BOOST_TEST(free() == 500'000u);
  put("sys/fs/cgroup/memory.max", "50000\n");
  put("sys/fs/cgroup/memory.current", "60000\n");
  BOOST_TEST(free() == 0u);
}

BOOST_AUTO_TEST_CASE(groups_of_the_first_version_limit_it_too) {
  has_available(4096);
  put("proc/self/cgroup", "5:cpu:/x\n4:memory:/x\n");
  put("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "90000\n");
  put("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "30000\n");
  BOOST_TEST(free() == 60'000u);
}

BOOST_AUTO_TEST_SUITE_END()
