// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/incoming_request.hpp>

namespace atelier::runtime::http::detail {

void incoming_request::begin(request_reader::limits most) {
  reader_ = std::make_unique<request_reader>(most);
}

incoming_request::outcome incoming_request::feed(std::string_view bytes) {
  using stage = request_reader::stage;
  size_t used = 0;
  for (;;) {
    if (has_head_) {
      if (!held_.grow(reader_->message().body.size() - held_.bytes()))
        return {event::full, used};
      if (reader_->where() == stage::done)
        return {event::done, used};
    }
    const auto before = reader_->where();
    const auto now = reader_->feed(bytes.substr(used));
    used += now;
    if (reader_->where() == stage::failed)
      return {event::failed, used};
    if (!has_head_ && reader_->where() != stage::head) {
      has_head_ = true;
      return {event::head, used};
    }
    if (now == 0 && before == reader_->where())
      return {event::more, used};
  }
}

std::pair<request_message, byte_shares::part> incoming_request::take() {
  std::pair<request_message, byte_shares::part> out{
    std::move(reader_->message()), std::move(held_)};
  reader_.reset();
  return out;
}

void incoming_request::drop() {
  held_.clear();
  reader_.reset();
}

} // namespace atelier::runtime::http::detail
