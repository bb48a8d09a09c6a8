// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/output_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace atelier::gpu::detail {

namespace fs = std::filesystem;

core::error output_file::failed(int code) const {
  return core::fail(core::ec::io_failed, "{}: cannot be written: {}",
                    target_.string(), std::generic_category().message(code));
}

core::result<output_file> output_file::create(const fs::path& target) {
  static std::atomic<uint64_t> made = 0;
  output_file out;
  out.target_ = target;
  out.partial_ = target.parent_path()
               / fmt::format(".{}-{}-{}.part", target.filename().string(),
                             ::getpid(), made.fetch_add(1));
  out.fd_ =
    ::open(out.partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (out.fd_ < 0)
    return out.failed(errno);
  return out;
}

output_file::output_file(output_file&& other) noexcept
  : target_(std::move(other.target_)),
    partial_(std::move(other.partial_)),
    fd_(std::exchange(other.fd_, -1)) {}

output_file::~output_file() {
  if (fd_ < 0)
    return;
  ::close(fd_);
  ::unlink(partial_.c_str());
}

core::result<void> output_file::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR)
      return failed(errno);
    if (n > 0)
      bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return {};
}

core::result<void> output_file::finish() {
  if (::fsync(fd_) != 0)
    return failed(errno);
  if (::rename(partial_.c_str(), target_.c_str()) != 0)
    return failed(errno);
  ::close(std::exchange(fd_, -1));
  return synchronise_folder(target_.parent_path());
}

core::result<void> synchronise_folder(const fs::path& folder) {
  const auto* name = folder.empty() ? "." : folder.c_str();
  const int fd = ::open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = fd < 0 || ::fsync(fd) == 0 ? 0 : errno;
  if (fd >= 0)
    ::close(fd);
  // Some file systems cannot sync folders, and some do not allow reading them.
  if (error == 0 || error == EINVAL || error == EROFS)
    return {};
  return core::fail(core::ec::io_failed, "{}: cannot be synchronised: {}",
                    folder.string(), std::generic_category().message(error));
}

} // namespace atelier::gpu::detail
