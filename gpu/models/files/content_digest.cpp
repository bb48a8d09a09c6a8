// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/descriptor.hpp>
#include <atelier/core/sha256.hpp>
#include <atelier/gpu/models/files/content_digest.hpp>
#include <atelier/gpu/models/files/detail/safetensors_header.hpp>
#include <atelier/gpu/models/files/json_file.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

namespace atelier::gpu {

namespace {

namespace fs = std::filesystem;
using core::ec;

/// The bytes of a tensor that are read at its beginning, middle and end.
constexpr uint64_t piece_bytes = 1024;

/// A file that is read at any place.
class open_file {
public:
  static core::result<open_file> open(const fs::path& path) {
    // Without O_NONBLOCK, opening a pipe would wait for its writer.
    open_file out{path, core::descriptor{::open(
                          path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)}};

    struct stat about {};

    if (!out.from_ || fstat(out.from_.number(), &about) != 0)
      return out.fault(errno);
    if (!S_ISREG(about.st_mode))
      return core::fail(ec::bad_payload, "{}: not a regular file",
                        path.string());
    out.size_ = static_cast<uint64_t>(about.st_size);
    return out;
  }

  uint64_t size() const {
    return size_;
  }

  core::result<std::string> read(uint64_t offset, uint64_t bytes) const {
    std::string out(bytes, '\0');
    size_t done = 0;
    while (done < out.size()) {
      const auto n = pread(from_.number(), out.data() + done, out.size() - done,
                           static_cast<off_t>(offset + done));
      if (n < 0 && errno != EINTR)
        return fault(errno);
      if (n == 0)
        return core::fail(ec::bad_payload, "{}: ends after {} of {} bytes",
                          path_.string(), offset + done, size_);
      if (n > 0)
        done += static_cast<size_t>(n);
    }
    return out;
  }

private:
  open_file(fs::path path, core::descriptor from)
    : path_(std::move(path)), from_(std::move(from)) {}

  core::error fault(int number) const {
    return core::fail(number == ENOENT ? ec::not_found : ec::io_failed,
                      "{}: {}", path_.string(),
                      std::generic_category().message(number));
  }

  fs::path path_;
  core::descriptor from_;
  uint64_t size_ = 0;
};

/// The parts of models, added one after another.
class digest {
public:
  /// Adds a text, so that none can be taken for two others.
  void add(std::string_view name, std::string_view text) {
    add_bytes(fmt::format("{} {}\n", name, text.size()));
    add_bytes(text);
  }

  /// Errors: ec::bad_payload for a file larger than any vocabulary.
  core::result<void> add_file(std::string_view name, const fs::path& path) {
    const auto file = open_file::open(path);
    if (!file)
      return file.why();
    if (file->size() > detail::most_vocabulary_bytes)
      return core::fail(ec::bad_payload, "{}: its {} bytes are outside 0..{}",
                        path.string(), file->size(),
                        detail::most_vocabulary_bytes);
    const auto text = file->read(0, file->size());
    if (!text)
      return text.why();
    add(name, *text);
    return {};
  }

  core::result<void> add_component(std::string_view name, const component& x) {
    add(name, x.class_name);
    add("config", x.config);
    for (const auto& file : x.files)
      if (auto ok = add_weights(file); !ok)
        return ok;
    return {};
  }

  std::string finish() {
    return core::to_hex(to_.finish());
  }

private:
  void add_bytes(std::string_view bytes) {
    to_.update(std::as_bytes(std::span{bytes}));
  }

  core::result<void> add_weights(const fs::path& path) {
    const auto file = open_file::open(path);
    if (!file)
      return file.why();
    uint64_t header_bytes = 0;
    const auto head = file->read(0, sizeof header_bytes);
    if (!head)
      return head.why();
    std::memcpy(&header_bytes, head->data(), sizeof header_bytes);
    if (header_bytes > file->size() - sizeof header_bytes)
      return core::fail(ec::bad_payload,
                        "{}: its header of {} bytes is not whole",
                        path.string(), header_bytes);
    const auto text = file->read(sizeof header_bytes, header_bytes);
    if (!text)
      return text.why();
    add("weights", *text);
    const auto begin = sizeof header_bytes + header_bytes;
    const auto header = detail::parse_safetensors_header(
      *text, file->size() - begin, path.string());
    if (!header)
      return header.why();
    // In the order of the file, which disks read fastest.
    std::vector<std::pair<uint64_t, uint64_t>> places;
    for (const auto& [name, x] : header->tensors)
      places.emplace_back(begin + x.begin, begin + x.end);
    std::ranges::sort(places);
    for (const auto& [first, last] : places)
      if (auto ok = add_pieces(*file, first, last - first); !ok)
        return ok;
    return {};
  }

  core::result<void> add_pieces(const open_file& from, uint64_t first,
                                uint64_t bytes) {
    const auto add_piece = [&](uint64_t offset,
                               uint64_t size) -> core::result<void> {
      const auto piece = from.read(offset, size);
      if (!piece)
        return piece.why();
      add_bytes(*piece);
      return {};
    };
    if (bytes <= 3 * piece_bytes)
      return add_piece(first, bytes);
    for (const auto at :
         {uint64_t{0}, (bytes - piece_bytes) / 2, bytes - piece_bytes})
      if (auto ok = add_piece(first + at, piece_bytes); !ok)
        return ok;
    return {};
  }

  core::sha256_stream to_;
};

core::result<void> add_tokenizer(const tokenizer_files& x, digest& to) {
  to.add("tokenizer_config", x.config);
  to.add("special_tokens_map", x.special_tokens);
  const auto added = x.words().parent_path() / "added_tokens.json";
  std::error_code error;
  if (fs::exists(added, error))
    if (auto ok = to.add_file("added_tokens", added); !ok)
      return ok;
  // The vocabulary and the merges are not read beside it.
  if (!x.tokenizer_json.empty())
    return to.add_file("tokenizer", x.tokenizer_json);
  if (auto ok = to.add_file("vocab", x.vocab); !ok)
    return ok;
  return to.add_file("merges", x.merges);
}

} // namespace

core::result<std::string> content_digest(const model_files& x) {
  digest out;
  out.add("pipeline", x.class_name);
  out.add("scheduler", x.scheduler);
  for (const auto& [name, value] : x.settings)
    out.add(name, value ? "true" : "false");
  // They decide which words of a prompt are encoded.
  out.add("words", x.words.text());
  out.add("traits", to_text(x.traits));
  const auto add_part = [&](std::string_view name,
                            const component* part) -> core::result<void> {
    return part == nullptr ? core::result<void>{}
                           : out.add_component(name, *part);
  };
  const auto of = [](const std::optional<component>& part) {
    return part ? &*part : nullptr;
  };
  for (const auto& [name, part] :
       {std::pair{"denoiser", &x.denoiser}, std::pair{"vae", &x.vae},
        std::pair{"text_encoder", of(x.text_encoder)},
        std::pair{"text_encoder_2", of(x.text_encoder_2)}})
    if (auto ok = add_part(name, part); !ok)
      return ok.why();
  for (const auto* words : {&x.tokenizer, &x.tokenizer_2})
    if (*words)
      if (auto ok = add_tokenizer(**words, out); !ok)
        return ok.why();
  return out.finish();
}

core::result<void> check_content(const model_files& x,
                                 const std::string& digest) {
  const auto now = content_digest(x);
  if (!now)
    return now.why();
  if (*now == digest)
    return {};
  return core::fail(ec::unavailable,
                    "{}: its files have changed since the start: restart the "
                    "server to use them, or put the old ones back",
                    x.from.string());
}

} // namespace atelier::gpu
