// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/transport.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace atelier::runtime {

/// Parameters of a node for its links.
struct link_options {
  /// This node's number.
  actors::node_id self;
  /// Hash of everything that both ends must share; 0: this build's own.
  uint64_t build = 0;
  /// Identifies this start of the node; zeros: one is drawn at random.
  std::array<uint64_t, 2> boot{};
  /// A link is cut after this time without a sign of life.
  core::timespan idle = std::chrono::seconds{2};
  /// Maximum time for a submitted socket to become a link.
  core::timespan patience = std::chrono::seconds{2};
  /// Maximum bytes of records that wait for one node, including those under
  /// way.
  size_t most_unsent_bytes = 64u << 20;
};

/// The sides agree beforehand which end of the socket speaks first.
enum class link_side : uint8_t { accepts, opens };

/// Links between nodes over connected stream sockets that the caller submits.
/// CAF's broker communicates on them; no port is opened and no name resolved.
/// At most four records of full length are under way to a node; the rest waits
/// here.
/// Threads: any. Events come from one thread of this object, which also calls
///          the functions given to `join`.
class link_transport : public actors::transport {
public:
  using joined = std::function<void(core::result<actors::node_id>)>;

  /// Starts the links' actor system.
  explicit link_transport(const link_options& options);

  /// Cuts all links. Sockets that are not links yet end as `stopping`; nothing
  /// is reported afterwards.
  ~link_transport() override;

  void connect(actors::transport_events events) override;

  /// Takes over a connected stream socket, in blocking mode or not, and makes
  /// it a link. The callback is called once, before the link's first record.
  /// The far end must be the node `expected`, if one is given.
  /// Errors: passed to the callback: ec::incompatible for another protocol or
  ///         build, ec::invalid_argument for a node that is not the expected
  ///         one or has this one's number, ec::unavailable if the far end does
  ///         not speak in time or is linked already (try again), ec::stopping.
  void join(int socket, link_side side, joined told,
            std::optional<actors::node_id> expected = {});

  bool send(actors::node_id to, std::vector<std::byte> record) override;
  void cut(actors::node_id to) override;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::runtime
