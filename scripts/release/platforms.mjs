// Platforms with prebuilt packages, named `@rhizome-node/<platform>`. `runner` is the machine of the release workflow that
// builds and tests the package, `container` the old Linux system (glibc 2.28) of the build.
export const platforms = [
  {
    name: 'linux-x64-gnu',
    os: 'linux',
    cpu: 'x64',
    libc: 'glibc',
    runner: 'ubuntu-24.04',
    container:
      'quay.io/pypa/manylinux_2_28_x86_64@sha256:fdb9a9c223b215604dc7b6f7e8fff4b39bfea5fbaa7777a2e5544a60dfa437f8',
  },
  {
    name: 'linux-arm64-gnu',
    os: 'linux',
    cpu: 'arm64',
    libc: 'glibc',
    runner: 'ubuntu-24.04-arm',
    container:
      'quay.io/pypa/manylinux_2_28_aarch64@sha256:e7035406e58d96b7407246af1f6514a3cbd753a0025b42b9adfbeadd3b29ba80',
  },
  { name: 'darwin-x64', os: 'darwin', cpu: 'x64', runner: 'macos-15-intel', container: '' },
  { name: 'darwin-arm64', os: 'darwin', cpu: 'arm64', runner: 'macos-15', container: '' },
  { name: 'win32-x64', os: 'win32', cpu: 'x64', runner: 'windows-2022', container: '' },
]

/** Returns the platform of this process; undefined if there is no package for it. */
export function thisPlatform() {
  const isGlibc = process.platform !== 'linux' || process.report.getReport().header.glibcVersionRuntime !== undefined
  return platforms.find(({ os, cpu }) => isGlibc && os === process.platform && cpu === process.arch)
}
