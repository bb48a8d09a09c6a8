// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/safetensors.hpp>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <system_error>

namespace atelier::gpu {

namespace {

using json = nlohmann::json;

constexpr uint64_t most_header_bytes = 100'000'000;

static_assert(std::endian::native == std::endian::little);

std::optional<tensor_type> parse_type(std::string_view name) {
  using enum tensor_type;
  for (const auto x : {float64, float32, float16, bfloat16, int64, int32, int16,
                       int8, uint8, boolean})
    if (to_string(x) == name)
      return x;
  return std::nullopt;
}

// Returns the bytes that a shape needs; none where that overflows.
std::optional<uint64_t> bytes_for(const std::vector<int64_t>& shape,
                                  tensor_type type) {
  uint64_t n = bytes_of(type);
  for (const auto side : shape)
    if (side < 0 || __builtin_mul_overflow(n, static_cast<uint64_t>(side), &n))
      return std::nullopt;
  return n;
}

core::error bad(const std::filesystem::path& file, std::string_view what) {
  return core::fail(core::ec::bad_payload, "{}: {}", file.string(), what);
}

core::error bad_tensor(const std::filesystem::path& file, std::string_view name,
                       std::string_view what) {
  return core::fail(core::ec::bad_payload, "{}: tensor {}: {}", file.string(),
                    name, what);
}

core::result<tensor_view> parse_tensor(const std::filesystem::path& file,
                                       const std::string& name, const json& x,
                                       std::span<const std::byte> data) {
  if (!x.is_object())
    return bad_tensor(file, name, "its entry is not an object");
  const auto type = x.find("dtype");
  const auto shape = x.find("shape");
  const auto offsets = x.find("data_offsets");
  if (type == x.end() || !type->is_string())
    return bad_tensor(file, name, "dtype is missing or not a string");
  if (shape == x.end() || !shape->is_array())
    return bad_tensor(file, name, "shape is missing or not an array");
  if (offsets == x.end() || !offsets->is_array() || offsets->size() != 2
      || !(*offsets)[0].is_number_unsigned()
      || !(*offsets)[1].is_number_unsigned())
    return bad_tensor(file, name,
                      "data_offsets is missing or not two whole numbers");
  tensor_view out;
  const auto parsed = parse_type(type->get_ref<const std::string&>());
  if (!parsed)
    return bad_tensor(file, name,
                      fmt::format("dtype {} is not supported", type->dump()));
  out.type = *parsed;
  for (const auto& side : *shape) {
    if (!side.is_number_unsigned()
        || side.get<uint64_t>()
             > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return bad_tensor(file, name, "shape holds no whole number");
    out.shape.push_back(side.get<int64_t>());
  }
  const auto begin = (*offsets)[0].get<uint64_t>();
  const auto end = (*offsets)[1].get<uint64_t>();
  if (begin > end || end > data.size())
    return bad_tensor(file, name,
                      fmt::format("data_offsets [{}, {}] outside the {} bytes "
                                  "of data",
                                  begin, end, data.size()));
  const auto needed = bytes_for(out.shape, out.type);
  if (!needed || *needed != end - begin)
    return bad_tensor(
      file, name,
      fmt::format("{} bytes do not fit its shape and dtype", end - begin));
  out.bytes = data.subspan(begin, end - begin);
  return out;
}

} // namespace

core::result<std::shared_ptr<const safetensors_file>> safetensors_file::open(
  const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return core::fail(
      errno == ENOENT ? core::ec::not_found : core::ec::io_failed, "{}: {}",
      file.string(), std::generic_category().message(errno));

  struct closer {
    int fd;

    ~closer() {
      ::close(fd);
    }
  } const guard{fd};

  struct stat status {};

  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    return core::fail(core::ec::io_failed, "{}: not a regular file",
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
  out->mapped_bytes_ = size;
  const auto* at = static_cast<const std::byte*>(out->mapping_);
  std::memcpy(&header_bytes, at, sizeof header_bytes);
  if (header_bytes > most_header_bytes || header_bytes > size - 8)
    return bad(file, fmt::format("the header's length {} is not in 2..{}",
                                 header_bytes,
                                 std::min(most_header_bytes, size - 8)));
  const auto* text = reinterpret_cast<const char*>(at) + 8;
  const auto header = json::parse(text, text + header_bytes, nullptr, false);
  if (!header.is_object())
    return bad(file, "the header is not a JSON object");
  const std::span data{at + 8 + header_bytes, size - 8 - header_bytes};
  for (const auto& [name, x] : header.items()) {
    if (name == "__metadata__") {
      if (!x.is_object())
        return bad(file, "__metadata__ is not an object");
      for (const auto& [key, value] : x.items()) {
        if (!value.is_string())
          return bad(file, fmt::format("__metadata__.{} is not a string", key));
        out->metadata_.emplace(key, value.get<std::string>());
      }
      continue;
    }
    auto tensor = parse_tensor(file, name, x, data);
    if (!tensor)
      return tensor.why();
    out->tensors_.emplace(name, std::move(*tensor));
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
  // Whole pages; what else stands on the first and last is read again.
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto bytes = i->second.bytes;
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data()) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size());
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

std::string safetensors_file::where() const {
  return file_.string();
}

core::result<void> write_safetensors(
  const std::filesystem::path& file, const std::vector<named_tensor>& tensors,
  const std::map<std::string, std::string, std::less<>>& metadata) {
  auto header = json::object();
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const auto& [name, x] : tensors) {
    const auto needed = bytes_for(x.shape, x.type);
    if (!needed || *needed != x.bytes.size() || header.contains(name))
      return core::fail(core::ec::invalid_argument,
                        "tensor {}: twice, or {} bytes do not fit its shape",
                        name, x.bytes.size());
    header[name] = {{"dtype", to_string(x.type)},
                    {"shape", x.shape},
                    {"data_offsets", {offset, offset + x.bytes.size()}}};
    offset += x.bytes.size();
  }
  auto text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  auto partial = file;
  partial += fmt::format(".{}.partial", ::getpid());
  {
    std::ofstream to{partial, std::ios::binary | std::ios::trunc};
    const uint64_t length = text.size();
    to.write(reinterpret_cast<const char*>(&length), sizeof length);
    to.write(text.data(), static_cast<std::streamsize>(text.size()));
    for (const auto& [name, x] : tensors)
      to.write(reinterpret_cast<const char*>(x.bytes.data()),
               static_cast<std::streamsize>(x.bytes.size()));
    to.flush();
    if (!to) {
      std::error_code ignored;
      std::filesystem::remove(partial, ignored);
      return core::fail(core::ec::io_failed, "{}: cannot be written",
                        file.string());
    }
  }
  std::error_code failed;
  std::filesystem::rename(partial, file, failed);
  if (failed)
    return core::fail(core::ec::io_failed, "{}: {}", file.string(),
                      failed.message());
  return {};
}

} // namespace atelier::gpu
