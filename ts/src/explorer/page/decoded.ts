import { element } from '../../admin/page/element.ts'
import { type AbiValue, membersOf } from './abi.ts'
import type { Call, Log } from './chain.ts'
import { addressLink, code, longCode, members, strange } from './show.ts'
import { type Decoded, decodeInput, decodeLog } from './signatures.ts'

/** Elements of a list that are shown. */
const maxElements = 50

/** Shows the input of a call: decoded if its signature is known. */
export function inputOf(input: string): HTMLElement {
  const decoded = decodeInput(input)
  if (decoded === undefined) return longCode(input)
  return element(
    'div',
    {},
    decodedValues(decoded),
    element('details', {}, element('summary', {}, 'Data'), longCode(input)),
  )
}

/** Returns the name of the function that an input calls, or its selector. */
export function functionName(input: string): string {
  return decodeInput(input)?.name ?? (input.length >= 10 ? input.slice(0, 10) : '')
}

/** Shows a log: decoded if its signature is known. */
export function logOf(log: Log): HTMLElement {
  const decoded = decodeLog(log.topics, log.data)
  const raw = [
    ...log.topics.map((topic, index) => [`Topic ${index}`, code(topic)] as const),
    ['Data', longCode(log.data)] as const,
  ]
  return element(
    'div',
    { class: 'entry' },
    element('p', {}, `Log ${Number(log.logIndex)} of `, addressLink(log.address, true)),
    decoded === undefined
      ? members(raw)
      : element(
          'div',
          {},
          decodedValues(decoded),
          element('details', {}, element('summary', {}, 'Topics and data'), members(raw)),
        ),
  )
}

function decodedValues({ name, values }: Decoded): HTMLElement {
  const pairs = values.map((one) => [`${one.name} (${one.type})`, shown(one.type, one.value)] as const)
  return element('div', {}, element('p', { class: 'strong' }, name), ...(pairs.length === 0 ? [] : [members(pairs)]))
}

/** Returns the reason of a failed call: the text of a REVERT, a custom error, or the fault of the machine. */
export function reasonOf({ revertReason, output, error }: Call): string | undefined {
  if (revertReason !== undefined || error === undefined) return revertReason
  const decoded = decodeInput(output ?? '')
  if (decoded === undefined) return error
  return `${decoded.name}(${decoded.values.map(({ name, value }) => `${name}: ${String(value)}`).join(', ')})`
}

function shown(type: string, value: AbiValue): Node {
  if (Array.isArray(value)) {
    const isArray = type.endsWith(']')
    const types = isArray ? [] : membersOf(type)
    const typeAt = (index: number) => (isArray ? type.replace(/\[[0-9]*\]$/, '') : (types[index] ?? ''))
    const parts = value
      .slice(0, maxElements)
      .map((one: AbiValue, index: number) => element('li', {}, shown(typeAt(index), one)))
    return element('ul', {}, ...parts, ...(value.length > maxElements ? [element('li', {}, '…')] : []))
  }
  if (type === 'address') return addressLink(String(value), true)
  return type === 'string' ? strange(String(value)) : code(String(value))
}
