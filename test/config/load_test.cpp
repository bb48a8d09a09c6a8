// SPDX-License-Identifier: Apache-2.0
#include "printing.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace atelier::config {

namespace {

/// A temporary folder that the destructor removes.
struct folder {
  std::filesystem::path path = std::filesystem::temp_directory_path()
                             / ("atelier_config_" + std::to_string(getpid()));

  folder() {
    std::filesystem::create_directory(path);
  }

  ~folder() {
    std::filesystem::remove_all(path);
  }

  std::filesystem::path write(const char* name, std::string_view content) {
    std::ofstream{path / name} << content;
    return path / name;
  }
};

/// Checks that `path` is refused for only the given reason.
void refuses(const std::filesystem::path& path, std::string_view reason) {
  const auto read = load(path);
  BOOST_REQUIRE_EQUAL(read.faults.size(), 1);
  BOOST_CHECK_EQUAL(read.faults[0].source, path.string());
  BOOST_CHECK_MESSAGE(read.faults[0].text.find(reason) != std::string::npos,
                      read.faults[0].text);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(loading, folder)

BOOST_AUTO_TEST_CASE(file_is_read_and_overridden) {
  const auto file = write("a.toml", "limits.steps = 40\nlimits.requests = 9\n");
  const std::string overrides[] = {"limits.steps=50"};
  const auto read = load(file, overrides);
  BOOST_REQUIRE(is_valid(read));
  BOOST_CHECK_EQUAL(read.values.limits.steps, 50);
  BOOST_CHECK_EQUAL(read.values.limits.requests, 9);
}

BOOST_AUTO_TEST_CASE(relative_paths_are_in_the_folder_of_what_sets_them) {
  const auto file = write("paths.toml", R"(
models = [{name = "m", path = "models/m", vae = "/v"}]
processes.program = "worker"
devices = [{name = "cpu:0", kind = "k", profile = "p.json"}]
policy.judges = "judges"
classifier.folder = "c"
planner = {profile = "a", quality = "b", plan = "d"}
policy.name = "fixed"
cache = {memory_mib = 1, folder = "e", encoder = "f"}
http = {keys = "g", certificate = "h", private_key = "i"}
)");
  const std::string overrides[] = {"cache.folder=other", "policy.judges=''"};
  const auto read = load(file, overrides);
  BOOST_REQUIRE(is_valid(read));
  const auto& x = read.values;
  const auto in_file = [&](const char* name) { return (path / name).string(); };
  BOOST_CHECK_EQUAL(x.models[0].path, in_file("models/m"));
  BOOST_CHECK_EQUAL(x.models[0].vae, "/v");
  BOOST_CHECK_EQUAL(x.processes.program, in_file("worker"));
  BOOST_CHECK_EQUAL(x.devices[0].profile, in_file("p.json"));
  BOOST_CHECK_EQUAL(x.classifier.folder, in_file("c"));
  BOOST_CHECK_EQUAL(x.planner.profile, in_file("a"));
  BOOST_CHECK_EQUAL(x.planner.quality, in_file("b"));
  BOOST_CHECK_EQUAL(x.planner.plan, in_file("d"));
  BOOST_CHECK_EQUAL(x.cache.encoder, in_file("f"));
  BOOST_CHECK_EQUAL(x.http.keys, in_file("g"));
  BOOST_CHECK_EQUAL(x.http.certificate, in_file("h"));
  BOOST_CHECK_EQUAL(x.http.private_key, in_file("i"));
  BOOST_CHECK_EQUAL(x.cache.folder,
                    (std::filesystem::current_path() / "other").string());
  BOOST_CHECK_EQUAL(x.policy.judges, "");
}

BOOST_AUTO_TEST_CASE(a_text_may_have_any_characters_of_a_path) {
  for (const std::string text : {"2024-11-28", "12", "inf", "true", "a'b\"c\\d",
                                 " ", "", "[x]", "\xC3\xBC"}) {
    const std::string overrides[] = {text_override("classifier.folder", text)};
    const auto read = load({}, overrides);
    BOOST_REQUIRE(is_valid(read));
    const auto expected =
      text.empty() ? "" : (std::filesystem::current_path() / text).string();
    BOOST_CHECK_EQUAL(read.values.classifier.folder, expected);
  }
  for (const std::string text : {"\xFF", "a\nb", "\xFF'\nlimits.steps=1"}) {
    const std::string overrides[] = {text_override("classifier.folder", text)};
    BOOST_CHECK_EQUAL(load({}, overrides).faults.size(), 1);
  }
}

BOOST_AUTO_TEST_CASE(no_path_means_the_defaults) {
  const std::string overrides[] = {"limits.steps=50"};
  const auto read = load({}, overrides);
  BOOST_REQUIRE(is_valid(read));
  BOOST_CHECK_EQUAL(read.values.limits.steps, 50);
}

BOOST_AUTO_TEST_CASE(empty_file_means_the_defaults) {
  BOOST_CHECK(is_valid(load(write("empty.toml", ""))));
}

BOOST_AUTO_TEST_CASE(absent_file_is_refused) {
  refuses(path / "absent.toml", "No such file");
}

BOOST_AUTO_TEST_CASE(directory_is_refused) {
  refuses(path, "is not a regular file");
}

BOOST_AUTO_TEST_CASE(pipe_and_device_are_refused_without_waiting) {
  const auto pipe = path / "pipe";
  BOOST_REQUIRE_EQUAL(mkfifo(pipe.c_str(), 0600), 0);
  refuses(pipe, "is not a regular file");
  refuses("/dev/zero", "is not a regular file");
}

BOOST_AUTO_TEST_CASE(unreadable_file_is_refused) {
  const auto file = write("secret.toml", "");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  // The administrator may read it nevertheless.
  if (geteuid() == 0)
    BOOST_CHECK(is_valid(load(file)));
  else
    refuses(file, "Permission denied");
}

BOOST_AUTO_TEST_CASE(file_of_more_than_a_mebibyte_is_refused) {
  std::string most(1 << 20, '#');
  BOOST_CHECK(is_valid(load(write("most.toml", most))));
  refuses(write("more.toml", most + "#"), "holds more than 1048576 bytes");
}

BOOST_AUTO_TEST_CASE(what_was_given_is_told_apart_from_defaults) {
  const std::vector<std::string> overrides{"http.threads=3"};
  const auto x = parse("[processes]\nmode = 'single'\n", "text", overrides);
  BOOST_REQUIRE(x);
  const std::vector<std::string> wanted{"http.threads", "processes.mode"};
  BOOST_CHECK(x.given == wanted);
  BOOST_CHECK(parse("", "text").given.empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::config
