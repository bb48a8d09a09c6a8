// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/part_file.hpp>
#include <atelier/index/store/detail/payload_files.hpp>
#include <atelier/index/store/detail/private_folder.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

namespace atelier::index::detail {

namespace {

namespace fs = std::filesystem;
using core::ec;

constexpr size_t name_digits = 16;

core::error fault(const fs::path& of, std::string_view doing, int number) {
  return core::fail(ec::io_failed, "{}: {}: {}", of.string(), doing,
                    std::generic_category().message(number));
}

/// Returns the entry whose file has that name, if any.
std::optional<uint64_t> entry_of(const std::string& name) {
  uint64_t out = 0;
  const auto* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, out, 16);
  if (name.size() != name_digits || error != std::errc{} || stop != end)
    return std::nullopt;
  return out;
}

class open_file {
public:
  open_file(const fs::path& path, int access)
    : fd_(open(path.c_str(), access | O_CLOEXEC | O_NOFOLLOW)) {}

  ~open_file() {
    if (fd_ >= 0)
      close(fd_);
  }

  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;

  int fd() const {
    return fd_;
  }

private:
  int fd_;
};

} // namespace

payload_files::payload_files(fs::path folder) : folder_(std::move(folder)) {}

fs::path payload_files::path_of(uint64_t entry) const {
  return folder_ / fmt::format("{:02x}", entry & 0xff)
       / fmt::format("{:016x}", entry);
}

core::result<void> payload_files::write(
  uint64_t entry, std::span<const std::span<const std::byte>> parts) const {
  const auto path = path_of(entry);
  const auto within = path.parent_path();
  if (auto made = make_private_folder(within); !made)
    return made;
  core::part_file file{within, 0600};
  if (file.open_error() != 0)
    return fault(path, "cannot be made", file.open_error());
  for (const auto& x : parts)
    if (const int error = file.write_all(
          {reinterpret_cast<const uint8_t*>(x.data()), x.size()});
        error != 0)
      return fault(path, "cannot be written", error);
  if (const int error = file.synchronise(); error != 0)
    return fault(path, "cannot be written", error);
  if (const int error = file.put_at(path, core::on_existing::replace);
      error != 0)
    return fault(path, "cannot be named", error);
  if (const int error = core::synchronise_folder(within); error != 0) {
    unlink(path.c_str());
    return fault(path, "cannot be named", error);
  }
  return {};
}

core::result<std::vector<std::byte>> payload_files::read(uint64_t entry,
                                                         uint64_t offset,
                                                         uint64_t bytes) const {
  const auto path = path_of(entry);
  const open_file file{path, O_RDONLY};
  if (file.fd() < 0)
    return errno == ENOENT
           ? core::fail(ec::not_found, "{} was not found", path.string())
           : fault(path, "cannot be opened", errno);

  // Memory is reserved only after the file's size confirms what its row says.
  struct stat about {};

  if (fstat(file.fd(), &about) != 0)
    return fault(path, "cannot be read", errno);
  const auto size = static_cast<uint64_t>(about.st_size);
  if (offset > size || bytes > size - offset)
    return core::fail(ec::bad_payload, "{} has {} bytes, not {}", path.string(),
                      size, offset + bytes);
  std::vector<std::byte> out(bytes);
  size_t done = 0;
  while (done < out.size()) {
    const auto n = pread(file.fd(), out.data() + done, out.size() - done,
                         static_cast<off_t>(offset + done));
    if (n < 0 && errno != EINTR)
      return fault(path, "cannot be read", errno);
    if (n == 0)
      return core::fail(ec::bad_payload, "{} ends after {} bytes",
                        path.string(), offset + done);
    if (n > 0)
      done += static_cast<size_t>(n);
  }
  return out;
}

core::result<void> payload_files::remove(uint64_t entry) const {
  const auto path = path_of(entry);
  if (unlink(path.c_str()) != 0 && errno != ENOENT)
    return fault(path, "cannot be removed", errno);
  return {};
}

core::result<void> payload_files::free(uint64_t entry, uint64_t offset,
                                       uint64_t bytes) const {
  const auto path = path_of(entry);
  const open_file file{path, O_WRONLY};
  if (file.fd() < 0)
    return fault(path, "cannot be opened", errno);
  while (fallocate(file.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                   static_cast<off_t>(offset), static_cast<off_t>(bytes))
         != 0)
    if (errno != EINTR)
      return fault(path, "a part of it cannot be freed", errno);
  return {};
}

core::result<payload_files::listing> payload_files::list() const {
  listing out;
  try {
    for (const auto& within : fs::directory_iterator{folder_}) {
      if (!within.is_directory() || within.is_symlink())
        continue;
      for (const auto& x : fs::directory_iterator{within}) {
        const auto name = x.path().filename().string();
        if (core::part_file::is_temporary(name))
          out.unfinished.push_back(x.path());
        else if (const auto entry = entry_of(name);
                 entry && x.path() == path_of(*entry) && !x.is_symlink()
                 && x.is_regular_file())
          out.sizes.emplace(*entry, x.file_size());
      }
    }
  } catch (const fs::filesystem_error& e) {
    return core::fail(ec::io_failed, "{}: cannot be listed: {}",
                      folder_.string(), e.code().message());
  }
  return out;
}

core::result<void> payload_files::remove(const listing& all) const {
  for (const auto& [entry, bytes] : all.sizes)
    if (auto ok = remove(entry); !ok)
      return ok;
  for (const auto& x : all.unfinished) {
    std::error_code error;
    fs::remove(x, error);
    if (error)
      return core::fail(ec::io_failed, "{}: cannot be removed: {}", x.string(),
                        error.message());
  }
  return {};
}

} // namespace atelier::index::detail
