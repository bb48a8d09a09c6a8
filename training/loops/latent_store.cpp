// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/latent_store.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace atelier::gpu {

namespace {

using core::ec;
using core::fail;

constexpr size_t header_bytes = 4096;

// Ends a group that was written completely. Places that were never written read
// as zeros.
constexpr uint64_t mark = 0x4154454c49455231;

bool write_all(int file, const void* from, size_t bytes, uint64_t at) {
  const auto* next = static_cast<const char*>(from);
  while (bytes > 0) {
    const auto done = pwrite(file, next, bytes, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return false;
    next += done;
    at += static_cast<uint64_t>(done);
    bytes -= static_cast<size_t>(done);
  }
  return true;
}

// Returns the number of bytes read, which is less than `bytes` at the file's
// end or after an error.
size_t read_some(int file, void* to, size_t bytes, uint64_t at) {
  auto* next = static_cast<char*>(to);
  size_t sum = 0;
  while (sum < bytes) {
    const auto done =
      pread(file, next + sum, bytes - sum, static_cast<off_t>(at + sum));
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return sum;
    sum += static_cast<size_t>(done);
  }
  return sum;
}

} // namespace

core::result<latent_store> latent_store::open(const std::filesystem::path& file,
                                              layout how) {
  const auto descriptor =
    ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return fail(ec::io_failed, "cannot open {}: {}", file.string(),
                std::strerror(errno));
  latent_store out{descriptor, file, std::move(how)};
  std::array<char, header_bytes> header{};
  const auto text =
    fmt::format("atelier latents 1, {} values, {} a group, {}",
                out.how_.elements, out.how_.group, out.how_.maker);
  text.copy(header.data(), header.size() - 1);
  std::array<char, header_bytes> found{};
  if (read_some(descriptor, found.data(), found.size(), 0) == found.size()
      && found == header)
    return out;
  if (ftruncate(descriptor, 0) != 0
      || !write_all(descriptor, header.data(), header.size(), 0))
    return out.fault("write");
  return out;
}

latent_store::latent_store(int file, std::filesystem::path name, layout how)
  : file_(file), name_(std::move(name)), how_(std::move(how)) {}

latent_store::latent_store(latent_store&& x) noexcept
  : file_(std::exchange(x.file_, -1)),
    name_(std::move(x.name_)),
    how_(std::move(x.how_)) {}

latent_store& latent_store::operator=(latent_store&& x) noexcept {
  std::swap(file_, x.file_);
  std::swap(name_, x.name_);
  std::swap(how_, x.how_);
  return *this;
}

latent_store::~latent_store() {
  if (file_ >= 0)
    close(file_);
}

size_t latent_store::group_bytes() const {
  return size_t{2} * how_.elements * how_.group + sizeof(mark);
}

core::error latent_store::fault(const char* doing) const {
  return fail(ec::io_failed, "cannot {} {}: {}", doing, name_.string(),
              std::strerror(errno));
}

bool latent_store::has(uint64_t group) const {
  uint64_t found = 0;
  const auto end = header_bytes + (group + 1) * group_bytes();
  return read_some(file_, &found, sizeof(found), end - sizeof(found))
        == sizeof(found)
      && found == mark;
}

core::result<void> latent_store::write(uint64_t group,
                                       std::span<const uint16_t> values) {
  const auto at = header_bytes + group * group_bytes();
  if (!write_all(file_, values.data(), values.size_bytes(), at)
      || !write_all(file_, &mark, sizeof(mark), at + values.size_bytes()))
    return fault("write");
  return {};
}

core::result<void> latent_store::read(uint64_t number,
                                      std::span<uint16_t> into) const {
  const auto group = number / how_.group;
  if (!has(group))
    return fail(ec::not_found, "{} has no latent of scene {}", name_.string(),
                number);
  const auto at = header_bytes + group * group_bytes()
                + (number % how_.group) * into.size_bytes();
  if (read_some(file_, into.data(), into.size_bytes(), at) != into.size_bytes())
    return fault("read");
  return {};
}

} // namespace atelier::gpu
