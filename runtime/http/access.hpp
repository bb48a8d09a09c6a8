// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/runtime/http/exchange.hpp>
#include <atelier/runtime/http/minute_account.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::runtime::http {

/// One key of the key file, which holds the SHA-256 of the key and not the key
/// itself.
struct access_key {
  std::string name;
  /// The hash of the key, in hexadecimal.
  std::string sha256;
  scope may = scope::user;
  /// The maximum number of requests per minute; 0: no limit, as for the next
  /// two.
  uint32_t per_minute = 0;
  /// The maximum number of images that calls may ask for per minute.
  uint32_t images_per_minute = 0;
  /// The maximum number of steps of all these images per minute.
  uint32_t steps_per_minute = 0;
  /// Its caller's share of devices (generation::share).
  uint32_t share = 1;
};

/// Reads a file of keys with one key per line, "NAME SCOPE SHA256
/// [PER_MINUTE] [images_per_minute=N] [steps_per_minute=N] [share=N]"; '#'
/// begins a comment. Lines of one name are keys of one caller and agree in all
/// but the hash. Only its owner may have access to the file, which must hold at
/// least one key. Errors: ec::bad_config with file, line and fault;
/// ec::io_failed.
core::result<std::vector<access_key>> read_keys(
  const std::filesystem::path& file);

/// Decides which requests are allowed.
/// Threads: any.
class access {
public:
  /// Without keys every client is an admin: then the server must listen only to
  /// local programs, unless the operator explicitly allows more.
  explicit access(std::vector<access_key> keys);

  bool asks_for_keys() const;

  /// Replaces the keys. What a key that stays has used of its limits still
  /// counts.
  /// @pre both or neither require keys
  void replace(std::vector<access_key> keys);

  /// Returns the names of the keys, each once.
  std::vector<std::string> names() const;

  /// Whether a key with this hash exists.
  bool knows(std::string_view sha256) const;

  struct verdict {
    enum class kind : uint8_t { let_in, no_key, wrong_key, not_allowed, later };
    kind outcome = kind::let_in;
    std::string name;
    /// The hash of the key that was found; empty if none was.
    std::string sha256;
    scope caller = scope::anyone;
    /// How long to wait; only with `later`.
    core::timespan retry_after{0};
    /// The request needs no key, and has one that does not exist.
    bool unknown_key = false;
  };

  /// Judges a request by its headers: "Authorization: Bearer KEY", "X-API-Key",
  /// or "Basic" with the key as password, the first that it has. Every key is
  /// compared, in constant time. A request that needs no key is never rejected.
  /// The requests that a key has per minute may arrive in one burst.
  /// @param follows as in `route`: then the request counts apart, and a key has
  ///        followed_per_minute of them, or ten times its requests per minute
  ///        if these are more
  verdict judge(const fields& headers, scope needs, core::time_point now,
                bool follows = false);

  static constexpr uint32_t followed_per_minute = 600;

  /// A limit that does not allow what a key asks for.
  struct exceeded {
    /// "images_per_minute" or "steps_per_minute".
    std::string_view limit;
    uint32_t value = 0;
    /// What the call asks for.
    uint64_t asked = 0;
    /// How long to wait; none if the call alone is above the limit.
    std::optional<core::timespan> retry_after;
  };

  /// Takes images and their steps from what the key of this name has per
  /// minute: both, or neither if one of them is not allowed.
  std::optional<exceeded> take_images(const std::string& name, uint64_t images,
                                      uint64_t steps, core::time_point now);

  /// Undoes `take_images` for a call that was not accepted.
  void give_images_back(const std::string& name, uint64_t images,
                        uint64_t steps);

  /// Returns the share of the key of this name; 1 if no key has it.
  uint32_t share_of(std::string_view name) const;

private:
  enum class counted : uint8_t { requests, follows, images, steps };

  /// Returns zero if the key may continue, otherwise how long to wait.
  core::timespan take_request(const access_key& of, core::time_point now,
                              bool follows);

  using key_list = std::shared_ptr<const std::vector<access_key>>;

  key_list keys() const;

  mutable std::mutex mutex_;
  /// Guarded by the mutex, like the next member.
  key_list keys_;
  /// The accounts of the keys that have a limit, by name.
  std::map<std::pair<std::string, counted>, minute_account> accounts_;
};

} // namespace atelier::runtime::http
