// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/output_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace atelier::gpu::detail {

namespace fs = std::filesystem;

core::error output_file::failed(int code) const {
  return core::fail(core::ec::io_failed, "{}: cannot be written: {}",
                    target_.string(), std::generic_category().message(code));
}

core::result<output_file> output_file::create(const fs::path& target) {
  output_file out;
  out.target_ = target;
  out.part_ = std::make_unique<core::part_file>(target.parent_path());
  if (const int error = out.part_->open_error())
    return out.failed(error);
  return out;
}

core::result<void> output_file::write(std::span<const std::byte> bytes) {
  const auto* const first = reinterpret_cast<const uint8_t*>(bytes.data());
  if (const int error = part_->write_all({first, bytes.size()}))
    return failed(error);
  return {};
}

core::result<void> output_file::finish() {
  if (const int error = part_->synchronise())
    return failed(error);
  if (const int error = part_->put_at(target_, core::on_existing::replace))
    return failed(error);
  part_.reset();
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
