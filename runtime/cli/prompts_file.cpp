// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/input_file.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/prompts_file.hpp>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Reads up to the next line's end, a line feed, a carriage return or both, and
/// no more than `most` bytes of it. False at the end of the input.
bool read_line(std::istream& from, std::string& line, uint64_t most) {
  line.clear();
  auto* buffer = from.rdbuf();
  constexpr auto end = std::istream::traits_type::eof();
  int c = buffer->sbumpc();
  if (c == end)
    return false;
  for (; c != end && c != '\n' && c != '\r' && line.size() < most;
       c = buffer->sbumpc())
    line += static_cast<char>(c);
  if (c == '\r' && buffer->sgetc() == '\n')
    buffer->sbumpc();
  return true;
}

bool is_pipe(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_fifo(path, ignored);
}

} // namespace

core::result<void> read_lines(
  std::istream& from, std::string_view name, uint64_t most,
  const core::limits& within,
  const std::function<core::result<void>(std::string, const std::string&)>&
    take) {
  std::string line;
  uint64_t bytes = 0;
  // A mark, a carriage return and one byte too many.
  const uint64_t most_read = most + 5;
  for (uint64_t number = 1; read_line(from, line, most_read); ++number) {
    const auto place = fmt::format("--prompts: {}:{}", name, number);
    if (number == 1 && line.starts_with(byte_order_mark))
      line.erase(0, byte_order_mark.size());
    if (line.find_first_not_of(" \t") == std::string::npos)
      continue;
    if (line.size() > most)
      return fail(ec::invalid_argument,
                  "{}: the prompt has more than {} bytes, the limit", place,
                  most);
    bytes += line.size();
    if (auto ok = take(line, place); !ok)
      return ok;
    if (bytes > within.request_bytes)
      return fail(ec::invalid_argument,
                  "{}: more than {} bytes of prompts, the limit", place,
                  within.request_bytes);
  }
  return {};
}

core::result<void> with_prompts_file(
  const std::string& path, std::istream& standard_input,
  const std::function<core::result<void>(std::istream&, const std::string&)>&
    read) {
  if (path == "-")
    return read(standard_input, "standard input");
  if (auto good = core::check_input_file(path, show_value(path)); !good)
    return fail(ec::invalid_argument, "--prompts: {}{}", good.why().text,
                is_pipe(path) ? ": '-' reads standard input" : "");
  errno = 0;
  std::ifstream file{path, std::ios::binary};
  if (!file)
    return fail(ec::invalid_argument, "--prompts: cannot read {}: {}",
                show_value(path), std::generic_category().message(errno));
  return read(file, path);
}

core::result<std::vector<std::string>> read_prompts(
  std::istream& from, std::string_view name, const core::limits& within) {
  std::vector<std::string> prompts;
  if (auto ok = read_lines(
        from, name, within.prompt_bytes, within,
        [&](std::string line, const std::string& place) -> core::result<void> {
          if (auto good = check_text(place, line, within.prompt_bytes); !good)
            return good;
          prompts.push_back(std::move(line));
          return {};
        });
      !ok)
    return ok.why();
  if (prompts.empty())
    return fail(ec::invalid_argument,
                "--prompts: {} has no prompt; at least 1 is needed", name);
  return prompts;
}

core::result<std::vector<std::string>> read_prompts_file(
  const std::string& path, std::istream& standard_input,
  const core::limits& within) {
  std::vector<std::string> prompts;
  if (auto ok = with_prompts_file(
        path, standard_input,
        [&](std::istream& from, const std::string& name) -> core::result<void> {
          auto read = read_prompts(from, name, within);
          if (!read)
            return read.why();
          prompts = std::move(*read);
          return {};
        });
      !ok)
    return ok.why();
  return prompts;
}

} // namespace atelier::runtime::cli
