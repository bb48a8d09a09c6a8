// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/index/store/store.hpp>

#include <boost/test/unit_test.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::test {

/// The size that counts for an entry in addition to its payloads, key and text.
inline constexpr uint64_t entry_bytes = 4096;
inline constexpr core::extent kept_px{8, 8};

/// Returns a folder whose files are in memory, so that nothing waits for a
/// disk; nothing if the machine has none.
inline std::optional<std::filesystem::path> memory_folder() {
  const std::filesystem::path out{"/dev/shm"};
  if (access(out.c_str(), R_OK | W_OK | X_OK) != 0)
    return std::nullopt;
  return out;
}

/// A folder for a store, which the destructor removes.
class store_folder {
public:
  explicit store_folder(
    const std::filesystem::path& in = std::filesystem::temp_directory_path()) {
    auto name = (in / "store-XXXXXX").string();
    BOOST_REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }

  ~store_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  store_folder(const store_folder&) = delete;
  store_folder& operator=(const store_folder&) = delete;

  std::filesystem::path path() const {
    return path_ / "cache";
  }

  index::store_options options() const {
    index::store_options x;
    x.folder = path();
    x.bytes = 1 << 20;
    x.entries = 100;
    x.memory_bytes = 1 << 16;
    x.tenant_floor = 0.25;
    return x;
  }

  std::shared_ptr<index::store> open(index::store_options with) const {
    auto made = index::store::open(std::move(with));
    BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.why().text));
    return std::move(*made);
  }

  std::shared_ptr<index::store> open() const {
    return open(options());
  }

  /// Returns the files of payloads.
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> out;
    for (const auto& x :
         std::filesystem::recursive_directory_iterator{path() / "payload"})
      if (x.is_regular_file())
        out.push_back(x.path());
    return out;
  }

  uint64_t payload_bytes() const {
    uint64_t out = 0;
    for (const auto& x : files())
      out += std::filesystem::file_size(x);
    return out;
  }

private:
  std::filesystem::path path_;
};

/// Returns how much of a disk a file fills, in blocks of 512 bytes.
inline uint64_t blocks_of(const std::filesystem::path& file) {
  struct stat about {};

  BOOST_REQUIRE(stat(file.c_str(), &about) == 0);
  return static_cast<uint64_t>(about.st_blocks);
}

inline std::vector<std::byte> filled_bytes(size_t bytes, uint64_t with) {
  std::vector<std::byte> out(bytes);
  for (size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<std::byte>(with + i / 7);
  return out;
}

/// Returns states with these numbers of bytes after 5, 10, ... steps.
inline index::leftover kept_states(const std::vector<size_t>& bytes,
                                   uint64_t with = 1,
                                   core::tenant_id whose = {}) {
  index::leftover out;
  out.whose = whose;
  uint32_t steps = 0;
  for (const auto n : bytes)
    out.states.push_back({steps += 5, filled_bytes(n, with)});
  return out;
}

template <class T>
core::ec code_of(const core::result<T>& x) {
  return x ? core::ec::none : x.why().code;
}

inline std::string any_text(core::philox& random) {
  std::string out;
  for (auto words = 1 + random.below(4); words > 0; --words)
    out += "word" + std::to_string(random.below(12)) + ' ';
  return out;
}

/// Returns the number of the nearest entry, or 0 if none was found.
inline uint64_t nearest_of(index::kept_work& m, std::string_view text,
                           std::string_view key = "k") {
  const auto found = m.near(key, text, {1});
  return found.empty() ? 0 : found.front().entry;
}

} // namespace atelier::test
