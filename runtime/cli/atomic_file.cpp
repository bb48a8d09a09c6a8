// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/atomic_file.hpp>

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

namespace atelier::runtime::cli {

namespace {

namespace fs = std::filesystem;
using core::ec;
using core::fail;

std::string message_of(int error) {
  return std::generic_category().message(error);
}

core::error io_error(std::string_view what, const fs::path& path, int error) {
  return fail(ec::io_failed, "cannot {} {}: {}", what, path.string(),
              message_of(error));
}

core::error exists_error(const fs::path& path) {
  return fail(ec::invalid_argument,
              "-o: {} exists already; --force replaces it", path.string());
}

fs::path folder_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path{"."};
}

int write_through(const core::part_file& to, std::span<const uint8_t> bytes) {
  const int error = to.write_all(bytes);
  return error == 0 ? to.synchronise() : error;
}

/// Returns the file that a symbolic link stands for, so that replacing writes
/// there.
fs::path resolved(const fs::path& target) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(target, error)))
    return target;
  auto real = fs::weakly_canonical(target, error);
  return error ? target : real;
}

fs::path nearest_existing(fs::path folder) {
  std::error_code error;
  while (folder.has_relative_path() && !fs::exists(folder, error)) {
    folder = folder.parent_path();
    if (folder.empty())
      return ".";
  }
  return folder;
}

} // namespace

core::result<void> write_file(const fs::path& target,
                              std::span<const uint8_t> bytes,
                              on_existing mode) {
  const auto real = resolved(target);
  const auto folder = folder_of(real);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return io_error("make the folder", folder, error.value());
  core::part_file file{folder};
  if (const int e = file.open_error())
    return io_error("write into", folder, e);
  if (const int e = write_through(file, bytes))
    return io_error("write", target, e);
  if (const int e = file.put_at(real, mode)) {
    if (e == EEXIST)
      return exists_error(target);
    return io_error("write", target, e);
  }
  if (const int e = core::synchronise_folder(folder))
    return io_error("synchronise the folder", folder, e);
  return {};
}

core::result<void> check_free(const fs::path& target, on_existing mode) {
  struct stat found {};

  if (lstat(target.c_str(), &found) != 0) {
    if (errno == ENOENT)
      return {};
    return fail(ec::invalid_argument, "-o: {} cannot be written: {}",
                target.string(), message_of(errno));
  }
  if (mode == on_existing::refuse)
    return exists_error(target);
  // The target of a dangling link is made.
  if (S_ISLNK(found.st_mode) && stat(target.c_str(), &found) != 0)
    return {};
  if (!S_ISREG(found.st_mode))
    return fail(ec::invalid_argument, "-o: {} is not a regular file",
                target.string());
  return {};
}

core::result<void> check_writable(const fs::path& target, on_existing mode) {
  if (auto free = check_free(target, mode); !free)
    return free;
  const auto folder = nearest_existing(folder_of(resolved(target)));
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return fail(ec::invalid_argument, "-o: {} is not a folder",
                folder.string());
  const core::part_file probe{folder};
  if (const int e = probe.open_error()) {
    if (e == ENOSPC || e == EDQUOT)
      return io_error("write into", folder, e);
    return fail(ec::invalid_argument, "-o: cannot write into {}: {}",
                folder.string(), message_of(e));
  }
  constexpr std::array<uint8_t, 4096> block{};
  if (const int e = write_through(probe, block))
    return io_error("write into", folder, e);
  return {};
}

} // namespace atelier::runtime::cli
