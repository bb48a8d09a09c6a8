// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/connection/byte_shares.hpp>
#include <atelier/runtime/http/exchange.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace atelier::runtime::http::detail {

class connection;

/// The exchange of a connection. Passes its calls to the connection's strand as
/// long as the connection exists. If it is dropped without an answer, it
/// notifies the connection, which informs the client.
class live_exchange : public exchange {
public:
  /// @param held what is counted for the request's body
  /// @param chunked whether events are sent in chunks
  /// @param unread_bytes how many bytes of events may wait for the client
  live_exchange(std::weak_ptr<connection> to, request_message asked,
                byte_shares::part held, bool chunked, uint64_t unread_bytes);

  ~live_exchange() override;

  const request_message& asked() const override;

  void drop_body() override;

  void reply(reply_message x) override;

  void begin_events() override;

  void event(std::string_view name, std::string_view data) override;

  void share_event(std::string_view name,
                   std::shared_ptr<shared_text> data) override;

  void passing_event(std::string_view name, std::string_view data) override;

  uint64_t unread_limit() const override {
    return unread_bytes_;
  }

  void end_events() override;

  void on_gone(std::function<void()> then) override;

  /// Handles a client that disconnected.
  void went();

private:
  std::string wire_text(std::string_view name, std::string_view data) const;

  enum class stage : uint8_t { asked, streaming, answered };

  const std::weak_ptr<connection> to_;
  request_message asked_;
  byte_shares::part held_;
  const bool chunked_;
  const uint64_t unread_bytes_;

  // Held while data is passed on, so that nothing follows the end.
  std::mutex mutex_;
  stage stage_ = stage::asked;
  bool gone_ = false;
  std::function<void()> then_;
};

} // namespace atelier::runtime::http::detail
