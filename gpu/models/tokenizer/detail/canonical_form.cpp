// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/tokenizer/detail/canonical_form.hpp>
#include <atelier/gpu/models/tokenizer/detail/character_class.hpp>

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

// Decomposes and composes text in linear time. ICU's own composition inserts
// each mark into the run before it one by one, which takes minutes for a prompt
// of only marks. It also follows ICU's version of Unicode; see
// character_class.hpp.
class composer {
public:
  explicit composer(const icu::Normalizer2& nfc) : nfc_(nfc) {}

  std::u32string decomposed(std::u32string_view text) {
    decompose(text);
    order();
    return std::move(codes_);
  }

  std::u32string composed(std::u32string_view text) {
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

// Returns ICU's tables. They are linked in; otherwise every function here would
// fail, and null is returned.
const icu::Normalizer2* tables() {
  UErrorCode status = U_ZERO_ERROR;
  return icu::Normalizer2::getNFCInstance(status);
}

} // namespace

std::u32string canonical_composition(std::u32string text) {
  const auto* nfc = tables();
  if (nfc == nullptr || is_composed(text))
    return text;
  return composer{*nfc}.composed(text);
}

std::u32string canonical_decomposition(std::u32string text) {
  const auto* nfc = tables();
  const auto is_ascii = [](char32_t c) { return c < 0x80; };
  if (nfc == nullptr || std::all_of(text.begin(), text.end(), is_ascii))
    return text;
  return composer{*nfc}.decomposed(text);
}

} // namespace atelier::gpu::detail
