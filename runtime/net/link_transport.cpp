// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/layout.hpp>
#include <atelier/runtime/net/link.hpp>
#include <atelier/runtime/net/link_transport.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/io/basp_broker.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/scribe_impl.hpp>
#include <caf/send.hpp>

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

namespace atelier::runtime {

namespace {

constexpr uint32_t protocol = 1;

/// One thread runs every link's actor, so that events come one at a time.
struct link_system_config : caf::actor_system_config {
  link_system_config() {
    load<caf::io::middleman>();
    set("scheduler.policy", caf::atom("sharing"));
    set("scheduler.max-threads", size_t{1});
    set("logger.file-verbosity", caf::atom("quiet"));
    // The broker's thread reads messages itself, in their order.
    set("middleman.workers", size_t{0});
    add_message_types<caf::id_block::atelier_net>();
  }
};

/// CAF's own class asks the socket for its address, and aborts without a port.
struct link_scribe : caf::io::network::scribe_impl {
  using scribe_impl::scribe_impl;

  std::string addr() const override {
    return "link";
  }

  uint16_t port() const override {
    return 0;
  }
};

std::array<uint64_t, 2> draw_boot() {
  std::random_device entropy;
  const auto word = [&] { return uint64_t{entropy()} << 32 | entropy(); };
  return {word(), word()};
}

} // namespace

struct link_transport::impl {
  link_options options;
  std::shared_ptr<actors::transport_events> events =
    std::make_shared<actors::transport_events>();
  std::shared_ptr<link_table> table = std::make_shared<link_table>();
  link_system_config settings;
  caf::actor_system sys{settings};
  caf::actor broker =
    sys.middleman().named_broker<caf::io::basp_broker>(caf::atom("BASP"));
};

link_transport::link_transport(const link_options& options)
  : impl_(std::make_unique<impl>()) {
  auto& x = impl_->options;
  x = options;
  if (x.build == 0)
    x.build = ipc::build_id();
  if (x.boot == std::array<uint64_t, 2>{})
    x.boot = draw_boot();
}

link_transport::~link_transport() {
  // The actors end by themselves; the system's destructor waits for them.
  for (const auto& x : impl_->table->close())
    caf::anon_send(x, link_end{true});
}

void link_transport::connect(actors::transport_events events) {
  *impl_->events = std::move(events);
}

void link_transport::join(int socket, link_side side, joined told,
                          std::optional<actors::node_id> expected) {
  core::descriptor theirs{socket};
  core::descriptor ours{fcntl(socket, F_DUPFD_CLOEXEC, 3)};
  if (!ours)
    return told(core::fail(core::ec::out_of_resources,
                           "no second descriptor for a link: {}",
                           std::strerror(errno)));
  auto& x = *impl_;
  link_config how;
  how.side = side;
  how.own = {protocol, x.options.build, x.options.self.value, x.options.boot};
  how.idle = x.options.idle;
  how.patience = x.options.patience;
  how.expected = expected;
  how.told = std::move(told);
  how.events = x.events;
  how.table = x.table;
  how.end = std::make_shared<link_end_point>(std::move(ours));
  how.broker = x.broker;
  auto& loop = static_cast<caf::io::network::default_multiplexer&>(
    x.sys.middleman().backend());
  how.socket = caf::make_counted<link_scribe>(loop, theirs.release());
  x.sys.spawn(link, std::move(how));
}

bool link_transport::send(actors::node_id to, std::vector<std::byte> record) {
  const auto there = impl_->table->find(to);
  if (record.size() > actors::most_record_bytes || !there.end
      || there.end->is_cut()
      || !there.end->reserve(cost_of(record.size()),
                             impl_->options.most_unsent_bytes))
    return false;
  const auto* begin = reinterpret_cast<const char*>(record.data());
  caf::anon_send(there.link, link_send{{begin, begin + record.size()}});
  return true;
}

void link_transport::cut(actors::node_id to) {
  if (const auto there = impl_->table->find(to); there.end)
    there.end->cut();
}

} // namespace atelier::runtime
