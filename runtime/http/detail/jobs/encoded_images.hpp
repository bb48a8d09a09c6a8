// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/http/detail/connection/shared_text.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace atelier::runtime::http::detail {

/// Keeps the texts of images that event streams have to send, as long as any
/// has: the streams of one job share each text.
/// Threads: any.
class encoded_images {
public:
  using text = std::shared_ptr<shared_text>;

  /// Returns an image's text: the one that another stream has to send, or what
  /// `make` returns; null if it returns none. `make` must not call `get`.
  text get(const std::shared_ptr<const generated_image>& of,
           const std::function<std::optional<std::string>()>& make);

private:
  struct entry {
    std::weak_ptr<const generated_image> of;
    std::mutex mutex;
    /// The mutex guards it.
    std::weak_ptr<shared_text> made;
  };

  std::shared_ptr<entry> entry_of(
    const std::shared_ptr<const generated_image>& of);

  std::mutex mutex_;
  /// By the address of the image, guarded by the mutex.
  std::map<const generated_image*, std::shared_ptr<entry>> known_;
};

} // namespace atelier::runtime::http::detail
