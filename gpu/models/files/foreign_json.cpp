// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/files/foreign_json.hpp>
#include <atelier/gpu/models/files/json_file.hpp>

#include <fstream>
#include <iterator>
#include <system_error>

namespace atelier::gpu::detail {

namespace {

constexpr uint64_t most_file_bytes = 64ull << 20;
constexpr size_t most_shown_bytes = 60;

} // namespace

std::string in_quotes(std::string_view text) {
  auto out = json(text.substr(0, most_shown_bytes))
               .dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() > most_shown_bytes ? out + "..." : out;
}

std::string shown(const json& value) {
  // These may be as large, and as deep, as the file.
  if (value.is_array())
    return "an array";
  if (value.is_object())
    return "an object";
  if (value.is_string())
    return in_quotes(value.get_ref<const std::string&>());
  return value.dump();
}

core::error bad_key(std::string_view file, std::string_view key,
                    std::string_view what) {
  if (key.empty())
    return core::fail(core::ec::bad_payload, "{}: {}", file, what);
  return core::fail(core::ec::bad_payload, "{}: {}: {}", file, key, what);
}

core::result<std::string> read_text(const std::filesystem::path& file) {
  std::error_code failed;
  const auto status = std::filesystem::status(file, failed);
  if (status.type() == std::filesystem::file_type::not_found)
    return core::fail(core::ec::not_found, "{}: no such file", file.string());
  if (status.type() != std::filesystem::file_type::regular)
    return core::fail(core::ec::bad_payload, "{}: not a regular file",
                      file.string());
  const auto size = std::filesystem::file_size(file, failed);
  if (failed)
    return core::fail(core::ec::io_failed, "{}: {}", file.string(),
                      failed.message());
  if (size > most_file_bytes)
    return bad_key(
      file.string(), {},
      fmt::format("{} bytes are more than {}", size, most_file_bytes));
  std::ifstream from{file, std::ios::binary};
  std::string out(size, '\0');
  from.read(out.data(), static_cast<std::streamsize>(size));
  if (!from)
    return core::fail(core::ec::io_failed, "{}: cannot be read", file.string());
  return out;
}

core::result<json> parse_document(std::string_view file,
                                  std::string_view text) {
  if (const auto fault = core::find_utf8_fault(text))
    return bad_key(file, {}, fmt::format("byte {} is not UTF-8", *fault));
  return parse_object(text, file);
}

const json* member(const json& object, std::string_view key) {
  const auto i = object.find(key);
  return i != object.end() && !i->is_null() ? &*i : nullptr;
}

} // namespace atelier::gpu::detail
