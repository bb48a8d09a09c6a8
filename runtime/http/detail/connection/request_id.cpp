// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/request_id.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::runtime::http::detail {

namespace {

constexpr std::string_view id_field = "x-request-id";
constexpr size_t most_id_bytes = 128;

bool is_sound(std::string_view x) {
  return !x.empty() && x.size() <= most_id_bytes
      && std::all_of(x.begin(), x.end(),
                     [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

} // namespace

std::string request_id_of(const fields& headers,
                          const std::function<uint64_t()>& draw) {
  const auto given = find_field(headers, id_field);
  const auto times =
    std::count_if(headers.begin(), headers.end(),
                  [](const auto& x) { return x.first == id_field; });
  if (times == 1 && is_sound(given))
    return std::string{given};
  const auto high = draw ? draw() : 0;
  return fmt::format("req_{:016x}{:016x}", high, draw ? draw() : 0);
}

} // namespace atelier::runtime::http::detail
