// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/tokenizer/detail/character_class.hpp>
#include <atelier/gpu/models/tokenizer/detail/clip_normal_form.hpp>
#include <atelier/gpu/models/tokenizer/detail/utf8_codes.hpp>

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace atelier::gpu::detail {

namespace {

// Composes text in linear time. ICU's own composition inserts each mark into
// the run before it one by one, which takes minutes for a prompt of only marks.
// It also follows ICU's version of Unicode; see character_class.hpp.
class composer {
public:
  explicit composer(const icu::Normalizer2& nfc) : nfc_(nfc) {}

  std::u32string operator()(std::u32string_view text) {
    decompose(text);
    order();
    compose();
    return std::move(codes_);
  }

private:
  void push(char32_t c) {
    codes_.push_back(c);
    classes_.push_back(known_to_composition(c)
                         ? nfc_.getCombiningClass(static_cast<UChar32>(c))
                         : uint8_t{0});
  }

  void decompose(std::u32string_view text) {
    codes_.reserve(text.size());
    classes_.reserve(text.size());
    icu::UnicodeString parts;
    for (const char32_t c : text) {
      if (!known_to_composition(c)
          || !nfc_.getDecomposition(static_cast<UChar32>(c), parts)) {
        push(c);
        continue;
      }
      for (int32_t i = 0; i < parts.length(); i = parts.moveIndex32(i, 1))
        push(static_cast<char32_t>(parts.char32At(i)));
    }
  }

  // Sorts each run of marks by combining class; marks of equal class keep their
  // order.
  void order() {
    std::array<uint32_t, 256> starts;
    std::u32string marks;
    std::vector<uint8_t> mark_classes;
    for (size_t begin = 0; begin < codes_.size();) {
      if (classes_[begin] == 0) {
        ++begin;
        continue;
      }
      size_t end = begin + 1;
      bool sorted = true;
      for (; end < codes_.size() && classes_[end] != 0; ++end)
        sorted = sorted && classes_[end - 1] <= classes_[end];
      if (!sorted) {
        starts.fill(0);
        for (size_t i = begin; i < end; ++i)
          ++starts[classes_[i]];
        uint32_t sum = 0;
        for (auto& x : starts)
          sum += std::exchange(x, sum);
        marks.resize(end - begin);
        mark_classes.resize(end - begin);
        for (size_t i = begin; i < end; ++i) {
          const auto to = starts[classes_[i]]++;
          marks[to] = codes_[i];
          mark_classes[to] = classes_[i];
        }
        std::copy(marks.begin(), marks.end(),
                  codes_.begin() + static_cast<ptrdiff_t>(begin));
        std::copy(mark_classes.begin(), mark_classes.end(),
                  classes_.begin() + static_cast<ptrdiff_t>(begin));
      }
      begin = end;
    }
  }

  void compose() {
    constexpr size_t none = SIZE_MAX;
    size_t starter = none;
    // The class of the last mark between the starter and here; 0 if there are
    // no marks.
    uint8_t last_class = 0;
    size_t kept = 0;
    for (size_t i = 0; i < codes_.size(); ++i) {
      const auto c = codes_[i];
      const auto its_class = classes_[i];
      if (starter != none
          && (kept == starter + 1
              || (last_class < its_class && last_class != 0))) {
        const auto whole =
          known_to_composition(c) && known_to_composition(codes_[starter])
            ? nfc_.composePair(static_cast<UChar32>(codes_[starter]),
                               static_cast<UChar32>(c))
            : -1;
        if (whole >= 0) {
          codes_[starter] = static_cast<char32_t>(whole);
          continue;
        }
      }
      if (its_class == 0)
        starter = kept;
      last_class = its_class;
      codes_[kept++] = c;
    }
    codes_.resize(kept);
  }

  const icu::Normalizer2& nfc_;
  std::u32string codes_;
  std::vector<uint8_t> classes_;
};

// Returns whether composition certainly does not change the text.
bool is_composed(std::u32string_view text) {
  constexpr char32_t first_mark = 0x300;
  return std::all_of(text.begin(), text.end(), [](char32_t c) {
    return c < first_mark
        || (u_getIntPropertyValue(static_cast<UChar32>(c),
                                  UCHAR_NFC_QUICK_CHECK)
              == UNORM_YES
            && u_getCombiningClass(static_cast<UChar32>(c)) == 0);
  });
}

// Returns how many bytes of the sequence at the start of the text could have
// become a code point; at least one.
size_t cut_sequence(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const auto within = [&](size_t i, uint8_t low, uint8_t high) {
    return byte(i) >= low && byte(i) <= high;
  };
  const auto first = byte(0);
  if (first >= 0xE0 && first <= 0xEF)
    return within(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF)
           ? 2
           : 1;
  if (first >= 0xF0 && first <= 0xF4
      && within(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF))
    return within(2, 0x80, 0xBF) ? 3 : 2;
  return 1;
}

} // namespace

std::string clip_normal_form(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::u32string codes;
  codes.reserve(text.size());
  for (size_t i = 0; i < text.size();)
    codes.push_back(next_code(text, i));
  // ICU's data are linked in; otherwise every function here would fail.
  UErrorCode status = U_ZERO_ERROR;
  const auto* nfc = icu::Normalizer2::getNFCInstance(status);
  if (nfc != nullptr && !is_composed(codes))
    codes = composer{*nfc}(codes);
  bool after_space = false;
  for (const char32_t c : codes) {
    const bool is_space = class_of(c) == character_class::space;
    if (!is_space) {
      append_code(out, lower_case(c));
      if (c == 0x130)
        append_code(out, 0x307);
    } else if (!after_space) {
      out.push_back(' ');
    }
    after_space = is_space;
  }
  return out;
}

std::string repaired_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto good = core::find_utf8_fault(text).value_or(text.size());
    out.append(text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty())
      break;
    append_code(out, 0xFFFD);
    text.remove_prefix(cut_sequence(text));
  }
  return out;
}

} // namespace atelier::gpu::detail
