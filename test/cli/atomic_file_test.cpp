// SPDX-License-Identifier: Apache-2.0
#include "scratch_folder.hpp"
#include <atelier/runtime/cli/atomic_file.hpp>

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

using namespace atelier::runtime::cli;
using atelier::core::ec;
using atelier::test::scratch_folder;
using names = std::set<std::string>;

namespace {

std::vector<uint8_t> bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

/// Prevents this process's files from growing beyond a size, as a full disk
/// would.
class file_size_limit {
public:
  explicit file_size_limit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }

  ~file_size_limit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }

private:
  rlimit before_{};
};

} // namespace

BOOST_TEST_DONT_PRINT_LOG_VALUE(names)

BOOST_FIXTURE_TEST_SUITE(atomic_file_test, scratch_folder)

BOOST_AUTO_TEST_CASE(a_new_file_is_whole_and_alone) {
  BOOST_TEST(bool{write_file(path / "x", bytes_of("ab"), on_existing::refuse)});
  BOOST_TEST((names() == ::names{"x"}));
  BOOST_TEST(read("x") == "ab");
}

BOOST_AUTO_TEST_CASE(an_empty_file_is_a_file) {
  BOOST_TEST(bool{write_file(path / "x", {}, on_existing::refuse)});
  BOOST_TEST((names() == ::names{"x"}));
}

BOOST_AUTO_TEST_CASE(the_umask_decides_who_may_read) {
  const auto before = umask(027);
  BOOST_TEST(bool{write_file(path / "x", {}, on_existing::refuse)});
  umask(before);

  struct stat found {};

  stat((path / "x").c_str(), &found);
  BOOST_TEST((found.st_mode & 0777) == 0640u);
}

BOOST_AUTO_TEST_CASE(missing_folders_are_made) {
  BOOST_TEST(bool{
    write_file(path / "a" / "b" / "x", bytes_of("1"), on_existing::refuse)});
  BOOST_TEST(read("a/b/x") == "1");
}

BOOST_AUTO_TEST_CASE(an_existing_file_is_refused_and_kept) {
  write("x", "old");
  const auto sut = write_file(path / "x", bytes_of("new"), on_existing::refuse);
  BOOST_TEST_REQUIRE(!sut);
  BOOST_TEST((sut.why().code == ec::invalid_argument));
  BOOST_TEST(sut.why().text.find((path / "x").string()) != std::string::npos);
  BOOST_TEST((names() == ::names{"x"}));
  BOOST_TEST(read("x") == "old");
}

BOOST_AUTO_TEST_CASE(an_existing_file_is_replaced_when_told) {
  write("x", "old");
  BOOST_TEST(
    bool{write_file(path / "x", bytes_of("new"), on_existing::replace)});
  BOOST_TEST((names() == ::names{"x"}));
  BOOST_TEST(read("x") == "new");
}

BOOST_AUTO_TEST_CASE(a_link_stays_and_its_target_is_written) {
  write("target", "old");
  std::filesystem::create_symlink("target", path / "link");
  BOOST_TEST(
    bool{write_file(path / "link", bytes_of("new"), on_existing::replace)});
  BOOST_TEST(std::filesystem::is_symlink(path / "link"));
  BOOST_TEST(read("target") == "new");
}

BOOST_AUTO_TEST_CASE(a_write_that_fails_leaves_nothing) {
  write("x", "old");
  const std::vector<uint8_t> many(10000);
  {
    const file_size_limit full{4096};
    for (const auto mode : {on_existing::refuse, on_existing::replace}) {
      const auto sut = write_file(
        path / (mode == on_existing::refuse ? "y" : "x"), many, mode);
      BOOST_TEST_REQUIRE(!sut);
      BOOST_TEST((sut.why().code == ec::io_failed));
      BOOST_TEST(sut.why().text.find(path.string()) != std::string::npos);
    }
  }
  BOOST_TEST((names() == ::names{"x"}));
  BOOST_TEST(read("x") == "old");
}

BOOST_AUTO_TEST_CASE(a_rename_that_fails_leaves_nothing) {
  std::filesystem::create_directories(path / "x" / "in");
  BOOST_TEST(!write_file(path / "x", bytes_of("1"), on_existing::replace));
  BOOST_TEST((names() == ::names{"x"}));
}

BOOST_AUTO_TEST_CASE(a_file_in_the_way_of_a_folder_is_told) {
  write("x", "");
  const auto sut =
    write_file(path / "x" / "y", bytes_of("1"), on_existing::refuse);
  BOOST_TEST_REQUIRE(!sut);
  BOOST_TEST((sut.why().code == ec::io_failed));
}

BOOST_AUTO_TEST_CASE(a_check_leaves_nothing) {
  BOOST_TEST(bool{check_writable(path / "x", on_existing::refuse)});
  BOOST_TEST(bool{check_writable(path / "a" / "b" / "x", on_existing::refuse)});
  BOOST_TEST(names().empty());
}

BOOST_AUTO_TEST_CASE(a_check_tells_what_would_fail) {
  write("x", "old");
  std::filesystem::create_directory(path / "folder");
  BOOST_TEST(!check_writable(path / "x", on_existing::refuse));
  BOOST_TEST(bool{check_writable(path / "x", on_existing::replace)});
  BOOST_TEST(!check_writable(path / "folder", on_existing::replace));
  BOOST_TEST(!check_writable(path / "x" / "y", on_existing::refuse));
  BOOST_TEST(
    !check_writable(path / std::string(300, 'n'), on_existing::refuse));
  BOOST_TEST(!check_writable("/dev/null", on_existing::replace));
  BOOST_TEST(!check_writable("/proc/x.png", on_existing::refuse));
  BOOST_TEST(read("x") == "old");
}

BOOST_AUTO_TEST_CASE(a_check_tells_a_full_disk) {
  const file_size_limit full{1};
  const auto sut = check_writable(path / "x", on_existing::refuse);
  BOOST_TEST_REQUIRE(!sut);
  BOOST_TEST((sut.why().code == ec::io_failed));
  BOOST_TEST(names().empty());
}

BOOST_AUTO_TEST_SUITE_END()
