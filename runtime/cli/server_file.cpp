// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/part_file.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/server_file.hpp>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace atelier::runtime::cli {

namespace {

namespace fs = std::filesystem;
using core::ec;
using core::fail;
using core::result;
using nlohmann::json;

} // namespace

fs::path server_file(const fs::path& data) {
  return data / "server.json";
}

server_claim::~server_claim() {
  if (folder_ >= 0)
    close(folder_);
}

result<void> server_claim::take(const fs::path& data) {
  if (folder_ >= 0)
    return {};
  std::error_code error;
  fs::create_directories(data, error);
  const int folder = open(data.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return fail(ec::io_failed, "cannot open the folder {}: {}", data.string(),
                std::strerror(errno));
  if (flock(folder, LOCK_EX | LOCK_NB) == 0) {
    folder_ = folder;
    return {};
  }
  const int why = errno;
  close(folder);
  if (why != EWOULDBLOCK)
    return fail(ec::io_failed, "cannot lock the folder {}: {}", data.string(),
                std::strerror(why));
  // It may not have written its file yet.
  const auto other = read_server_file(server_file(data));
  const auto where = other && *other ? fmt::format(" ({}, process {})",
                                                   (*other)->url, (*other)->pid)
                                     : std::string{};
  return fail(ec::unavailable, "another server{} uses the data folder {}",
              where, show_value(data.string()));
}

result<void> write_server_file(const fs::path& file, const server_place& here) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const auto text =
    json{{"url", here.url}, {"pid", here.pid}, {"started", start_of(here.pid)}}
      .dump()
    + '\n';
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  core::part_file part{file.parent_path(), 0600};
  int why = part.open_error();
  if (why == 0)
    why = part.write_all(bytes);
  if (why == 0)
    why = part.put_at(file, core::on_existing::replace);
  if (why == 0)
    return {};
  return fail(ec::io_failed, "cannot write {}: {}", file.string(),
              std::strerror(why));
}

result<std::optional<server_place>> read_server_file(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error))
    return std::optional<server_place>{};
  std::ifstream in{file};
  std::ostringstream text;
  // A file that cannot be read leaves an empty text: an error of the stream and
  // no exception.
  text << in.rdbuf();
  const auto x = json::parse(std::move(text).str(), nullptr, false);
  if (!x.is_object() || !x.contains("url") || !x["url"].is_string()
      || !x.contains("pid") || !x["pid"].is_number_integer())
    return fail(ec::io_failed, "{} does not name the address of a server",
                file.string());
  server_place out{x["url"].get<std::string>(), x["pid"].get<pid_t>(), 0};
  if (const auto began = x.find("started");
      began != x.end() && began->is_number_unsigned())
    out.started = began->get<uint64_t>();
  return std::optional{std::move(out)};
}

void remove_server_file(const fs::path& file, pid_t pid) {
  const auto there = read_server_file(file);
  if (there && *there && (*there)->pid == pid)
    unlink(file.c_str());
}

bool is_atelier(pid_t pid) {
  if (pid <= 0)
    return false;
  std::ifstream in{"/proc/" + std::to_string(pid) + "/cmdline"};
  std::string name;
  std::getline(in, name, '\0');
  return fs::path{name}.filename() == "atelier";
}

uint64_t start_of(pid_t pid) {
  if (pid <= 0)
    return 0;
  std::ifstream in{"/proc/" + std::to_string(pid) + "/stat"};
  std::string line;
  std::getline(in, line);
  // The program's name ends with the last bracket, and may contain blanks. The
  // time is the twentieth field behind it.
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos)
    return 0;
  std::istringstream fields{line.substr(name_end + 1)};
  std::string skipped;
  for (int i = 0; i < 19; ++i)
    fields >> skipped;
  uint64_t out = 0;
  return fields >> out ? out : 0;
}

bool is_its_process(const server_place& x) {
  return is_atelier(x.pid) && (x.started == 0 || start_of(x.pid) == x.started);
}

} // namespace atelier::runtime::cli
