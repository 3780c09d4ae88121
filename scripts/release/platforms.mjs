// The platforms that have a prebuilt addon: one package each, named `rhizome-<platform>`.
// `runner` is the machine of the release workflow that builds and tests it.
export const platforms = [
  { name: 'linux-x64-gnu', os: 'linux', cpu: 'x64', libc: 'glibc', runner: 'ubuntu-22.04' },
  { name: 'linux-arm64-gnu', os: 'linux', cpu: 'arm64', libc: 'glibc', runner: 'ubuntu-22.04-arm' },
  { name: 'darwin-x64', os: 'darwin', cpu: 'x64', runner: 'macos-13' },
  { name: 'darwin-arm64', os: 'darwin', cpu: 'arm64', runner: 'macos-14' },
  { name: 'win32-x64', os: 'win32', cpu: 'x64', runner: 'windows-2022' },
]

/** The platform of this process; undefined when there is no package for it. */
export function thisPlatform() {
  const isGlibc = process.platform !== 'linux' || process.report.getReport().header.glibcVersionRuntime !== undefined
  return platforms.find(({ os, cpu }) => isGlibc && os === process.platform && cpu === process.arch)
}
