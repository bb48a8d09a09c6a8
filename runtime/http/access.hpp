// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/runtime/http/exchange.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http {

/// One key of the file, which holds no key itself but its SHA-256.
struct access_key {
  std::string name;
  /// Of the key, in hexadecimal.
  std::string sha256;
  scope may = scope::user;
  /// Requests a minute; 0: no limit.
  uint32_t per_minute = 0;
};

/// Reads a file of keys: a line each, "NAME SCOPE SHA256 [PER_MINUTE]"; '#'
/// begins a comment. The file must be its owner's alone, and hold a key.
/// Errors: ec::bad_config with file, line and what is wrong; ec::io_failed.
core::result<std::vector<access_key>> read_keys(
  const std::filesystem::path& file);

/// Who may do what.
/// Threads: any.
class access {
public:
  /// Without keys everybody is an admin: then the server must listen to this
  /// machine alone, or be told that this is meant.
  explicit access(std::vector<access_key> keys);

  bool asks_for_keys() const;

  /// From now on these keys alone are taken; the requests that one of them had
  /// of late still count.
  /// @pre both or neither ask for keys
  void replace(std::vector<access_key> keys);

  struct verdict {
    enum class kind : uint8_t { let_in, no_key, wrong_key, not_allowed, later };
    kind what = kind::let_in;
    std::string name;
    scope who = scope::anyone;
    /// With `later`.
    core::timespan retry_after{0};
  };

  /// Judges a request by its headers: "Authorization: Bearer KEY", "Basic" with
  /// the key as password, or "X-API-Key". Every key is compared, in constant
  /// time. What needs no key is never refused. A key's requests a minute may
  /// come in one burst.
  verdict judge(const fields& headers, scope needs, core::time_point now);

private:
  struct bucket {
    double tokens = 0;
    core::time_point since;
  };

  /// Returns zero where the key may go on, else when to come back.
  core::timespan take_token(const access_key& of, core::time_point now);

  using key_list = std::shared_ptr<const std::vector<access_key>>;

  key_list keys() const;

  mutable std::mutex mutex_;
  /// Guarded by the mutex, as the next one.
  key_list keys_;
  std::map<std::string, bucket> buckets_;
};

} // namespace atelier::runtime::http
