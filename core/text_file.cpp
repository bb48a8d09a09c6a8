// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/input_file.hpp>
#include <atelier/core/text_file.hpp>

#include <cerrno>
#include <system_error>
#include <utility>

namespace atelier::core {

result<std::string> read_text_file(const std::string& path, size_t most_bytes,
                                   std::string_view shown) {
  const auto unreadable = [&](int number) {
    return fail(ec::io_failed, "cannot read {}: {}", shown,
                std::generic_category().message(number));
  };
  if (auto good = check_input_file(path, shown); !good)
    return good.why();
  const opened_file file{path};
  if (file.number < 0)
    return unreadable(errno);
  auto found = read_bytes(file, most_bytes);
  if (found.longer)
    return fail(ec::bad_payload, "{} has more than {} bytes, the limit", shown,
                most_bytes);
  if (found.fault != 0)
    return unreadable(found.fault);
  return std::move(found.text);
}

} // namespace atelier::core
