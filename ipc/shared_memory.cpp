// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/free_memory.hpp>
#include <atelier/ipc/shared_memory.hpp>

#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <boost/interprocess/exceptions.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

// Older headers lack it, and older kernels answer EINVAL.
#ifndef MFD_NOEXEC_SEAL
#  define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace atelier::ipc {

namespace {

namespace bip = boost::interprocess;
using core::ec;
using core::fail;

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// The descriptor of an object, as Boost.Interprocess maps it.
class mappable {
public:
  explicit mappable(int fd) : fd_(fd) {}

  mappable(const mappable&) = delete;
  mappable& operator=(const mappable&) = delete;

  ~mappable() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  int get() const {
    return fd_;
  }

  int release() {
    return std::exchange(fd_, -1);
  }

  bip::mapping_handle_t get_mapping_handle() const {
    return bip::ipcdetail::mapping_handle_from_file_handle(fd_);
  }

private:
  int fd_;
};

// Turns the library's exceptions into errors; no other function catches them.
template <class F>
auto bordered(F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const bip::interprocess_exception& e) {
    const auto code = e.get_error_code();
    return fail(code == bip::out_of_memory_error
                    || code == bip::out_of_space_error
                  ? ec::out_of_resources
                  : ec::io_failed,
                "the arena's memory cannot be mapped: {}", e.what());
  }
}

core::error too_little(uint64_t bytes, const std::string& why) {
  return fail(ec::out_of_resources,
              "no {} MiB of memory for the arena: {}; set fewer "
              "arena.image_slots or state_slots, or give this machine or "
              "container more memory",
              (bytes + (1 << 20) - 1) >> 20, why);
}

int make_object() {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const auto fd = memfd_create("atelier-arena", flags | MFD_NOEXEC_SEAL);
  if (fd < 0 && errno == EINVAL)
    return memfd_create("atelier-arena", flags);
  return fd;
}

core::result<void> reserve(int fd, uint64_t bytes) {
  // Without this check the kernel would end processes to make room.
  if (const auto free = free_memory(); free && *free < bytes)
    return too_little(bytes, fmt::format("{} MiB are free", *free >> 20));
  int failed = 0;
  do
    failed = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  while (failed == EINTR);
  if (failed == ENOSPC || failed == ENOMEM || failed == EFBIG)
    return too_little(bytes, std::strerror(failed));
  if (failed != 0)
    return fail(ec::io_failed, "cannot reserve {} bytes for the arena: {}",
                bytes, std::strerror(failed));
  return {};
}

} // namespace

core::result<shared_memory> shared_memory::make(uint64_t bytes) {
  const mappable made{make_object()};
  // A child's standard streams take the places of lower descriptors.
  mappable object{made.get() < 0
                    ? -1
                    : fcntl(made.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
  if (object.get() < 0)
    return fail(ec::io_failed,
                "the arena's memory cannot be made: {}; processes.mode = "
                "\"single\" needs none",
                std::strerror(errno));
  if (auto ok = reserve(object.get(), bytes); !ok)
    return ok.why();
  if (fcntl(object.get(), F_ADD_SEALS, seals) != 0)
    return fail(ec::io_failed, "the arena's memory cannot be sealed: {}",
                std::strerror(errno));
  return bordered([&]() -> core::result<shared_memory> {
    shared_memory x;
    x.region_ = bip::mapped_region{object, bip::read_write, 0, bytes};
    if (madvise(x.data(), bytes, MADV_DONTFORK) != 0)
      return fail(ec::io_failed, "the arena's memory would reach forks: {}",
                  std::strerror(errno));
    x.fd_ = object.release();
    return x;
  });
}

core::result<shared_memory> shared_memory::make_private(uint64_t bytes) {
  return bordered([&]() -> core::result<shared_memory> {
    shared_memory x;
    x.region_ = bip::anonymous_shared_memory(bytes);
    return x;
  });
}

core::result<shared_memory> shared_memory::adopt(int descriptor) {
  const mappable object{descriptor};
  struct stat info;
  if (fstat(descriptor, &info) != 0
      || (fcntl(descriptor, F_GET_SEALS) & seals) != seals || info.st_size == 0)
    return fail(ec::incompatible, "descriptor {} is not an arena", descriptor);
  return bordered([&]() -> core::result<shared_memory> {
    shared_memory x;
    x.region_ = bip::mapped_region{object, bip::read_write};
    return x;
  });
}

shared_memory::shared_memory(shared_memory&& other) noexcept
  : fd_(std::exchange(other.fd_, -1)), region_(std::move(other.region_)) {}

shared_memory::~shared_memory() {
  if (fd_ >= 0)
    ::close(fd_);
}

std::byte* shared_memory::data() const {
  return static_cast<std::byte*>(region_.get_address());
}

uint64_t shared_memory::bytes() const {
  return region_.get_size();
}

int shared_memory::descriptor() const {
  return fd_;
}

} // namespace atelier::ipc
