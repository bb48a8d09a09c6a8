// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/detail/breaker.hpp>
#include <atelier/index/detail/medium.hpp>
#include <atelier/index/store/detail/catalog.hpp>
#include <atelier/index/store/detail/folder_lock.hpp>
#include <atelier/index/store/detail/payload_files.hpp>
#include <atelier/index/store/store.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace atelier::index::detail {

/// Return the paths of the parts of a store's folder.
std::filesystem::path rows_of(const std::filesystem::path& folder);
std::filesystem::path payloads_of(const std::filesystem::path& folder);

/// A folder: rows in SQLite, and the payloads of each entry in one file. A
/// payload is on the disk before its row, and a row is removed before its
/// payload, so that no entry exists in part.
class folder_medium final : public medium {
public:
  /// Errors: those of store::open.
  static core::result<std::unique_ptr<folder_medium>> open(
    store_options options);

  folder_medium(store_options options, folder_lock held, catalog rows);

  uint64_t overhead(std::string_view key, std::string_view text) const override;
  bool is_lasting() const override;
  core::result<loaded_medium> load(
    const std::function<void(entry_row)>& take) override;
  core::result<payload> read(uint64_t entry, const part_row& part) override;
  medium_state state() const override;
  bool accepts() override;
  bool add(entry_row& row, std::span<const payload> payloads,
           std::span<const float> vector,
           std::span<const numbered_uses> uses) override;
  bool note(std::span<const numbered_uses> uses) override;
  core::result<void> strike(std::span<const victim> which) override;
  void erase(const entry_row& of) override;
  bool thin(const entry_row& of) override;
  uint64_t unerased_bytes() const override;
  core::result<std::map<uint64_t, std::string>> texts(
    std::span<const uint64_t> numbers) override;

private:
  /// Vectors by the numbers of their entries.
  using numbered_vectors = std::map<uint64_t, std::vector<float>>;

  /// An entry whose image has to be encoded.
  struct unseen_image {
    uint64_t number = 0;
    part_row part;
    core::extent px;
  };

  /// Encodes the texts of entries, and keeps the vectors. Texts without a
  /// vector are left out.
  core::result<numbered_vectors> encoded_texts(
    const std::map<uint64_t, std::string>& texts) const;

  /// Reads and encodes the images of entries, and keeps the vectors. An image
  /// that cannot be read or encoded is left out and counts as failed; damaged
  /// ones are added to `out`, as are the vectors.
  core::result<void> encode_images(const std::vector<unseen_image>& all,
                                   loaded_medium& out);

  /// Returns the identity under which vectors are kept; empty if they are not
  /// worth it.
  std::string identity() const;

  /// Reads the kept vectors of the encoder in use, by their entries.
  core::result<numbered_vectors> kept_vectors() const;

  /// Keeps vectors, if the encoder's are worth it. An entry whose vector is
  /// missing is encoded again by the next start.
  core::result<void> keep_vectors(const numbered_vectors& added) const;

  void erase_file(uint64_t entry, uint64_t bytes);
  /// Notes for the breaker how a change ended. Returns whether it is done.
  bool worked(const core::result<void>& change);
  /// Counts a failed change. Returns false.
  bool failed(const core::error& why);

  const store_options with_;
  const folder_lock held_;
  const payload_files files_;
  const catalog rows_;
  /// Files of entries that were struck, with their bytes; a disk fault left
  /// them behind.
  std::map<uint64_t, uint64_t> stayed_;

  /// Never held while the disk is read or changed.
  mutable std::mutex lock_;
  breaker reads_;
  breaker writes_;
  uint64_t failed_ = 0;
};

} // namespace atelier::index::detail
