// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/markup.hpp>
#include <atelier/core/page_colours.hpp>
#include <atelier/core/report_page.hpp>

#include <fmt/format.h>

namespace atelier::core {

namespace {

constexpr std::string_view style = R"css(
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.25rem; max-width: 90rem; background: var(--ground);
  color: var(--ink); font: 1rem/1.45 system-ui, sans-serif;
}
h1 { font-size: 1.25rem; margin: 0 0 0.75rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.75rem 0 0.5rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 0.5rem; overflow-wrap: anywhere; }
p { margin: 0.5rem 0; max-width: 60rem; overflow-wrap: anywhere; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
/* A shadow at the right says that there is more. */
.scroll {
  overflow-x: auto; max-width: 100%; width: fit-content; margin: 0.75rem 0;
  border: 1px solid var(--line); border-radius: 0.5rem;
  background: linear-gradient(to left, var(--panel) 35%, transparent) right / 2.5rem 100% no-repeat local,
    linear-gradient(to left, var(--shade), transparent) right / 1rem 100% no-repeat scroll,
    var(--panel);
}
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.4rem 0.6rem; text-align: right; white-space: nowrap; font-size: 0.95rem; }
tr + tr > * { border-top: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 500; font-size: 0.85rem; }
tbody th { font-weight: 500; }
th:first-child {
  text-align: left; position: sticky; left: 0; background: var(--panel);
  box-shadow: 1px 0 var(--line);
}
tbody tr:first-child > * { border-top: 1px solid var(--line); }
.plots {
  display: grid; gap: 1rem; margin: 0.75rem 0;
  grid-template-columns: repeat(auto-fill, minmax(min(24rem, 100%), 1fr));
}
figure {
  margin: 0; padding: 1rem; min-width: 0; background: var(--panel);
  border: 1px solid var(--line); border-radius: 0.5rem;
}
figcaption { font-size: 0.9rem; margin-bottom: 0.5rem; }
svg { width: 100%; max-width: 36rem; height: auto; display: block; }
.missing { color: var(--soft); }
dl.columns {
  display: grid; grid-template-columns: max-content minmax(0, 1fr);
  gap: 0.25rem 1rem; margin: 0.5rem 0; max-width: 50rem;
}
dl.columns dt { color: var(--soft); }
dl.columns dd { margin: 0; }
summary { cursor: pointer; }
@media (max-width: 50rem) {
  body { padding: 0.75rem; }
  th, td { padding: 0.35rem 0.5rem; }
  th:first-child { max-width: 9rem; white-space: normal; overflow-wrap: break-word; }
  figure { padding: 0.75rem; }
}
)css";

} // namespace

std::string report_head(std::string_view title) {
  return fmt::format(
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, "
    "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<title>{0}</title>\n<style>\n{1}{2}</style>\n</head>\n<body>\n"
    "<h1>{0}</h1>\n",
    escape_html(title), page_colours(), style);
}

std::string report_table(std::string_view label,
                         std::span<const std::vector<std::string>> rows) {
  auto out = fmt::format(
    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n"
    "<table>\n",
    escape_html(label));
  for (size_t i = 0; i < rows.size(); ++i) {
    out += i == 0 ? "<thead><tr>" : "<tr>";
    for (size_t k = 0; k < rows[i].size(); ++k)
      if (i == 0)
        out += fmt::format("<th>{}</th>", escape_html(rows[i][k]));
      else if (k == 0)
        out +=
          fmt::format("<th scope=\"row\">{}</th>", escape_html(rows[i][k]));
      else
        out += fmt::format("<td>{}</td>", escape_html(rows[i][k]));
    out += i == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  return out + (rows.empty() ? "" : "</tbody>\n") + "</table>\n</div>\n";
}

std::string report_end() {
  return "</body>\n</html>\n";
}

} // namespace atelier::core
