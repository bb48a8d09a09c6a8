// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>

#include <caf/meta/type_name.hpp>
#include <caf/type_id.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace atelier::runtime {

/// Opens a link, from both ends; the accepting end sends only what it checked.
struct link_hello {
  uint32_t protocol = 0;
  uint64_t build = 0;
  /// Atelier's number of the node, never CAF's name for it.
  uint32_t node = 0;
  /// Identifies this start of the node.
  std::array<uint64_t, 2> boot{};

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, link_hello& x) {
    return f(caf::meta::type_name("atelier.link_hello"), x.protocol, x.build,
             x.node, x.boot);
  }
};

/// Answers a hello; `refusal` is empty if the link is accepted.
struct link_answer {
  link_hello from;
  std::string refusal;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, link_answer& x) {
    return f(caf::meta::type_name("atelier.link_answer"), x.from, x.refusal);
  }
};

/// Carries one record.
struct link_record {
  std::vector<char> bytes;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, link_record& x) {
    return f(caf::meta::type_name("atelier.link_record"), x.bytes);
  }
};

/// Returns credit for records that were processed.
struct link_taken {
  uint64_t cost = 0;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, link_taken& x) {
    return f(caf::meta::type_name("atelier.link_taken"), x.cost);
  }
};

/// Reports that the sender is alive.
struct link_beat {
  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, link_beat&) {
    return f(caf::meta::type_name("atelier.link_beat"));
  }
};

/// Within a node: passes a record to the link's actor.
struct link_send {
  std::vector<char> bytes;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, link_send& x) {
    return f(caf::meta::type_name("atelier.link_send"), x.bytes);
  }
};

/// Within a node: ends the link's actor.
struct link_end {
  /// False: the time for greeting is over, which ends only connections that
  /// still greet.
  bool stopping = false;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, link_end& x) {
    return f(caf::meta::type_name("atelier.link_end"), x.stopping);
  }
};

/// Within a node: time for a beat.
struct link_tick {
  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, link_tick&) {
    return f(caf::meta::type_name("atelier.link_tick"));
  }
};

} // namespace atelier::runtime

CAF_BEGIN_TYPE_ID_BLOCK(atelier_net, caf::id_block::atelier::end)

  CAF_ADD_TYPE_ID(atelier_net, (atelier::runtime::link_hello))
  CAF_ADD_TYPE_ID(atelier_net, (atelier::runtime::link_answer))
  CAF_ADD_TYPE_ID(atelier_net, (atelier::runtime::link_record))
  CAF_ADD_TYPE_ID(atelier_net, (atelier::runtime::link_taken))
  CAF_ADD_TYPE_ID(atelier_net, (atelier::runtime::link_beat))
  CAF_ADD_TYPE_ID(atelier_net, (atelier::runtime::link_send))
  CAF_ADD_TYPE_ID(atelier_net, (atelier::runtime::link_end))
  CAF_ADD_TYPE_ID(atelier_net, (atelier::runtime::link_tick))

CAF_END_TYPE_ID_BLOCK(atelier_net)
