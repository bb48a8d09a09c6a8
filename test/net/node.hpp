// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ipc/child_process.hpp"
#include <atelier/runtime/net/link_transport.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace atelier::test {

using namespace std::chrono_literals;

using record = std::vector<std::byte>;

/// A node whose records go to `on_record`. CAF's name of a node contains the
/// process, so that one process never has two of them.
struct node {
  explicit node(runtime::link_options options,
                std::function<void(actors::node_id, record)> on_record)
    : links(options) {
    links.connect({std::move(on_record), [this](actors::node_id) { ++lost; }});
  }

  /// Joins over the socket and returns the result.
  core::result<actors::node_id> join(
    int socket, runtime::link_side side,
    std::optional<actors::node_id> expected = {}) {
    std::mutex mutex;
    std::condition_variable told;
    std::optional<core::result<actors::node_id>> got;
    links.join(
      socket, side,
      [&](core::result<actors::node_id> x) {
        const std::lock_guard guard{mutex};
        got = std::move(x);
        told.notify_all();
      },
      expected);
    std::unique_lock lock{mutex};
    told.wait(lock, [&] { return got.has_value(); });
    return std::move(*got);
  }

  std::atomic<int> lost{0};
  runtime::link_transport links;
};

inline std::pair<int, int> socket_pair() {
  int both[2] = {-1, -1};
  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both);
  return {both[0], both[1]};
}

inline runtime::link_options options_of(uint32_t self) {
  runtime::link_options x;
  x.self = actors::node_id{self};
  x.idle = 1s;
  x.patience = 5s;
  return x;
}

constexpr actors::node_id scheduler{0};
constexpr actors::node_id far{1};

/// Returns a process with node 1 that sends each record back, until it is
/// killed.
inline child_process echo_process(int socket, int other_end,
                                  runtime::link_options how = options_of(1)) {
  return child_process{[=] {
    close(other_end);
    node* self = nullptr;
    node me{how, [&](actors::node_id from, record x) {
              self->links.send(from, std::move(x));
            }};
    self = &me;
    [[maybe_unused]] const auto linked =
      me.join(socket, runtime::link_side::accepts);
    for (;;)
      pause();
  }};
}

} // namespace atelier::test
