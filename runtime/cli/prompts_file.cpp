// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/input_file.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/prompts_file.hpp>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Reads up to the next line's end, and no more than `most` bytes of it.
/// False at the end of the input.
bool read_line(std::istream& from, std::string& line, uint64_t most) {
  line.clear();
  auto* buffer = from.rdbuf();
  constexpr auto end = std::istream::traits_type::eof();
  int c = buffer->sbumpc();
  if (c == end)
    return false;
  for (; c != end && c != '\n' && line.size() < most; c = buffer->sbumpc())
    line += static_cast<char>(c);
  return true;
}

} // namespace

core::result<std::vector<std::string>> read_prompts(
  std::istream& from, std::string_view name, const core::limits& within) {
  std::vector<std::string> prompts;
  std::string line;
  uint64_t bytes = 0;
  // A mark, a carriage return and one byte too many.
  const uint64_t most_line = uint64_t{within.prompt_bytes} + 5;
  for (uint64_t number = 1; read_line(from, line, most_line); ++number) {
    const auto place = fmt::format("--prompts: {}:{}", name, number);
    if (number == 1 && line.starts_with(byte_order_mark))
      line.erase(0, byte_order_mark.size());
    if (line.ends_with('\r'))
      line.pop_back();
    if (line.empty())
      continue;
    if (line.size() > within.prompt_bytes)
      return fail(ec::invalid_argument,
                  "{}: the prompt has more than {} bytes, the limit", place,
                  within.prompt_bytes);
    if (auto ok = check_text(place, line, within.prompt_bytes); !ok)
      return ok.why();
    bytes += line.size();
    if (bytes > within.request_bytes)
      return fail(ec::invalid_argument,
                  "{}: more than {} bytes of prompts, the limit", place,
                  within.request_bytes);
    prompts.push_back(line);
  }
  if (prompts.empty())
    return fail(ec::invalid_argument,
                "--prompts: {} has no prompt; at least 1 is needed", name);
  return prompts;
}

core::result<std::vector<std::string>> read_prompts_file(
  const std::string& path, std::istream& standard_input,
  const core::limits& within) {
  if (path == "-")
    return read_prompts(standard_input, "standard input", within);
  if (auto good = core::check_input_file(path, show_value(path)); !good)
    return fail(ec::invalid_argument, "--prompts: {}", good.why().text);
  errno = 0;
  std::ifstream file{path, std::ios::binary};
  if (!file)
    return fail(ec::invalid_argument, "--prompts: cannot read {}: {}",
                show_value(path), std::generic_category().message(errno));
  return read_prompts(file, path, within);
}

} // namespace atelier::runtime::cli
