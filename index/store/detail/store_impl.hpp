// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/sha256.hpp>
#include <atelier/index/detail/answer_counts.hpp>
#include <atelier/index/detail/ledger.hpp>
#include <atelier/index/nearest.hpp>
#include <atelier/index/store/detail/breaker.hpp>
#include <atelier/index/store/detail/catalog.hpp>
#include <atelier/index/store/detail/folder_lock.hpp>
#include <atelier/index/store/detail/hot_payloads.hpp>
#include <atelier/index/store/detail/payload_files.hpp>
#include <atelier/index/store/store.hpp>
#include <atelier/index/text_vector.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace atelier::index {

namespace detail {

/// Return the paths of the parts of a store's folder.
std::filesystem::path rows_of(const std::filesystem::path& folder);
std::filesystem::path payloads_of(const std::filesystem::path& folder);

} // namespace detail

/// A store's disk, and its state in memory.
struct store::impl {
  struct kept {
    uint64_t number = 0;
    std::string key;
    words_digest words{};
    /// The seed that drew it from noise, if it is known, and the digest of its
    /// whole text.
    std::optional<uint64_t> seed;
    core::sha256_digest text{};
    uint32_t depth = 0;
    core::extent px;
    uint64_t file_bytes = 0;
    /// In the order of the file, by rising steps. The ledger has their uses.
    std::vector<detail::part_row> parts;

    const detail::part_row* part_of(uint32_t steps) const;
    /// Whether payloads of the file have left.
    bool has_gaps() const;
    held_parts holds() const;
  };

  using kept_ptr = std::shared_ptr<const kept>;

  impl(store_options options, detail::folder_lock lock, detail::catalog rows);

  static core::result<std::unique_ptr<impl>> open(store_options options);

  /// Loads the rows whose files exist, and removes everything else.
  core::result<void> read_folder();

  /// Returns an entry and notes that it is used; null if it is gone.
  kept_ptr used(uint64_t entry);

  /// Returns a part's bytes, with which a request skips that many steps, after
  /// checking them.
  core::result<payload> give(const kept& from, const detail::part_row& part,
                             uint32_t skips);

  /// Counts an answer by the payload of `steps` that skipped that many steps.
  /// The entries of its text leave with their last answer.
  void count_answer(uint64_t entry, uint32_t steps, uint32_t skips);

  /// @param vector the one by which the entry is found
  /// @param bytes the size by which the entry counts
  bool keep(detail::entry_row row, std::span<const float> vector,
            uint64_t bytes, std::span<const payload> payloads);

  /// Moves what leaves a full folder at its start from the state in memory to
  /// `leaving`, and returns the payloads that leave alone.
  std::vector<detail::numbered_part> take_out_excess(
    std::vector<kept_ptr>& leaving);

  /// Vectors by the numbers of their entries.
  using numbered_vectors = std::map<uint64_t, std::vector<float>>;

  /// Encodes the texts of entries, and keeps the vectors. Texts without a
  /// vector are left out.
  core::result<numbered_vectors> encoded_texts(
    const std::map<uint64_t, std::string>& texts) const;

  /// The images of entries.
  struct read_images {
    numbered_vectors vectors;
    /// Entries whose bytes are not those that were kept.
    std::vector<uint64_t> torn;
  };

  /// Reads and encodes the images of entries, and keeps the vectors. An image
  /// that cannot be read or encoded is left out and counts as failed.
  core::result<read_images> encoded_images(
    const std::vector<kept_ptr>& entries);

  /// Returns the identity under which vectors are kept on the disk; empty if
  /// they are not worth it.
  std::string identity() const;

  /// Reads the kept vectors of the encoder in use, by their entries.
  core::result<numbered_vectors> kept_vectors() const;

  /// Keeps vectors on the disk, if the encoder's are worth it. An entry whose
  /// vector is missing there is encoded again by the next start.
  core::result<void> keep_vectors(const numbered_vectors& added) const;

  /// Returns a text's vector; empty if it has none.
  std::vector<float> encoded(std::string_view key, std::string_view text);

  bool has_unwritten() const;
  void write_back();

  /// Returns the queued uses and empties the queue.
  std::vector<detail::numbered_uses> take_uses();

  /// Queues again the entries whose uses could not be written.
  void put_back(std::span<const detail::numbered_uses> failed);

  // The caller must hold `writing`.
  bool evict(std::span<const detail::victim> which);
  /// Frees the bytes of an entry's file that belong to no payload. If that is
  /// impossible, the entry leaves.
  void free_gaps(const kept& entry);
  bool write(const detail::entry_row& row, std::span<const payload> payloads);
  void write_uses();
  /// Removes the rows and files of the entries that reads dropped.
  void remove_dropped();
  void remove_file(uint64_t entry, uint64_t bytes);
  void remove_what_stayed();
  void write_failed(const core::error& why);
  void write_worked();

  // The caller must hold `lock`.
  /// @param bytes the size by which the entry counts
  void enter(kept_ptr entry, core::tenant_id whose, uint64_t bytes,
             detail::entry_uses uses);
  kept_ptr take_out(uint64_t entry);
  /// Takes out an entry whose row and file leave later, and counts it; it may
  /// be gone.
  void drop(uint64_t entry, uint64_t kept_counts::*as);
  /// Takes out some payloads of an entry, but not all. Returns the rest; null
  /// if the entry is gone.
  kept_ptr take_out(const detail::victim& which);
  bool is_there(uint64_t entry, uint32_t steps) const;

  const store_options with;
  const detail::folder_lock held;
  const detail::payload_files files;

  /// Held while the disk is changed; locked before `lock`. No read takes it.
  std::mutex writing;
  const detail::catalog rows;
  detail::breaker writes;
  /// Files of entries that are gone, with their bytes; a disk fault left them
  /// behind.
  std::map<uint64_t, uint64_t> stayed;

  /// Never held while the disk is read or changed.
  mutable std::mutex lock;
  detail::breaker reads;
  /// As `writes` says, which a write that does not end holds.
  core::time_point writes_out_until;
  detail::ledger shares;
  detail::hot_shelves hot;
  std::unordered_map<uint64_t, kept_ptr> by_number;
  nearest_by_key vectors;
  /// Payloads given since the start.
  detail::answer_counts answers{with.answers};
  /// Entries whose uses are queued to be written.
  std::set<uint64_t> unwritten;
  /// Entries that reads dropped and whose rows and files are still there, with
  /// their bytes.
  std::map<uint64_t, uint64_t> dropped;
  uint64_t last_number = 0;
  uint64_t last_use = 0;
  kept_counts counts;
};

} // namespace atelier::index
