#pragma once

namespace bet {

// The style of pages of reports: light and dark by the reader's setting, one column on a phone.
// c1 to c6 are the colours of charts.
inline constexpr const char* kPageStyle = R"(
:root {
  --page: #f6f7f8; --card: #fff; --text: #1b1e22; --muted: #575e67; --line: #dcdfe3;
  --track: #eceef0; --c1: #1f5aa6; --c2: #c25708; --c3: #23805a; --c4: #6b7280; --c5: #8a4fa3;
  --c6: #a07b10;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #121418; --card: #1a1d22; --text: #e5e8eb; --muted: #a1a9b3; --line: #31363e;
    --track: #292e35; --c1: #6ba6ea; --c2: #e8934a; --c3: #4fb389; --c4: #9aa1ab; --c5: #c08fd8;
    --c6: #d0ac45;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text); font: 16px/1.45 system-ui, sans-serif;
}
header, main { max-width: 1120px; margin: 0 auto; padding: 0 16px; }
header { padding-top: 20px; }
main { padding-bottom: 32px; }
h1 { margin: 0; font-size: 1.5rem; letter-spacing: -.02em; overflow-wrap: anywhere; }
h2 { margin: 0 0 12px; font-size: 1rem; }
p { margin: 0 0 8px; overflow-wrap: anywhere; }
header p { font-size: 1.125rem; margin-top: 8px; }
section {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 16px;
  margin-top: 16px; break-inside: avoid;
}
.muted { color: var(--muted); font-size: .875rem; }
p.muted { margin: 8px 0 0; }
.charts { margin-top: 12px; display: grid; grid-template-columns: minmax(0, 1fr); gap: 16px 32px; }
@media (min-width: 760px) { .charts { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
figure { margin: 0; max-width: 500px; break-inside: avoid; }
figcaption { font-weight: 600; font-size: .9375rem; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font-size: 11px; fill: var(--muted); font-variant-numeric: tabular-nums; }
.grid { stroke: var(--line); }
.axis { stroke: var(--muted); }
.spread { stroke: var(--c); stroke-width: 1.5; }
.c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); } .c4 { --c: var(--c4); }
.c5 { --c: var(--c5); } .c6 { --c: var(--c6); }
circle, rect { fill: var(--c); }
polyline { fill: none; stroke: var(--c); stroke-width: 1.5; }
.divided { height: 20px; border-radius: 4px; margin-bottom: 12px; }
rect.track { fill: var(--track); }
.legend {
  display: flex; flex-wrap: wrap; gap: 0 16px; list-style: none; margin: 0; padding: 0;
  font-size: .875rem; color: var(--muted);
}
.swatch {
  display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px;
  background: var(--c); print-color-adjust: exact; -webkit-print-color-adjust: exact;
}
.wide { overflow-x: auto; }
.wide th, .wide td:not(:first-child) { white-space: nowrap; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td {
  padding: 4px 0 4px 12px; text-align: right; vertical-align: baseline;
  border-top: 1px solid var(--line); font-weight: 400;
}
tr > :first-child { text-align: left; padding-left: 0; }
thead th { border: 0; font-size: .875rem; color: var(--muted); vertical-align: bottom; }
tr.chosen > * { font-weight: 600; }
dl { display: grid; grid-template-columns: minmax(0, 1fr); margin: 0; }
dt { color: var(--muted); font-size: .875rem; }
dd { margin: 0 0 8px; overflow-wrap: anywhere; }
@media (min-width: 560px) {
  dl { grid-template-columns: 9em minmax(0, 1fr); gap: 4px 16px; }
  dd { margin: 0; }
}
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .875em; }
summary { cursor: pointer; color: var(--muted); font-size: .875rem; margin-top: 8px; }
@media (max-width: 480px) {
  section { padding: 12px; }
  .wide, .wide thead th { font-size: .8125rem; }
  .wide tr > :not(:first-child) { padding-left: 8px; }
}
@media print {
  :root { --page: #fff; --card: #fff; --text: #000; --muted: #444; --line: #ccc; --track: #eee;
    --c1: #1f5aa6; --c2: #c25708; --c3: #23805a; --c4: #6b7280; --c5: #8a4fa3; --c6: #a07b10; }
  body { font-size: 11pt; }
  section { border: 0; padding: 0; }
  .charts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  details { display: none; }
}
)";

}  // namespace bet
