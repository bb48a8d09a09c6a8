// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/result_files.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace atelier::runtime::http {

namespace {

namespace fs = std::filesystem;
using bytes = std::vector<uint8_t>;

struct folder : test::scratch_folder {
  ~folder() {
    fs::permissions(where, fs::perms::owner_all);
  }

  size_t files() const {
    return static_cast<size_t>(
      std::distance(fs::directory_iterator{where}, fs::directory_iterator{}));
  }

  const fs::path& where = path;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(result_files_test, folder)

BOOST_AUTO_TEST_CASE(a_image_is_read_back) {
  const auto sut = result_files::open(where / "deep" / "er");
  BOOST_REQUIRE(sut);
  const bytes large(100'000, 7);
  BOOST_REQUIRE((*sut)->put(1, 0, bytes{1, 2, 3}));
  BOOST_REQUIRE((*sut)->put(1, 1, large));
  BOOST_TEST((*(*sut)->get(1, 0) == bytes{1, 2, 3}));
  BOOST_TEST((*(*sut)->get(1, 1) == large));
  BOOST_REQUIRE((*sut)->put(1, 0, bytes{}));
  BOOST_TEST((*sut)->get(1, 0)->empty());
}

BOOST_AUTO_TEST_CASE(what_was_removed_is_not_found) {
  const auto sut = result_files::open(where);
  BOOST_REQUIRE((*sut)->put(1, 0, bytes{1}));
  (*sut)->remove(1, 0);
  (*sut)->remove(1, 0);
  const auto got = (*sut)->get(1, 0);
  BOOST_REQUIRE(!got);
  BOOST_TEST((got.why().code == core::ec::not_found));
  BOOST_TEST(files() == 0u);
}

BOOST_AUTO_TEST_CASE(what_a_server_before_left_is_removed_and_nothing_else) {
  {
    const auto before = result_files::open(where);
    BOOST_REQUIRE((*before)->put(1, 0, bytes{1}));
    std::ofstream{where / ".atelier-1-2.part"} << "half";
    std::ofstream{where / "mine.txt"} << "mine";
  }
  const auto sut = result_files::open(where);
  BOOST_REQUIRE(sut);
  BOOST_TEST(!(*sut)->get(1, 0));
  BOOST_TEST(files() == 1u);
  BOOST_TEST(fs::exists(where / "mine.txt"));
}

BOOST_AUTO_TEST_CASE(images_of_jobs_that_are_known_stay) {
  {
    const auto before = result_files::open(where);
    BOOST_REQUIRE((*before)->put(1, 0, bytes{1}));
    BOOST_REQUIRE((*before)->put(0xabc, 2, bytes{1, 2}));
    std::ofstream{where / ".atelier-3-0.part"} << "half";
    for (const auto* name : {"x-0.picture", "0000000000000abc.picture",
                             "-1.picture", "0000000000000abcx-0.picture"})
      std::ofstream{where / name} << "odd";
  }
  const auto sut =
    result_files::open(where, {0xabc}, result_files::durability::synchronised);
  BOOST_REQUIRE(sut);
  BOOST_TEST(files() == 1u);
  BOOST_TEST(((*sut)->size(0xabc, 2) == 2u));
  BOOST_TEST(!(*sut)->size(1, 0).has_value());
  BOOST_REQUIRE((*sut)->put(2, 0, bytes{1, 2, 3}));
  BOOST_TEST((*(*sut)->get(2, 0) == bytes{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(the_folder_is_its_owners_alone) {
  BOOST_REQUIRE(result_files::open(where));
  BOOST_TEST((fs::status(where).permissions() == fs::perms::owner_all));
}

BOOST_AUTO_TEST_CASE(a_folder_has_one_server) {
  {
    const auto first = result_files::open(where);
    BOOST_REQUIRE(first);
    BOOST_REQUIRE((*first)->put(1, 0, bytes{1}));
    const auto second = result_files::open(where);
    BOOST_REQUIRE(!second);
    BOOST_TEST((second.why().code == core::ec::unavailable));
    BOOST_TEST(second.why().text.find(where.string()) != std::string::npos);
    BOOST_TEST((*(*first)->get(1, 0) == bytes{1}));
  }
  BOOST_TEST(static_cast<bool>(result_files::open(where)));
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_is_told) {
  std::ofstream{where / "file"} << "x";
  const auto sut = result_files::open(where / "file" / "folder");
  BOOST_REQUIRE(!sut);
  BOOST_TEST((sut.why().code == core::ec::io_failed));
  BOOST_TEST(sut.why().text.find("folder") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_image_that_cannot_be_written_leaves_nothing) {
  const auto sut = result_files::open(where);
  fs::remove_all(where);
  const auto put = (*sut)->put(1, 0, bytes{1});
  BOOST_REQUIRE(!put);
  BOOST_TEST((put.why().code == core::ec::io_failed));
  fs::create_directories(where);
  BOOST_TEST(files() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http
