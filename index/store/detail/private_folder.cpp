// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/core/part_file.hpp>
#include <atelier/index/store/detail/private_folder.hpp>

#include <fmt/format.h>

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace atelier::index::detail {

namespace {

namespace fs = std::filesystem;
using core::ec;

core::error not_made(const fs::path& folder, int number) {
  return core::fail(ec::io_failed, "{}: cannot be made: {}", folder.string(),
                    std::generic_category().message(number));
}

} // namespace

core::error refused_link(const fs::path& link) {
  return core::fail(ec::io_failed,
                    "{}: is a symbolic link, which is not followed: remove it",
                    link.string());
}

core::result<void> check_no_link(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_symlink(path, ignored))
    return refused_link(path);
  return {};
}

core::result<void> make_private_folder(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0700) == 0) {
    if (const int error = core::synchronise_folder(folder.parent_path());
        error != 0)
      return not_made(folder, error);
    return {};
  }
  const int error = errno;
  if (auto ok = check_no_link(folder); !ok)
    return ok;
  std::error_code ignored;
  if (error == EEXIST && fs::is_directory(folder, ignored))
    return {};
  return not_made(folder, error);
}

core::result<void> make_store_folder(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    return make_private_folder(folder);

  struct stat about {};

  if (stat(folder.c_str(), &about) != 0)
    return core::fail(ec::io_failed, "{}: {}", folder.string(),
                      std::generic_category().message(errno));
  const auto remedy = fmt::format("chmod 700 '{}'", folder.string());
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return core::fail(ec::io_failed,
                      "{}: other users can write into it (mode {:03o}): {}",
                      folder.string(), about.st_mode & 0777, remedy);
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    core::log_warn("cache: {}: other users can read the prompts in it (mode "
                   "{:03o}): {}",
                   folder.string(), about.st_mode & 0777, remedy);
  return {};
}

} // namespace atelier::index::detail
