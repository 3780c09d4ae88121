// Bars as SVG, readable on light and dark pages. Lengths are logarithmic: workloads differ by three orders of magnitude.
const rowHeight = 18
const labelWidth = 290
const barWidth = 430
const gap = 12

/**
 * Groups of bars: `groups` are `{ label, bars: [{ name, value, text }] }`; each name has a colour everywhere. `unit` goes under
 * the title.
 */
export function barChart({ title, unit, groups }) {
  const names = [...new Set(groups.flatMap(({ bars }) => bars.map(({ name }) => name)))]
  const values = groups.flatMap(({ bars }) => bars.map(({ value }) => value))
  const low = Math.log10(Math.min(...values)) - 0.3
  const span = Math.max(Math.log10(Math.max(...values)) - low, 0.1)
  const parts = []
  let y = 80
  for (const { label, bars } of groups) {
    parts.push(text(labelWidth - 8, y + (bars.length * rowHeight) / 2 + 4, label, 'end'))
    for (const { name, value, text: shown } of bars) {
      const width = Math.max(2, ((Math.log10(value) - low) / span) * barWidth)
      const place = names.indexOf(name)
      parts.push(
        `<rect class="c${place}" x="${labelWidth}" y="${y}" width="${width.toFixed(1)}" height="${rowHeight - 3}"/>`,
      )
      parts.push(text(labelWidth + width + 5, y + 12, shown, 'start', 'small'))
      y += rowHeight
    }
    y += gap
  }
  const legend = names.map((name, place) => {
    const x = labelWidth + place * 100
    return `<rect class="c${place}" x="${x}" y="54" width="12" height="12"/>${text(x + 17, 64, name, 'start', 'small')}`
  })
  const [width, height] = [labelWidth + barWidth + 110, y]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 15px }
.small { font-size: 12px }
.c0 { fill: #1f6feb } .c1 { fill: #8c959f } .c2 { fill: #bf8700 } .c3 { fill: #1a7f37 } .c4 { fill: #cf222e } .c5 { fill: #8250df } .c6 { fill: #54aeff }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.c0 { fill: #4493f8 } .c1 { fill: #6e7681 } .c2 { fill: #d29922 } .c3 { fill: #3fb950 } .c4 { fill: #f85149 } .c5 { fill: #ab7df8 } .c6 { fill: #a5d6ff }
}
</style>
${text(8, 22, title, 'start', 'title')}
${text(8, 42, unit, 'start', 'small')}
${legend.join('\n')}
${parts.join('\n')}
</svg>
`
}

function text(x, y, content, anchor, className) {
  const style = className === undefined ? '' : ` class="${className}"`
  return `<text${style} x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escaped(content)}</text>`
}

function escaped(content) {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
