// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/core/input_file.hpp>
#include <atelier/runtime/cli/image_file.hpp>
#include <atelier/runtime/cli/parse.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;

/// Reads up to `most` bytes: the file may grow meanwhile.
std::vector<uint8_t> read_some(std::istream& from, uint64_t most) {
  constexpr uint64_t piece = 1 << 20;
  std::vector<uint8_t> bytes;
  while (from && bytes.size() < most) {
    const auto at = bytes.size();
    bytes.resize(at + std::min(piece, most - at));
    from.read(reinterpret_cast<char*>(bytes.data() + at),
              static_cast<std::streamsize>(bytes.size() - at));
    bytes.resize(at + static_cast<size_t>(from.gcount()));
  }
  return bytes;
}

} // namespace

core::result<std::vector<uint8_t>> read_image_file(std::string_view argument,
                                                   const std::string& path,
                                                   const core::limits& within) {
  if (auto good = core::check_input_file(path, show_value(path)); !good)
    return fail(ec::invalid_argument, "{}: {}", argument, good.why().text);
  errno = 0;
  std::ifstream file{path, std::ios::binary};
  if (!file)
    return fail(ec::invalid_argument, "{}: cannot read {}: {}", argument,
                show_value(path), std::generic_category().message(errno));
  auto bytes = read_some(file, within.source_bytes + 1);
  if (file.bad())
    return fail(ec::invalid_argument, "{}: cannot read {} to its end", argument,
                show_value(path));
  if (bytes.size() > within.source_bytes)
    return fail(ec::invalid_argument,
                "{}: {} has more than {} bytes, the limit "
                "(limits.source_kib)",
                argument, show_value(path), within.source_bytes);
  const auto head = image::read_header(bytes);
  if (!head)
    return fail(head.why().code, "{}: {}: {}", argument, show_value(path),
                head.why().text);
  return bytes;
}

} // namespace atelier::runtime::cli
