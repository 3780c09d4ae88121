/** The variables of this process. Nothing else reads them. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env
}
