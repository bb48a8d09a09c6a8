// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/part_file.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace atelier::core {

namespace {

namespace fs = std::filesystem;
using bytes = std::vector<uint8_t>;

struct folder : test::scratch_folder {
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& x : fs::directory_iterator{where})
      out.push_back(x.path().filename());
    return out;
  }

  const fs::path& where = path;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(part_file_test, folder)

BOOST_AUTO_TEST_CASE(it_has_its_name_once_it_is_whole) {
  {
    part_file sut{where, 0600};
    BOOST_TEST(sut.open_error() == 0);
    BOOST_TEST(sut.write_all(bytes{'a'}) == 0);
    BOOST_TEST(sut.write_all(bytes{'b'}) == 0);
    BOOST_REQUIRE(names().size() == 1u);
    BOOST_TEST(part_file::is_temporary(names()[0]));
    BOOST_TEST(sut.synchronise() == 0);
    BOOST_TEST(sut.put_at(where / "x", on_existing::refuse) == 0);
  }
  BOOST_TEST((names() == std::vector<std::string>{"x"}));
  BOOST_TEST(read("x") == "ab");
  BOOST_TEST((fs::status(where / "x").permissions()
              == (fs::perms::owner_read | fs::perms::owner_write)));
  BOOST_TEST(synchronise_folder(where) == 0);
}

BOOST_AUTO_TEST_CASE(one_that_is_given_up_goes) {
  {
    const part_file sut{where};
    BOOST_TEST(sut.write_all(bytes{'a'}) == 0);
  }
  BOOST_TEST(names().empty());
}

BOOST_AUTO_TEST_CASE(another_files_name_is_taken_where_that_is_wanted) {
  std::ofstream{where / "x"} << "old";
  {
    part_file sut{where};
    BOOST_TEST(sut.put_at(where / "x", on_existing::refuse) == EEXIST);
  }
  BOOST_TEST(read("x") == "old");
  {
    part_file sut{where};
    BOOST_TEST(sut.write_all(bytes{'n'}) == 0);
    BOOST_TEST(sut.put_at(where / "x", on_existing::replace) == 0);
  }
  BOOST_TEST(read("x") == "n");
  BOOST_TEST(names().size() == 1u);
}

BOOST_AUTO_TEST_CASE(many_at_a_time_do_not_meet) {
  part_file a{where};
  part_file b{where};
  BOOST_TEST(a.write_all(bytes{'a'}) == 0);
  BOOST_TEST(b.write_all(bytes{'b'}) == 0);
  BOOST_TEST(a.put_at(where / "a", on_existing::refuse) == 0);
  BOOST_TEST(b.put_at(where / "b", on_existing::refuse) == 0);
  BOOST_TEST(read("a") + read("b") == "ab");
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_not_there_is_told) {
  const part_file sut{where / "none"};
  BOOST_TEST(sut.open_error() == ENOENT);
  BOOST_TEST(synchronise_folder(where / "none") == ENOENT);
}

BOOST_AUTO_TEST_CASE(a_full_disk_leaves_nothing) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit was{};
  getrlimit(RLIMIT_FSIZE, &was);
  {
    const part_file sut{where};
    const rlimit least{100, was.rlim_max};
    setrlimit(RLIMIT_FSIZE, &least);
    BOOST_TEST(sut.write_all(bytes(1000, 'x')) == EFBIG);
    setrlimit(RLIMIT_FSIZE, &was);
  }
  std::signal(SIGXFSZ, before);
  BOOST_TEST(names().empty());
}

BOOST_AUTO_TEST_CASE(names_of_others_are_not_temporary) {
  for (const auto* name :
       {"", ".part", "x.part", ".atelier-1-2", "atelier.part"})
    BOOST_TEST(!part_file::is_temporary(name), name);
  BOOST_TEST(part_file::is_temporary(".atelier-1-2.part"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::core
