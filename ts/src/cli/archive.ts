import { Command } from 'commander'
import { loadAddon } from '../native/load.ts'
import { nodeConfig } from '../nodeConfig.ts'
import { withReadOnlyCore } from './openCore.ts'
import { addChainOptions, addDevelopmentOptions, configFrom, type Parsed } from './options.ts'
import { ProgressBar } from './progressBar.ts'
import { publisherKey } from './publisherKey.ts'
import { wholeNumber } from './wholeNumber.ts'

/** Result of the core after a creation or a verification. */
interface Summary {
  readonly written: number
  readonly blocks: number
  readonly files: number
  readonly last: number
  readonly publisher: string
}

/** Manifest of an archive, as the core prints it. */
interface Listing {
  readonly chainId: number
  readonly genesis: string
  readonly publisher: string
  readonly files: readonly { readonly name: string; readonly length: number }[]
}

export function archiveCommand(): Command {
  const command = new Command('archive').description('Write, verify and list block archives')
  for (const inner of [createCommand(), verifyCommand(), listCommand()]) command.addCommand(inner)
  return command
}

function createCommand(): Command {
  const command = new Command('create').description('Write the best chain to an archive, or continue one')
  return addDevelopmentOptions(addChainOptions(command))
    .argument('<location>', 'folder, or s3://bucket/path (access from the AWS_... variables)')
    .requiredOption('--key <file>', 'private key of the publisher (created if missing)')
    .option('--to <number>', 'last block (default: the head)', wholeNumber)
    .option('--json', 'print JSON')
    .action(async (location: string, options: Parsed & { key: string; to?: number; json?: boolean }) => {
      const config = configFrom(options, { mining: 'off' })
      const bar = new ProgressBar(process.stderr, options.json !== true)
      const work = withReadOnlyCore(config, (native) => {
        const { number: head } = JSON.parse(native.nodeInfo()) as { number: number }
        const to = options.to ?? head
        if (to > head) throw new Error(`--to: there is no block ${to}: the head is block ${head}`)
        return native.createArchive(location, options.key, to, (_error: Error | null, progress: string): void => {
          const { number } = JSON.parse(progress) as { number: number }
          bar.show(`block ${number}`, number, to)
        })
      })
      const result = await work.finally(() => bar.end())
      const { written, files, last, publisher } = JSON.parse(result) as Summary
      const text = `${location}: ${written} files written, ${files} in all, to block ${last}\npublisher ${publisher}`
      process.stdout.write(`${options.json === true ? result : text}\n`)
    })
}

function verifyCommand(): Command {
  const command = new Command('verify').description(
    'Verify hashes, signature, proof of work and roots of an archive; import it to verify its states, too',
  )
  return addDevelopmentOptions(addChainOptions(command))
    .argument('<location>', 'folder, http, https or s3 URL')
    .option('--trust <key>', 'public key of the only accepted publisher', publisherKey)
    .option('--json', 'print JSON')
    .action(async (location: string, options: Parsed & { trust?: string; json?: boolean }) => {
      const config = await nodeConfig(configFrom(options, { mining: 'off' }))
      const bar = new ProgressBar(process.stderr, options.json !== true)
      const onProgress = (_error: Error | null, progress: string): void => {
        const { number, last } = JSON.parse(progress) as { number: number; last: number }
        bar.show(`block ${number}`, number, last)
      }
      const work = loadAddon().verifyArchive(config, location, options.trust ?? '', onProgress)
      const result = await work.finally(() => bar.end())
      const { blocks, files, publisher } = JSON.parse(result) as Summary
      const text = `${withoutSecrets(location)}: ${blocks} blocks in ${files} files verified\npublisher ${publisher}`
      process.stdout.write(`${options.json === true ? result : text}\n`)
    })
}

function listCommand(): Command {
  return new Command('list')
    .description('Print network, publisher and files of an archive')
    .argument('<location>', 'folder, http, https or s3 URL')
    .option('--trust <key>', 'public key of the only accepted publisher', publisherKey)
    .option('--json', 'print JSON')
    .action(async (location: string, options: { trust?: string; json?: boolean }) => {
      const result = await loadAddon().listArchive(location, options.trust ?? '')
      const { chainId, genesis, publisher, files } = JSON.parse(result) as Listing
      const lines = [
        `chain id ${chainId}, genesis ${genesis}`,
        `publisher ${publisher}`,
        ...files.map(({ name, length }) => `${name}  ${length} bytes`),
      ]
      process.stdout.write(`${options.json === true ? result : lines.join('\n')}\n`)
    })
}

/** Returns a URL without credentials and query. */
function withoutSecrets(location: string): string {
  if (!/^https?:/i.test(location)) return location
  return location.replace(/\/\/[^/?#]*@/, '//').replace(/[?#].*$/, '')
}
