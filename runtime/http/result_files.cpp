// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/core/part_file.hpp>
#include <atelier/runtime/http/result_files.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

namespace atelier::runtime::http {

namespace {

namespace fs = std::filesystem;
using core::ec;
using core::fail;
using core::result;

constexpr std::string_view ending = ".picture";

using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

core::error failed(const char* doing, const fs::path& what, int error) {
  return fail(ec::io_failed, "cannot {} '{}': {}", doing, what.string(),
              std::strerror(error));
}

/// Returns whether a file in the folder is a temporary file, or the result of a
/// job that is not known. Other files are kept.
bool is_left_over(const fs::path& x, const std::set<uint64_t>& known) {
  const auto name = x.filename().string();
  if (!name.ends_with(ending))
    return core::part_file::is_temporary(name);
  uint64_t job = 0;
  const auto* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data(), end, job, 16);
  return read.ec != std::errc{} || read.ptr == end || *read.ptr != '-'
      || !known.contains(job);
}

result<void> make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error)
    fs::permissions(folder, fs::perms::owner_all, error);
  if (error)
    return fail(ec::io_failed, "cannot create the folder '{}': {}",
                folder.string(), error.message());
  return {};
}

/// Removes files that are left over. A file that cannot be removed is
/// overwritten later.
result<void> remove_old(const fs::path& folder,
                        const std::set<uint64_t>& known) {
  std::error_code error;
  for (fs::directory_iterator i{folder, error}, end; !error && i != end;
       i.increment(error))
    if (is_left_over(i->path(), known)) {
      std::error_code ignored;
      fs::remove(i->path(), ignored);
    }
  if (error)
    return fail(ec::io_failed, "cannot list the folder '{}': {}",
                folder.string(), error.message());
  return {};
}

} // namespace

result<std::shared_ptr<const result_files>> result_files::open(
  const fs::path& folder, const std::set<uint64_t>& known, durability how) {
  if (auto made = make_folder(folder); !made)
    return made.why();
  const int lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0)
    return failed("open the folder", folder, errno);
  std::shared_ptr<const result_files> out{new result_files{folder, lock, how}};
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return fail(ec::unavailable, "another server uses the folder '{}'",
                  folder.string());
    return failed("lock the folder", folder, errno);
  }
  if (auto empty = remove_old(folder, known); !empty)
    return empty.why();
  return out;
}

result_files::result_files(fs::path folder, int lock, durability how)
  : folder_(std::move(folder)), lock_(lock), how_(how) {}

result_files::~result_files() {
  close(lock_);
}

fs::path result_files::path_of(uint64_t job, uint32_t index) const {
  return folder_ / fmt::format("{:016x}-{}{}", job, index, ending);
}

result<void> result_files::put(uint64_t job, uint32_t index,
                               std::span<const uint8_t> bytes) const {
  const auto path = path_of(job, index);
  const auto done = [&](const char* doing, int error) -> result<void> {
    if (error == 0)
      return {};
    return failed(doing, path, error);
  };
  core::part_file to{folder_, 0600};
  if (auto ok = done("write", to.open_error()); !ok)
    return ok;
  if (auto ok = done("write", to.write_all(bytes)); !ok)
    return ok;
  const bool durable = how_ == durability::synchronised;
  if (auto ok = done("synchronise", durable ? to.synchronise() : 0); !ok)
    return ok;
  if (auto ok = done("name", to.put_at(path, core::on_existing::replace)); !ok)
    return ok;
  return done("synchronise", durable ? core::synchronise_folder(folder_) : 0);
}

result<std::vector<uint8_t>> result_files::get(uint64_t job,
                                               uint32_t index) const {
  const auto path = path_of(job, index);
  const file from{std::fopen(path.c_str(), "rbe"), &std::fclose};
  if (from == nullptr) {
    if (errno == ENOENT)
      return fail(ec::not_found, "image {} of job {} is no longer kept", index,
                  job);
    return failed("read", path, errno);
  }
  std::error_code error;
  const auto size = fs::file_size(path, error);
  std::vector<uint8_t> bytes(error ? 0 : size);
  if (error)
    return fail(ec::io_failed, "cannot read '{}': {}", path.string(),
                error.message());
  if (!bytes.empty()
      && std::fread(bytes.data(), 1, bytes.size(), from.get()) != bytes.size())
    return failed("read", path, errno);
  return bytes;
}

std::optional<uint64_t> result_files::size(uint64_t job, uint32_t index) const {
  std::error_code error;
  const auto bytes = fs::file_size(path_of(job, index), error);
  return error ? std::nullopt : std::optional<uint64_t>{bytes};
}

void result_files::remove(uint64_t job, uint32_t index) const {
  std::error_code error;
  fs::remove(path_of(job, index), error);
  if (error)
    core::log_warn("cannot remove an image's file: {}", error.message());
}

} // namespace atelier::runtime::http
