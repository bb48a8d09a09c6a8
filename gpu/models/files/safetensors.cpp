// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/detail/safetensors_header.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace atelier::gpu {

namespace {

constexpr uint64_t most_header_bytes = 100'000'000;

static_assert(std::endian::native == std::endian::little,
              "the format's numbers are little-endian");

core::error bad(const std::filesystem::path& file, std::string_view what) {
  return core::fail(core::ec::bad_payload, "{}: {}", file.string(), what);
}

/// Returns a description of a file in another format, by its first bytes.
std::string_view other_format(std::string_view start) {
  if (start.starts_with("PK\x03\x04") || start.starts_with("\x80\x02"))
    return "it is a PyTorch file (.ckpt, .bin, .pt), which can run code when "
           "it is read: convert it to .safetensors";
  if (start.starts_with("GGUF"))
    return "it is a GGUF file: only .safetensors is read";
  if (start.starts_with('<'))
    return "it is a web page or XML: the download got another file";
  if (start.starts_with('{') || start.starts_with('['))
    return "it is JSON without weights";
  if (start.starts_with("version https://git-lfs"))
    return "it is a Git LFS pointer: the file itself was not fetched";
  return {};
}

/// Closes a file when it goes out of scope.
struct file_closer {
  int fd;

  ~file_closer() {
    ::close(fd);
  }
};

} // namespace

core::result<std::shared_ptr<const safetensors_file>> safetensors_file::open(
  const std::filesystem::path& file) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return core::fail(
      errno == ENOENT ? core::ec::not_found : core::ec::io_failed, "{}: {}",
      file.string(), std::generic_category().message(errno));
  const file_closer guard{fd};

  struct stat status {};

  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    return core::fail(core::ec::bad_payload, "{}: not a regular file",
                      file.string());
  const auto size = static_cast<uint64_t>(status.st_size);
  uint64_t header_bytes = 0;
  if (size < sizeof header_bytes)
    return bad(file, fmt::format("{} bytes are too few for a header", size));
  auto out = std::shared_ptr<safetensors_file>(new safetensors_file);
  out->file_ = file;
  out->mapping_ = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (out->mapping_ == MAP_FAILED) {
    out->mapping_ = nullptr;
    return core::fail(core::ec::io_failed, "{}: cannot be mapped: {}",
                      file.string(), std::generic_category().message(errno));
  }
  // No hint is given to the kernel: MADV_SEQUENTIAL, _WILLNEED and
  // _POPULATE_READ gained nothing over a copy of 1 GB in 0.2..0.4 s from the
  // page cache and 1.0..1.4 s from the disk (2 cores, Linux 6.18, 2026-11-21);
  // the last one lost.
  out->mapped_bytes_ = size;
  const auto* at = static_cast<const std::byte*>(out->mapping_);
  const auto* text = reinterpret_cast<const char*>(at);
  std::memcpy(&header_bytes, at, sizeof header_bytes);
  const auto rest = size - sizeof header_bytes;
  if (header_bytes > std::min(most_header_bytes, rest)) {
    const auto other =
      other_format({text, static_cast<size_t>(std::min<uint64_t>(size, 32))});
    if (!other.empty())
      return bad(file, other);
    return bad(file,
               fmt::format("the header's length {} is not in 2..{}",
                           header_bytes, std::min(most_header_bytes, rest)));
  }
  const std::span data{at + sizeof header_bytes + header_bytes,
                       rest - header_bytes};
  auto header = detail::parse_safetensors_header(
    {text + sizeof header_bytes, header_bytes}, data.size(), file.string());
  if (!header)
    return header.why();
  out->metadata_ = std::move(header->metadata);
  // Nodes are moved one by one, so that the header is never held twice.
  while (!header->tensors.empty()) {
    auto node = header->tensors.extract(header->tensors.begin());
    auto& x = node.mapped();
    out->tensors_.emplace_hint(
      out->tensors_.end(), std::move(node.key()),
      tensor_view{x.type, std::move(x.shape),
                  data.subspan(x.begin, x.end - x.begin), false});
  }
  return std::shared_ptr<const safetensors_file>{std::move(out)};
}

safetensors_file::~safetensors_file() {
  if (mapping_ != nullptr)
    ::munmap(mapping_, mapped_bytes_);
}

std::optional<tensor_view> safetensors_file::find(std::string_view name) const {
  const auto i = tensors_.find(name);
  if (i == tensors_.end())
    return std::nullopt;
  return i->second;
}

std::vector<std::string> safetensors_file::names() const {
  std::vector<std::string> out;
  out.reserve(tensors_.size());
  for (const auto& [name, x] : tensors_)
    out.push_back(name);
  return out;
}

void safetensors_file::let_go(std::string_view name) const {
  const auto i = tensors_.find(name);
  if (i == tensors_.end())
    return;
  // Releases whole pages; other data on the first and last page are read again.
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto bytes = i->second.bytes;
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data()) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size());
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

std::string safetensors_file::where() const {
  return file_.string();
}

} // namespace atelier::gpu
