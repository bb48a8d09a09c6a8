// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

namespace atelier::test {

/// An empty folder that the destructor removes.
class scratch_folder {
public:
  scratch_folder() {
    auto name =
      (std::filesystem::temp_directory_path() / "cli-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("no temporary folder");
    path = name;
  }

  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  /// Returns the names of all files in the folder.
  std::set<std::string> names() const {
    std::set<std::string> result;
    for (const auto& x : std::filesystem::directory_iterator{path})
      result.insert(x.path().filename().string());
    return result;
  }

  std::string read(const std::string& name) const {
    std::ifstream in{path / name, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream{path / name, std::ios::binary} << text;
  }

  std::filesystem::path path;
};

} // namespace atelier::test
