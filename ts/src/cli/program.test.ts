import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from './program.ts'

test('behavior: every command has a help', async () => {
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)]
  const commands = all(await createProgram([]))
  expect(commands.length).toBeGreaterThan(30)
  for (const command of commands) expect(command.helpInformation()).toMatch(/^Usage: rhizome/)
})
