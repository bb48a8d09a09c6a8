// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/parameter_options.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/text_option.hpp>
#include <atelier/runtime/public_parameters.hpp>

#include <type_traits>

namespace atelier::runtime::cli {

namespace {

using core::result;

/// Reads one as the public interface holds it.
template <class Member>
auto read_text(const core::parameter& x, const Member&, const std::string& text,
               const core::limits& within) {
  using type = typename Member::type;
  const auto option = option_of(x);
  const auto most = core::most_of(x, within);
  if constexpr (std::is_enum_v<type>) {
    result<std::string> out{text};
    if (auto good = check_choice(option, text); !good)
      out = good.why();
    return out;
  } else if constexpr (std::is_same_v<type, bool>) {
    return result<bool>{true};
  } else if constexpr (std::is_same_v<type, float>) {
    return x.open ? parse_share(option, text)
                  : parse_decimal(option, text, static_cast<float>(most),
                                  static_cast<float>(x.least));
  } else {
    return parse_whole(option, text, static_cast<uint64_t>(x.least),
                       static_cast<uint64_t>(most));
  }
}

} // namespace

void add_parameters(CLI::App& to, core::option_group group,
                    parameter_arguments& into) {
  core::each_parameter([&](const core::parameter& x, auto at) {
    using type = typename decltype(at)::type;
    if (x.option != group)
      return;
    const auto option = option_of(x);
    auto& written = into[x.name];
    if constexpr (std::is_same_v<type, bool>)
      to.add_flag_callback(
        option, [&written] { written = "true"; }, std::string{x.doc});
    else if constexpr (std::is_enum_v<type>)
      add_text_option(to, option, written, list_choices(choices_of(option)))
        ->type_name(std::string{x.value});
    else
      add_text_option(to, option, written, std::string{x.doc})
        ->type_name(std::string{x.value});
  });
}

result<void> read_parameters(const parameter_arguments& written,
                             const core::limits& within, generation& into) {
  result<void> first;
  each_wanted([&](const core::parameter& x, auto at, auto member) {
    const auto& text = written[x.name];
    if (!text || !first)
      return;
    const auto value = read_text(x, at, *text, within);
    if (!value) {
      first = value.why();
      return;
    }
    using holder = std::remove_cvref_t<decltype(*held(into.*member))>;
    into.*member = static_cast<holder>(*value);
  });
  return first;
}

} // namespace atelier::runtime::cli
