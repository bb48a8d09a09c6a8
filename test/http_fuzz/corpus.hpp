// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::test {

/// The parts of hostile requests: the files of the folder `corpus`.
struct corpus {
  /// Whole requests, with the line ends of the protocol.
  std::vector<std::string> requests;
  /// Bodies of JSON, by API. "@colour.png@" names an image: see with_images.
  std::vector<std::string> openai;
  std::vector<std::string> a1111;
  std::vector<std::string> jobs;
  /// Bodies with the boundary "XX", which name images in the same way.
  std::vector<std::string> forms;
  /// Files by name.
  std::vector<std::pair<std::string, std::string>> images;
  /// "Name: value".
  std::vector<std::string> headers;
  /// "GET /path?query".
  std::vector<std::string> targets;
  /// Words that are inserted at any place.
  std::vector<std::string> words;

  /// Reads the files; ends the test if one is missing.
  static corpus read();

  /// Replaces names of images by their content from `file_of`.
  template <class Function>
  std::string with_images(std::string text, Function file_of) const {
    for (const auto& [name, file] : images) {
      const auto mark = '@' + name + '@';
      for (auto at = text.find(mark); at != std::string::npos;
           at = text.find(mark, at)) {
        const std::string put = file_of(file);
        text.replace(at, mark.size(), put);
        at += put.size();
      }
    }
    return text;
  }
};

} // namespace atelier::test
