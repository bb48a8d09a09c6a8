// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/output_file.hpp>
#include <atelier/gpu/models/files/staging_folder.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

namespace atelier::gpu::detail {

namespace fs = std::filesystem;
using core::ec;

namespace {

int rename_with(const fs::path& from, const fs::path& to, unsigned flags) {
  return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0
         ? 0
         : errno;
}

/// Returns whether a file system does not support renameat2's flags.
bool knows_no_flags(int code) {
  return code == EINVAL || code == ENOSYS;
}

} // namespace

core::error staging_folder::failed(int code) const {
  return core::fail(ec::io_failed, "{}: cannot be written: {}",
                    target_.string(), std::generic_category().message(code));
}

core::result<staging_folder> staging_folder::create(const fs::path& target) {
  static std::atomic<uint64_t> made = 0;
  staging_folder out;
  out.target_ = target;
  const auto parent = target.parent_path();
  std::error_code error;
  if (!parent.empty())
    fs::create_directories(parent, error);
  if (error)
    return out.failed(error.value());
  const auto path = parent
                  / fmt::format(".{}-{}-{}.part", target.filename().string(),
                                ::getpid(), made.fetch_add(1));
  if (::mkdir(path.c_str(), 0777) != 0)
    return out.failed(errno);
  out.path_ = path;
  return out;
}

staging_folder::staging_folder(staging_folder&& other) noexcept
  : target_(std::move(other.target_)),
    path_(std::exchange(other.path_, fs::path{})) {}

staging_folder::~staging_folder() {
  std::error_code ignored;
  if (!path_.empty())
    fs::remove_all(path_, ignored);
}

core::result<void> staging_folder::publish(bool replace) {
  int code = rename_with(path_, target_, RENAME_NOREPLACE);
  if (code == EEXIST && !replace)
    return core::fail(ec::invalid_argument, "{} exists already",
                      target_.string());
  if (code == EEXIST)
    // The previous folder gets the temporary name, and is removed with this
    // object.
    code = rename_with(path_, target_, RENAME_EXCHANGE);
  else if (code == 0)
    path_.clear();
  if (knows_no_flags(code)) {
    std::error_code error;
    if (fs::exists(fs::symlink_status(target_, error))) {
      if (!replace)
        return core::fail(ec::invalid_argument, "{} exists already",
                          target_.string());
      fs::remove_all(target_, error);
    }
    code = ::rename(path_.c_str(), target_.c_str()) == 0 ? 0 : errno;
    if (code == 0)
      path_.clear();
  }
  if (code != 0)
    return failed(code);
  return synchronise_folder(target_.parent_path());
}

} // namespace atelier::gpu::detail
