// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/segment.hpp>

#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <boost/interprocess/exceptions.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace atelier::ipc {

namespace {

namespace bip = boost::interprocess;
using core::ec;
using core::fail;

// Turns the library's exceptions into errors; no other function catches them.
template <class F>
auto bordered(const std::string& what, F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const bip::interprocess_exception& e) {
    auto code = ec::io_failed;
    if (e.get_error_code() == bip::not_found_error)
      code = ec::not_found;
    else if (e.get_error_code() == bip::already_exists_error)
      code = ec::unavailable;
    else if (e.get_error_code() == bip::out_of_memory_error
             || e.get_error_code() == bip::out_of_space_error)
      code = ec::out_of_resources;
    return fail(code, "{}: {}", what, e.what());
  }
}

core::result<void> reserve(int fd, const std::string& name, uint64_t bytes) {
  int failed = 0;
  do
    failed = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  while (failed == EINTR);
  if (failed == ENOSPC || failed == ENOMEM || failed == EFBIG)
    return fail(ec::out_of_resources,
                "no {} bytes of shared memory for {}: {} (see df /dev/shm)",
                bytes, name, std::strerror(failed));
  if (failed != 0)
    return fail(ec::io_failed, "cannot reserve {} bytes for {}: {}", bytes,
                name, std::strerror(failed));
  return {};
}

bool is_linked(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && info.st_nlink > 0;
}

} // namespace

std::string segment_prefix() {
  return fmt::format("atelier-{}-", geteuid());
}

bool try_lock_segment(int fd) {
  int failed = 0;
  do
    failed = flock(fd, LOCK_EX | LOCK_NB);
  while (failed != 0 && errno == EINTR);
  return failed == 0;
}

core::result<segment_owner> segment_owner::make_shared_memory(uint64_t bytes) {
  constexpr int names = 1000;
  for (int n = 0; n < names; ++n) {
    auto name = fmt::format("{}{}-{}", segment_prefix(), getpid(), n);
    auto made = bordered(name, [&]() -> core::result<segment_owner> {
      segment_owner x;
      x.object_ =
        bip::shared_memory_object{bip::create_only, name.c_str(),
                                  bip::read_write, bip::permissions{0600}};
      // A process that removes stale objects may have been first. It then has
      // the lock, or had it and has unlinked the object.
      auto fd = x.object_.get_mapping_handle().handle;
      if (!try_lock_segment(fd) || !is_linked(fd))
        return fail(ec::unavailable, "{} was taken for a stale one", name);
      x.name_ = name;
      x.maker_ = getpid();
      if (auto ok = reserve(fd, name, bytes); !ok)
        return ok.why();
      x.region_ = bip::mapped_region{x.object_, bip::read_write, 0, bytes};
      return x;
    });
    if (made || made.why().code != ec::unavailable)
      return made;
  }
  return fail(ec::io_failed, "all {} names {}{}-<n> are taken", names,
              segment_prefix(), getpid());
}

core::result<segment_owner> segment_owner::make_private(uint64_t bytes) {
  return bordered("private memory", [&]() -> core::result<segment_owner> {
    segment_owner x;
    x.region_ = bip::anonymous_shared_memory(bytes);
    return x;
  });
}

segment_owner::segment_owner(segment_owner&& other) noexcept
  : name_(std::exchange(other.name_, {})),
    maker_(std::exchange(other.maker_, 0)),
    object_(std::move(other.object_)),
    region_(std::move(other.region_)) {}

segment_owner::~segment_owner() {
  if (!name_.empty() && maker_ == getpid())
    bip::shared_memory_object::remove(name_.c_str());
}

std::byte* segment_owner::data() const {
  return static_cast<std::byte*>(region_.get_address());
}

const std::string& segment_owner::name() const {
  return name_;
}

core::result<segment_view> segment_view::open(const std::string& name) {
  return bordered(name, [&]() -> core::result<segment_view> {
    bip::shared_memory_object object{bip::open_only, name.c_str(),
                                     bip::read_write};
    struct stat info;
    if (fstat(object.get_mapping_handle().handle, &info) != 0)
      return fail(ec::io_failed, "cannot look at {}: {}", name,
                  std::strerror(errno));
    if (info.st_uid != geteuid())
      return fail(ec::incompatible, "{} belongs to user {}, this is user {}",
                  name, info.st_uid, geteuid());
    segment_view x;
    // An empty object cannot be mapped; it is unfinished.
    if (info.st_size > 0)
      x.region_ = bip::mapped_region{object, bip::read_write};
    return x;
  });
}

std::byte* segment_view::data() const {
  return static_cast<std::byte*>(region_.get_address());
}

uint64_t segment_view::bytes() const {
  return region_.get_size();
}

} // namespace atelier::ipc
