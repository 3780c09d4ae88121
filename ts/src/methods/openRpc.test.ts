import { createRequire } from 'node:module'
import { Compile } from 'typebox/schema'
import { expect, test } from 'vitest'
import { entriesFor } from './entries.ts'
import { openRpcDocument } from './openRpc.ts'
import { table } from './table.ts'

/** Typings and module of the package differ in the kind of export. */
const { openrpcDocument } = createRequire(import.meta.url)('@open-rpc/meta-schema') as { openrpcDocument: object }

interface Document {
  readonly methods: readonly {
    readonly name: string
    readonly params: readonly { readonly name: string; readonly required: boolean; readonly schema: object }[]
    readonly result: { readonly schema: object }
  }[]
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

const document = openRpcDocument(entriesFor({}, true), '1.2.3', false) as unknown as Document

test('behavior: the document is valid by the meta-schema of OpenRPC', () => {
  // Schemas inside the document are JSON Schema with a separate meta-schema.
  const text = JSON.stringify(openrpcDocument).replace(
    /"https:\/\/meta\.json-schema\.tools[^"]*"/g,
    '"#/definitions/any"',
  )
  const schema = JSON.parse(text) as { definitions: Record<string, unknown> }
  schema.definitions.any = true
  const check = Compile(schema)
  expect(check.Errors(document)[1]).toEqual([])
  expect(check.Check({ ...document, methods: [{ name: 1 }] })).toBe(false)
})

test('behavior: every schema of the document compiles, every reference resolves', () => {
  const { schemas } = document.components
  for (const { name, params, result } of document.methods) {
    for (const { schema } of [...params, result]) {
      for (const [, title] of JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)) {
        expect([name, title, schemas[title ?? '']]).toEqual([name, title, expect.objectContaining({ type: 'object' })])
      }
      expect(() => Compile({ components: { schemas }, ...schema })).not.toThrow()
    }
  }
  expect(Object.keys(schemas).length).toBeGreaterThan(15)
})

test('behavior: lists served methods under every name, and no others', () => {
  const names = document.methods.map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining(['eth_getBalance', 'rsk_protocolVersion', 'chain_protocolVersion', 'rpc.discover']),
  )
  expect(names.length).toBeGreaterThan(table.length)
  expect(new Set(names).size).toBe(names.length)
  const { methods } = openRpcDocument(
    entriesFor({ eth: { deny: ['eth_call'] } }, false),
    '1',
    false,
  ) as unknown as Document
  const served = methods.map(({ name }) => name)
  expect(served).not.toContain('eth_call')
  expect(served).not.toContain('evm_mine')
})

test('behavior: required parameters come first', () => {
  for (const { name, params } of document.methods) {
    const flags = params.map(({ required }) => required)
    expect([name, flags]).toEqual([name, [...flags].sort((a, b) => Number(b) - Number(a))])
  }
})
