// SPDX-License-Identifier: Apache-2.0
#include "corpus.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace atelier::test {

namespace {

namespace fs = std::filesystem;

const fs::path folder{ATELIER_FUZZ_CORPUS};

std::string read_file(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  BOOST_TEST_REQUIRE(in.good(), "cannot read " << file);
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::vector<std::string> read_lines(const char* name) {
  std::ifstream in{folder / name};
  BOOST_TEST_REQUIRE(in.good(), "cannot read " << name);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);)
    all.push_back(line);
  return all;
}

/// The files are sorted by name, so that a seed means the same everywhere.
std::vector<std::pair<std::string, std::string>> read_folder(const char* name) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& x : fs::directory_iterator{folder / name})
    all.emplace_back(x.path().filename().string(), read_file(x.path()));
  std::sort(all.begin(), all.end());
  BOOST_TEST_REQUIRE(!all.empty(), "nothing in " << name);
  return all;
}

std::string with_line_ends(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n')
      out += '\r';
    out += c;
  }
  return out;
}

std::vector<std::string> read_texts(const char* name, bool line_ends) {
  std::vector<std::string> all;
  for (auto& [file, text] : read_folder(name))
    all.push_back(line_ends ? with_line_ends(text) : std::move(text));
  return all;
}

} // namespace

corpus corpus::read() {
  corpus x;
  x.requests = read_texts("requests", true);
  x.openai = read_texts("openai", false);
  x.a1111 = read_texts("a1111", false);
  x.jobs = read_texts("jobs", false);
  x.forms = read_texts("forms", true);
  x.images = read_folder("pictures");
  x.headers = read_lines("headers.txt");
  x.targets = read_lines("targets.txt");
  x.words = read_lines("words.txt");
  return x;
}

} // namespace atelier::test
