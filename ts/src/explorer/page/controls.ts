import { element } from '../../admin/page/element.ts'
import { note, section } from './show.ts'
import { orReason, type Page } from './view.ts'

interface Control {
  readonly title: string
  /** Label and initial value of the field; undefined: no field. */
  readonly field?: readonly [label: string, value: string]
  readonly action: string
  send(page: Page, value: number): Promise<unknown>
}

const controls: readonly Control[] = [
  {
    title: 'Mine blocks',
    field: ['Number of blocks', '1'],
    action: 'Mine',
    send: ({ node }, blocks) => node.ask('hardhat_mine', `0x${blocks.toString(16)}`),
  },
  {
    title: 'Advance the time',
    field: ['Seconds', '3600'],
    action: 'Advance and mine',
    send: async ({ node }, seconds) => {
      await node.ask('evm_increaseTime', seconds)
      await node.ask('evm_mine')
    },
  },
  {
    title: 'Mine by time',
    field: ['Milliseconds between blocks, 0 to stop', '5000'],
    action: 'Set',
    send: ({ node }, milliseconds) => node.ask('evm_setIntervalMining', milliseconds),
  },
  {
    title: 'Mine each transaction at once',
    action: 'Switch on',
    send: ({ node }) => node.ask('evm_setAutomine', true),
  },
  {
    title: 'Let transactions wait',
    action: 'Switch off',
    send: ({ node }) => node.ask('evm_setAutomine', false),
  },
]

/** Shows controls of mining and time, on development networks. */
export async function controlsPage(page: Page): Promise<readonly Node[]> {
  if (!(await hasControls(page))) return [note('Mining and time can be controlled on development networks only.')]
  return [section('Controls', element('div', { class: 'controls' }, ...controls.map((one) => form(page, one))))]
}

export async function hasControls({ isDevelopment, modules }: Page): Promise<boolean> {
  return isDevelopment && (await modules).has('evm')
}

function form(page: Page, { title, field, action, send }: Control): HTMLElement {
  const status = element('output', { class: 'hint' })
  const input = field && element('input', { type: 'number', min: '0', step: '1', value: field[1], required: true })
  const submit = async (event: Event) => {
    event.preventDefault()
    status.textContent = '…'
    const problem = await orReason(send(page, Number(input?.value ?? 0)).then(() => undefined))
    status.textContent = problem ?? 'Done'
  }
  return element(
    'form',
    { submit: (event) => void submit(event) },
    element('h3', {}, title),
    ...(input && field ? [element('label', {}, field[0], input)] : []),
    element('button', { type: 'submit' }, action),
    status,
  )
}
