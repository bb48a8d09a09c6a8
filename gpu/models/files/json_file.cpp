// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/json_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace atelier::gpu::detail {

namespace {

core::error io_error(const std::filesystem::path& file, int code) {
  return core::fail(code == ENOENT || code == ENOTDIR ? core::ec::not_found
                                                      : core::ec::io_failed,
                    "{}: {}", file.string(),
                    std::generic_category().message(code));
}

/// The numbers that Python's json module writes although JSON has none of them.
constexpr std::string_view python_numbers[] = {"-Infinity", "Infinity", "NaN"};

/// Quotes these numbers outside of strings.
std::string with_quoted_numbers(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  bool inside = false;
  for (size_t i = 0; i < text.size();) {
    size_t taken = 1;
    const auto rest = text.substr(i);
    std::string_view number;
    if (!inside)
      for (const auto x : python_numbers)
        if (number.empty() && rest.starts_with(x))
          number = x;
    if (!number.empty()) {
      taken = number.size();
      out.append("\"").append(number).append("\"");
    } else {
      if (inside && rest[0] == '\\' && rest.size() > 1)
        taken = 2;
      else if (rest[0] == '"')
        inside = !inside;
      out.append(rest.substr(0, taken));
    }
    i += taken;
  }
  return out;
}

} // namespace

core::result<std::string> read_text(const std::filesystem::path& file,
                                    uint64_t most_bytes) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return io_error(file, errno);

  struct closer {
    int fd;

    ~closer() {
      ::close(fd);
    }
  } const guard{fd};

  struct stat status {};

  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    return core::fail(core::ec::bad_payload, "{}: not a regular file",
                      file.string());
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > most_bytes)
    return core::fail(core::ec::bad_payload, "{}: {} bytes, {} are allowed",
                      file.string(), size, most_bytes);
  std::string out(size, '\0');
  size_t at = 0;
  while (at < out.size()) {
    const auto n = ::read(fd, out.data() + at, out.size() - at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return io_error(file, errno);
    if (n == 0)
      break;
    at += static_cast<size_t>(n);
  }
  out.resize(at);
  return out;
}

bool json_nests_too_deep(std::string_view text) {
  size_t level = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++level > most_json_levels)
        return true;
    } else if ((c == '}' || c == ']') && level > 0) {
      --level;
    }
  }
  return false;
}

core::result<nlohmann::json> parse_object(std::string_view text,
                                          std::string_view where) {
  if (json_nests_too_deep(text))
    return core::fail(core::ec::bad_payload,
                      "{}: JSON nested deeper than {} levels", where,
                      most_json_levels);
  auto out = nlohmann::json::parse(text, nullptr, false);
  if (out.is_discarded())
    out = nlohmann::json::parse(with_quoted_numbers(text), nullptr, false);
  if (!out.is_object())
    return core::fail(core::ec::bad_payload, "{}: not a JSON object", where);
  return out;
}

core::result<nlohmann::json> read_object(const std::filesystem::path& file,
                                         uint64_t most_bytes) {
  const auto text = read_text(file, most_bytes);
  if (!text)
    return text.why();
  return parse_object(*text, file.string());
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto i = object.find(key);
  if (i == object.end() || !i->is_string())
    return {};
  return i->get<std::string>();
}

} // namespace atelier::gpu::detail
