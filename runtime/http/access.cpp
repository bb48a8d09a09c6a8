// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/core/error.hpp>
#include <atelier/core/input_file.hpp>
#include <atelier/core/sha256.hpp>
#include <atelier/core/tenant.hpp>
#include <atelier/runtime/http/access.hpp>

#include <openssl/crypto.h>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace atelier::runtime::http {

namespace {

using core::ec;
using core::fail;
using core::result;

constexpr size_t most_file_bytes = 1u << 20;
constexpr size_t digest_digits = 64;
/// Maximum length of a key; longer texts are refused without hashing them.
constexpr size_t most_key_bytes = 512;

constexpr std::string_view images_word = "images_per_minute";
constexpr std::string_view steps_word = "steps_per_minute";
constexpr std::string_view share_word = "share";

result<std::string> read_private_file(const std::filesystem::path& path) {
  const core::opened_file file{path.string()};
  if (file.number < 0) {
    const int why = errno;
    return fail(why == ENOENT ? ec::bad_config : ec::io_failed,
                "http.keys: cannot read {}: {}", path.string(),
                std::strerror(why));
  }

  struct stat about {};

  // This inspects the open file, so that it cannot be swapped for another one.
  if (fstat(file.number, &about) != 0)
    return fail(ec::io_failed, "http.keys: cannot inspect {}: {}",
                path.string(), std::strerror(errno));
  if (!S_ISREG(about.st_mode))
    return fail(ec::bad_config, "http.keys: {} is not a file", path.string());
  if ((about.st_mode & 077) != 0)
    return fail(ec::bad_config,
                "http.keys: {} has the mode {:04o}: others may use it; make "
                "it 0600",
                path.string(), about.st_mode & 07777);
  auto found = core::read_bytes(file, most_file_bytes);
  if (found.longer)
    return fail(ec::bad_config, "http.keys: {} has more than {} bytes",
                path.string(), most_file_bytes);
  if (found.fault != 0)
    return fail(ec::io_failed, "http.keys: cannot read {}: {}", path.string(),
                std::strerror(found.fault));
  return std::move(found.text);
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  for (;;) {
    const auto begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos)
      return words;
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

bool is_name(std::string_view x) {
  return x.size() <= 64 && std::ranges::all_of(x, [](char c) {
           return core::is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

/// Reads a word behind the hash: a limit or the share by its name, or else the
/// requests per minute, which come first. No unknown word is shown, as it may
/// be a key.
result<void> read_limit(std::string_view word, bool first, access_key& into) {
  const auto sign = word.find('=');
  const bool named = sign != std::string_view::npos;
  const auto name = named ? word.substr(0, sign) : "requests per minute";
  auto* const limit = !named && first     ? &into.per_minute
                    : name == images_word ? &into.images_per_minute
                    : name == steps_word  ? &into.steps_per_minute
                    : name == share_word  ? &into.share
                                          : nullptr;
  if (limit == nullptr)
    return fail(ec::bad_config, "a word of '{}' is none of {}=N, {}=N, {}=N",
                into.name, images_word, steps_word, share_word);
  const auto text = named ? word.substr(sign + 1) : word;
  const auto [stop, error] =
    std::from_chars(text.data(), text.data() + text.size(), *limit);
  if (error != std::errc{} || stop != text.data() + text.size())
    return fail(
      ec::bad_config, "the {} of '{}' {}", name, into.name,
      limit == &into.share
        ? fmt::format("is not a whole number in 1..{}", core::most_share)
        : "are not a whole number in 0..4294967295");
  if (limit == &into.share
      && (into.share == 0 || into.share > core::most_share))
    return fail(ec::bad_config, "the share of '{}' is {}, outside 1..{}",
                into.name, into.share, core::most_share);
  return {};
}

/// Whether two words name the same limit.
bool same_limit(std::string_view a, std::string_view b) {
  return a.substr(0, a.find('=')) == b.substr(0, b.find('='));
}

/// Reads the words of one line. The error's text does not name the line yet.
result<access_key> read_key(const std::vector<std::string_view>& words) {
  if (words.size() < 3)
    return fail(ec::bad_config,
                "{} words instead of NAME SCOPE SHA256 [REQUESTS_PER_MINUTE] "
                "[{}=N] [{}=N] [{}=N]",
                words.size(), images_word, steps_word, share_word);
  access_key x;
  if (!is_name(words[0]))
    return fail(ec::bad_config,
                "the name is not 1..64 letters, digits, '-', '_' or '.'");
  x.name = words[0];
  if (words[1] != "user" && words[1] != "admin")
    return fail(ec::bad_config, "the scope of '{}' is neither user nor admin",
                x.name);
  x.may = words[1] == "admin" ? scope::admin : scope::user;
  // The word is never shown: it may be the key itself, put there by mistake.
  if (words[2].size() != digest_digits
      || !std::ranges::all_of(
        words[2], [](char c) { return core::hex_digit(c).has_value(); }))
    return fail(ec::bad_config,
                "the SHA-256 of '{}' is not {} hexadecimal digits", x.name,
                digest_digits);
  x.sha256 = core::lower_case(words[2]);
  for (size_t i = 3; i < words.size(); ++i) {
    if (auto good = read_limit(words[i], i == 3, x); !good)
      return good.why();
    for (size_t j = 3; j < i; ++j)
      if (same_limit(words[i], words[j]))
        return fail(ec::bad_config, "a limit of '{}' is there twice", x.name);
  }
  return x;
}

/// Whether two keys of one name may be used alike.
bool are_of_one_caller(const access_key& a, const access_key& b) {
  return a.may == b.may && a.per_minute == b.per_minute
      && a.images_per_minute == b.images_per_minute
      && a.steps_per_minute == b.steps_per_minute && a.share == b.share;
}

std::string from_base64(std::string_view text) {
  constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (!text.empty() && text.back() == '=')
    text.remove_suffix(1);
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto value = digits.find(c);
    if (value == std::string_view::npos)
      return {};
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xff);
    }
  }
  return out;
}

/// Returns the key that a request sends; empty if it sends none. "Basic" comes
/// last: it may be the password of a proxy that forwards it.
std::string key_in(const fields& headers) {
  const auto given = core::trim(find_field(headers, "authorization"));
  const auto blank = std::min(given.find(' '), given.size());
  const auto scheme = given.substr(0, blank);
  const auto rest = core::trim(given.substr(blank));
  if (core::same_word(scheme, "bearer") && rest.size() <= most_key_bytes)
    return std::string{rest};
  if (const auto own = core::trim(find_field(headers, "x-api-key"));
      !own.empty())
    return own.size() <= most_key_bytes ? std::string{own} : std::string{};
  if (core::same_word(scheme, "basic") && rest.size() <= 2 * most_key_bytes) {
    const auto text = from_base64(rest);
    const auto colon = text.find(':');
    return colon == std::string::npos ? std::string{} : text.substr(colon + 1);
  }
  return {};
}

} // namespace

result<std::vector<access_key>> read_keys(const std::filesystem::path& file) {
  const auto text = read_private_file(file);
  if (!text)
    return text.why();
  std::vector<access_key> keys;
  uint32_t number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto words = words_of(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (words.empty())
      continue;
    auto key = read_key(words);
    if (!key)
      return fail(ec::bad_config, "http.keys: {}:{}: {}", file.string(), number,
                  key.why().text);
    for (const auto& x : keys) {
      if (x.sha256 == key->sha256)
        return fail(ec::bad_config,
                    "http.keys: {}:{}: '{}' has the same key as '{}'",
                    file.string(), number, key->name, x.name);
      if (x.name == key->name && !are_of_one_caller(x, *key))
        return fail(ec::bad_config,
                    "http.keys: {}:{}: the keys of '{}' differ in their "
                    "scope, limits or share",
                    file.string(), number, key->name);
    }
    keys.push_back(std::move(*key));
  }
  // A file without keys would admit every client, which cannot be intended.
  if (keys.empty())
    return fail(ec::bad_config, "http.keys: {} has no key", file.string());
  return keys;
}

access::access(std::vector<access_key> keys)
  : keys_(std::make_shared<const std::vector<access_key>>(std::move(keys))) {}

access::key_list access::keys() const {
  const std::lock_guard guard{mutex_};
  return keys_;
}

std::vector<std::string> access::names() const {
  std::vector<std::string> out;
  for (const auto& x : *keys())
    if (std::ranges::find(out, x.name) == out.end())
      out.push_back(x.name);
  return out;
}

bool access::knows(std::string_view sha256) const {
  const auto all = keys();
  return std::ranges::find(*all, sha256, &access_key::sha256) != all->end();
}

bool access::asks_for_keys() const {
  return !keys()->empty();
}

void access::replace(std::vector<access_key> keys) {
  ATELIER_EXPECTS(keys.empty() != asks_for_keys(),
                  "new keys do not change whether a key is required");
  auto next = std::make_shared<const std::vector<access_key>>(std::move(keys));
  const std::lock_guard guard{mutex_};
  keys_ = std::move(next);
  std::erase_if(accounts_, [&](const auto& x) {
    return std::none_of(keys_->begin(), keys_->end(),
                        [&](const auto& y) { return y.name == x.first.first; });
  });
}

access::verdict access::judge(const fields& headers, scope needs,
                              core::time_point now, bool follows) {
  using kind = verdict::kind;
  const auto all = keys();
  if (all->empty())
    return {kind::let_in, {}, {}, scope::admin, {}};
  const auto key = key_in(headers);
  if (key.empty()) {
    if (needs == scope::anyone)
      return {};
    return {kind::no_key, {}, {}, scope::anyone, {}};
  }
  const auto digest = core::sha256_hex(key);
  const access_key* found = nullptr;
  for (const auto& x : *all)
    if (CRYPTO_memcmp(x.sha256.data(), digest.data(), digest_digits) == 0)
      found = &x;
  if (found == nullptr) {
    const bool needs_none = needs == scope::anyone;
    return {needs_none ? kind::let_in : kind::wrong_key,
            {},
            {},
            scope::anyone,
            {},
            needs_none};
  }
  verdict out{kind::let_in, found->name, found->sha256, found->may, {}};
  if (found->may < needs) {
    out.outcome = kind::not_allowed;
  } else if (needs != scope::anyone) {
    out.retry_after = take_request(*found, now, follows);
    if (out.retry_after.count() > 0)
      out.outcome = kind::later;
  }
  return out;
}

core::timespan access::take_request(const access_key& of, core::time_point now,
                                    bool follows) {
  if (of.per_minute == 0)
    return {};
  double most = of.per_minute;
  if (follows)
    most = std::max<double>(followed_per_minute, 10 * most);
  const std::lock_guard guard{mutex_};
  auto& x =
    accounts_[{of.name, follows ? counted::follows : counted::requests}];
  const auto wait = x.wait(1, most, now);
  if (wait.count() == 0)
    x.use(1);
  return wait;
}

std::optional<access::exceeded> access::take_images(const std::string& name,
                                                    uint64_t images,
                                                    uint64_t steps,
                                                    core::time_point now) {
  const std::lock_guard guard{mutex_};
  const auto key = std::ranges::find(*keys_, name, &access_key::name);
  if (key == keys_->end())
    return std::nullopt;

  struct part {
    counted what;
    std::string_view limit;
    uint32_t most;
    uint64_t amount;
  };

  const std::array parts{
    part{counted::images, images_word, key->images_per_minute, images},
    part{counted::steps, steps_word, key->steps_per_minute, steps}};
  for (const auto& x : parts)
    if (x.most > 0 && x.amount > x.most)
      return exceeded{x.limit, x.most, x.amount, std::nullopt};
  std::optional<exceeded> out;
  for (const auto& x : parts) {
    if (x.most == 0)
      continue;
    const auto wait = accounts_[{name, x.what}].wait(
      static_cast<double>(x.amount), x.most, now);
    if (wait.count() > 0 && (!out || wait > *out->retry_after))
      out = exceeded{x.limit, x.most, x.amount, wait};
  }
  if (!out)
    for (const auto& x : parts)
      if (x.most > 0)
        accounts_[{name, x.what}].use(static_cast<double>(x.amount));
  return out;
}

uint32_t access::share_of(std::string_view name) const {
  const auto all = keys();
  const auto key = std::ranges::find(*all, name, &access_key::name);
  return key == all->end() ? 1 : key->share;
}

void access::give_images_back(const std::string& name, uint64_t images,
                              uint64_t steps) {
  const std::lock_guard guard{mutex_};
  for (const auto& [what, amount] :
       {std::pair{counted::images, images}, std::pair{counted::steps, steps}})
    if (const auto x = accounts_.find({name, what}); x != accounts_.end())
      x->second.give_back(static_cast<double>(amount));
}

} // namespace atelier::runtime::http
