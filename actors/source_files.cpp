// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/source_files.hpp>

#include <cstring>

namespace atelier::actors {

uint64_t source_files_bytes(const core::source_images& x) {
  return sizeof(source_files_head) + x.bytes();
}

core::result<void> write_source_files(std::span<std::byte> into,
                                      const core::source_images& x) {
  const auto needed = source_files_bytes(x);
  if (needed > into.size() || x.bytes() > UINT32_MAX)
    return core::fail(core::ec::out_of_resources,
                      "source files of {} bytes do not fit their slot of {}",
                      needed, into.size());
  source_files_head head;
  head.image_bytes = static_cast<uint32_t>(x.image.size());
  head.mask_bytes = static_cast<uint32_t>(x.mask.size());
  auto* at = into.data();
  std::memcpy(at, &head, sizeof(head));
  at += sizeof(head);
  if (!x.image.empty())
    std::memcpy(at, x.image.data(), x.image.size());
  if (!x.mask.empty())
    std::memcpy(at + x.image.size(), x.mask.data(), x.mask.size());
  return {};
}

core::result<source_files> parse_source_files(std::span<const std::byte> from) {
  source_files_head head;
  if (from.size() < sizeof(head))
    return core::fail(core::ec::bad_payload,
                      "source files of {} bytes are shorter than their head",
                      from.size());
  std::memcpy(&head, from.data(), sizeof(head));
  if (head.magic != source_files_head::magic_value
      || sizeof(head) + uint64_t{head.image_bytes} + head.mask_bytes
           != from.size())
    return core::fail(core::ec::bad_payload,
                      "source files of {} bytes do not match their head",
                      from.size());
  const auto* const files =
    reinterpret_cast<const uint8_t*>(from.data() + sizeof(head));
  return source_files{{files, head.image_bytes},
                      {files + head.image_bytes, head.mask_bytes}};
}

} // namespace atelier::actors
