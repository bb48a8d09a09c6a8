// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/input_file.hpp>
#include <atelier/core/text_file.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace atelier::core {

result<std::string> read_text_file(const std::string& path, size_t most_bytes,
                                   std::string_view shown) {
  const auto unreadable = [&](int number) {
    return fail(ec::io_failed, "cannot read {}: {}", shown,
                std::generic_category().message(number));
  };
  const auto too_long = [&] {
    return fail(ec::bad_payload, "{} has more than {} bytes, the limit", shown,
                most_bytes);
  };
  if (auto good = check_input_file(path, shown); !good)
    return good.why();
  std::error_code error;
  errno = 0;
  std::ifstream file{path, std::ios::binary};
  if (!file)
    return unreadable(errno);
  std::string out;
  // Memory for the text is reserved at once, so that a long file is not copied
  // as the text grows.
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > most_bytes)
    return too_long();
  if (!error)
    out.reserve(size);
  std::vector<char> part(size_t{1} << 16);
  while (file.read(part.data(), static_cast<std::streamsize>(part.size()))
         || file.gcount() > 0) {
    const auto more = static_cast<size_t>(file.gcount());
    if (out.size() + more > out.capacity())
      out.reserve(
        std::min(2 * out.capacity() + more, most_bytes + part.size()));
    out.append(part.data(), more);
    if (out.size() > most_bytes)
      return too_long();
  }
  if (file.bad())
    return unreadable(EIO);
  return out;
}

} // namespace atelier::core
