/** Hash of one binary and, on Linux, its minimum glibc. */
export interface Binary {
  readonly sha256: string
  readonly glibc?: string
}

/** Binaries of one platform, by the ABI of Node.js. */
export type Binaries = Readonly<Record<string, Binary>>

export interface System {
  readonly node: string
  readonly abi: string
  /** E.g. `linux-x64`. */
  readonly platform: string
  readonly glibc?: string | undefined
}

export const nodeLines: readonly { readonly line: number; readonly from: string; readonly abi: string }[]
export const linuxSystems: readonly { readonly name: string; readonly glibc: string }[]
export const pinned: Readonly<Record<string, Binaries>>
export function thisSystem(): System
export function fileName(platform: string, abi: string): string
export function nodeProblem(node: string): string | undefined
export function systemProblem(binaries: Binaries | undefined, system: System): string | undefined
export function hashProblem(path: string, binary: Binary): string | undefined
export function neededGlibc(path: string): string
export function isAtLeast(version: string, wanted: string): boolean
