// SPDX-License-Identifier: Apache-2.0
#include "mutator.hpp"

#include <iterator>
#include <utility>

namespace atelier::test {

namespace {

using nlohmann::json;

} // namespace

mutator::mutator(uint64_t seed, uint64_t stream,
                 const std::vector<std::string>& words)
  : random_(seed, core::purpose::test, core::request_id{stream}),
    words_(words) {}

const std::string& mutator::pick(const std::vector<std::string>& among) {
  return among[below(among.size())];
}

std::string mutator::spoil(std::string text, const std::string& other) {
  for (auto n = below(8); n > 0; --n) {
    spoil_once(text, other);
    // Most changes of a few bytes are detected at the first one.
    if (below(2) == 0)
      break;
  }
  return text;
}

void mutator::spoil_once(std::string& text, const std::string& other) {
  const auto at = below(text.size() + 1);
  switch (below(8)) {
    case 0:
      if (at < text.size())
        text[at] = static_cast<char>(below(256));
      break;
    case 1:
      if (at < text.size())
        text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
      break;
    case 2:
      text.erase(at, 1 + below(8));
      break;
    case 3:
      text.insert(at, pick(words_));
      break;
    case 4: {
      const auto word = pick(words_);
      text.replace(at, word.size(), word);
      break;
    }
    case 5:
      text.insert(at, other.substr(below(other.size() + 1), below(60)));
      break;
    case 6:
      text.insert(at, 1 + below(300), static_cast<char>(below(256)));
      break;
    default:
      text.resize(at);
  }
}

json mutator::odd_value() {
  switch (below(12)) {
    case 0:
      return nullptr;
    case 1:
      return below(2) == 0;
    case 2:
      return static_cast<int64_t>(random_.next_u64());
    case 3:
      return random_.next_u64();
    case 4:
      return 1e300 * random_.normal();
    case 5:
      return random_.uniform();
    case 6:
      return below(40);
    case 7:
      return -static_cast<int64_t>(below(10));
    case 8:
      return std::string(below(3000), static_cast<char>(below(256)));
    case 9:
      return json::array({odd_value(), pick(words_)});
    case 10:
      return json::object({{pick(words_), odd_value()}});
    default:
      return pick(words_);
  }
}

std::string mutator::spoil_object(const std::string& text,
                                  const std::string& other) {
  auto x = json::parse(text);
  for (auto n = 1 + below(3); n > 0; --n) {
    const auto member = [&](json& of) {
      auto i = of.begin();
      std::advance(i, static_cast<ptrdiff_t>(below(of.size())));
      return i;
    };
    if (x.empty())
      break;
    const auto i = member(x);
    switch (below(6)) {
      case 0:
        x.erase(i);
        break;
      case 1: {
        auto from = json::parse(other);
        const auto taken = member(from);
        x[taken.key()] = *taken;
        break;
      }
      case 2:
        x[pick(words_)] = odd_value();
        break;
      default:
        *i = odd_value();
    }
  }
  return x.dump(-1, ' ', false, json::error_handler_t::ignore);
}

} // namespace atelier::test
