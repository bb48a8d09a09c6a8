// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace atelier::runtime::http::detail {

/// Counts the memory that is held for callers, by caller, so that none takes
/// all of it. A caller that holds more than its share is refused once three
/// quarters of the limit are held; the last quarter is for those below their
/// share.
/// Threads: any.
class byte_shares {
public:
  struct limits {
    /// What all callers may hold together.
    uint64_t all = 0;
    /// What a caller may hold while others hold the rest.
    uint64_t share = 0;
  };

  /// Returns the limits with a share of an eighth, or of the largest text that
  /// one caller may send.
  static limits limits_of(uint64_t all, uint64_t largest);

  /// The bytes held for one purpose of one caller, which the destructor
  /// releases. A part without an owner counts nothing.
  /// Threads: any, except for the assignment.
  class part {
  public:
    part() = default;

    part(std::shared_ptr<byte_shares> of, std::string caller, limits within)
      : of_(std::move(of)), caller_(std::move(caller)), within_(within) {}

    ~part() {
      clear();
    }

    part(part&& x) noexcept;
    part& operator=(part&& x) noexcept;

    /// Counts more bytes. Returns false, and counts none, if the limits do not
    /// allow them. The first bytes of all are always allowed.
    bool grow(uint64_t bytes);

    /// Counts bytes that are there already.
    void must_grow(uint64_t bytes);

    /// @pre bytes are at most what the part holds
    void shrink(uint64_t bytes);

    void clear();

    uint64_t bytes() const;

    /// Returns an empty part of the same caller and limits.
    part another() const {
      return {of_, caller_, within_};
    }

  private:
    std::shared_ptr<byte_shares> of_;
    std::string caller_;
    limits within_;
    /// Guarded by the mutex of the owner.
    uint64_t bytes_ = 0;
  };

  /// Returns what all callers hold.
  uint64_t held() const;

  /// Returns the number of callers that hold something.
  size_t callers() const;

private:
  void add(const std::string& caller, uint64_t bytes);
  void remove(const std::string& caller, uint64_t bytes);

  mutable std::mutex mutex_;
  /// The mutex guards these.
  std::unordered_map<std::string, uint64_t> by_caller_;
  uint64_t held_ = 0;
};

} // namespace atelier::runtime::http::detail
