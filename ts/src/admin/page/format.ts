// Formats numbers for display.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

export function count(value: number): string {
  return whole.format(value)
}

/** Formats a rate with two significant digits, and without decimals from 10 on. */
export function rate(value: number): string {
  if (value === 0) return '0'
  if (value >= 10) return whole.format(value)
  return value >= 0.01 ? String(Number(value.toPrecision(2))) : '< 0.01'
}

/** Formats a share as a percentage. */
export function share(part: number, whole: number): string {
  if (part === 0 || whole === 0) return '0\u00a0%'
  const percent = (100 * part) / whole
  return percent < 0.1 ? '<\u00a00.1\u00a0%' : `${Number(percent.toPrecision(2))}\u00a0%`
}

export function latency(milliseconds: number | null): string {
  if (milliseconds === null) return '–'
  if (milliseconds >= 10_000) return '≥ 10 s'
  if (milliseconds >= 1000) return `${Number((milliseconds / 1000).toPrecision(2))} s`
  return `${Number(milliseconds.toPrecision(2))} ms`
}

/** Formats a duration in its largest suitable unit. */
export function span(seconds: number): string {
  if (seconds < 120) return `${count(seconds)} s`
  if (seconds < 7200) return `${count(Math.floor(seconds / 60))} min`
  if (seconds < 172_800) return `${count(Math.floor(seconds / 3600))} h`
  return `${count(Math.floor(seconds / 86_400))} days`
}

export function bytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  let size = value
  let unit = 0
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1024
    unit++
  }
  return `${size >= 100 || unit === 0 ? Math.round(size) : Number(size.toPrecision(2))} ${units[unit]}`
}

/** Formats a day in the time zone of the browser. */
export function day(isoTime: string): string {
  return new Intl.DateTimeFormat('en', { dateStyle: 'medium' }).format(new Date(isoTime))
}

export function shortHash(hash: string): string {
  return `${hash.slice(0, 8)}…${hash.slice(-6)}`
}
