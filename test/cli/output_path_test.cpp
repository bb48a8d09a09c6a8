// SPDX-License-Identifier: Apache-2.0
#include "scratch_folder.hpp"
#include <atelier/runtime/cli/output_path.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::runtime::cli;
using kind = output_target::kind;
using atelier::test::scratch_folder;

BOOST_AUTO_TEST_SUITE(output_path_test)

BOOST_AUTO_TEST_CASE(the_extension_names_the_format) {
  BOOST_TEST((format_of("a.png") == "png"));
  BOOST_TEST((format_of("a.jpg") == "jpeg"));
  BOOST_TEST((format_of("a.JPEG") == "jpeg"));
  BOOST_TEST((format_of("a.b.webp") == "webp"));
  for (const auto* name : {"a", "a.gif", ".png", "png", "a.png/b"})
    BOOST_TEST(!format_of(name), name);
}

BOOST_AUTO_TEST_CASE(without_a_name_images_go_here) {
  const auto sut = read_output({}, "webp", 3);
  BOOST_TEST_REQUIRE(bool{sut});
  BOOST_TEST((*sut == output_target{kind::folder, ".", "webp"}));
  BOOST_TEST(path_of(*sut, 0, 5) == "00000-5.webp");
}

BOOST_AUTO_TEST_CASE(an_extension_makes_a_file) {
  const auto sut = read_output("no/such/x.jpg", {}, 1);
  BOOST_TEST_REQUIRE(bool{sut});
  BOOST_TEST((*sut == output_target{kind::file, "no/such/x.jpg", "jpeg"}));
  BOOST_TEST(path_of(*sut, 0, 5) == "no/such/x.jpg");
}

BOOST_AUTO_TEST_CASE(all_else_makes_a_folder) {
  for (const auto* name : {"out", "out/", "x.png/", ".", "..", "/"}) {
    const auto sut = read_output(name, "jpeg", 7);
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST_REQUIRE(bool{sut});
      BOOST_TEST((sut->type == kind::folder));
      BOOST_TEST(sut->format == "jpeg");
    }
  }
}

BOOST_AUTO_TEST_CASE(what_exists_decides_before_the_name) {
  const scratch_folder there;
  std::filesystem::create_directory(there.path / "folder.png");
  there.write("file", "");
  BOOST_TEST((read_output((there.path / "folder.png").string(), {}, 2)->type
              == kind::folder));
  BOOST_TEST((read_output((there.path / "file").string(), "webp", 1)->type
              == kind::file));
}

BOOST_AUTO_TEST_CASE(names_hold_number_and_seed) {
  const output_target sut{kind::folder, "out", "jpeg"};
  BOOST_TEST(path_of(sut, 7, UINT64_MAX)
             == "out/00007-18446744073709551615.jpg");
  BOOST_TEST(path_of(sut, 123456, 0) == "out/123456-0.jpg");
}

BOOST_AUTO_TEST_CASE(wrong_names_are_refused_with_the_reason) {
  struct row {
    const char* output;
    std::optional<std::string> format;
    uint64_t images;
    const char* says;
  };

  const row rows[] = {
    {"x.png", {}, 2, "-o: 'x.png' is one file, but 2 images"},
    {"x.png", "jpeg", 1, "--format: 'jpeg' contradicts"},
    {"x.gif", {}, 1, "-o: 'x.gif' does not end in .png"},
    {"x.png", "gif", 1, "--format: 'gif' is not png, jpeg or webp"},
    {"-", {}, 1, "-o: '-' names no file"},
    {"", {}, 1, "-o: '' names no file"},
  };
  for (const auto& x : rows) {
    const auto sut = read_output(x.output, x.format, x.images);
    BOOST_TEST_CONTEXT(x.output) {
      BOOST_TEST_REQUIRE(!sut);
      BOOST_TEST((sut.why().code == atelier::core::ec::invalid_argument));
      BOOST_TEST(sut.why().text.starts_with(x.says), sut.why().text);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_format_serves_where_the_extension_is_none) {
  const auto sut = read_output("x.out", "webp", 1);
  BOOST_TEST_REQUIRE(bool{sut});
  BOOST_TEST((*sut == output_target{kind::file, "x.out", "webp"}));
}

BOOST_AUTO_TEST_SUITE_END()
