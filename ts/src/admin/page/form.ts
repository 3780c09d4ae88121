import { Refused } from './api.ts'
import { element } from './element.ts'

/** A field of a form. */
export interface Field {
  /** Member of the request body. Errors of the node about this member are shown at the field. */
  readonly name: string
  readonly label: string
  readonly kind: 'text' | 'password' | 'number' | 'lines' | 'date' | 'choice'
  readonly hint?: string
  readonly value?: string
  readonly isRequired?: boolean
  readonly maxLength?: number
  /** Choices as value and label; for a text, proposals. */
  readonly options?: readonly (readonly [string, string])[]
  /** Consecutive fields of a group are shown under its name, collapsed if all are empty. */
  readonly group?: string
}

export interface Form {
  readonly title: string
  readonly intro?: readonly (Node | string)[]
  readonly fields: readonly Field[]
  readonly action: string
  readonly isDangerous?: boolean
  /** Returns whether the values may be sent; absent: always. */
  readonly isAllowed?: (values: Values) => boolean
  /** Sends the values. An error is shown, and the form stays open. */
  readonly send: (values: Values) => Promise<void>
  /** Whether the form can be cancelled. */
  readonly mayBeLeft?: boolean
}

export type Values = Readonly<Record<string, string>>
type Input = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

let formCount = 0

/** Shows a form above the page until it is sent or cancelled. */
export function openForm({
  title,
  intro = [],
  fields,
  action,
  isDangerous,
  isAllowed,
  send,
  mayBeLeft = true,
}: Form): void {
  const prefix = `form${++formCount}`
  const inputs = new Map<string, Input>()
  const problems = new Map<string, HTMLElement>()
  const values = (): Values => Object.fromEntries([...inputs].map(([name, input]) => [name, input.value.trim()]))
  const general = element('p', { class: 'problem', role: 'alert' })
  const submit = element('button', { type: 'submit', class: isDangerous ? 'danger' : 'primary' }, action)
  let isOver = mayBeLeft
  const leave = element('button', { type: 'button', click: () => dialog.close() }, 'Cancel')
  const form = element(
    'form',
    { novalidate: true, submit: onSubmit, input: () => allow() },
    element('h2', { id: `${prefix}-title` }, title),
    ...intro,
    ...layout(fields, (field) => row(field)),
    general,
    element('div', { class: 'actions' }, ...(mayBeLeft ? [leave] : []), submit),
  )
  const dialog = element('dialog', { 'aria-labelledby': `${prefix}-title`, close: onClose }, form)
  document.body.append(dialog)
  allow()
  dialog.showModal()

  function allow(): void {
    submit.disabled = isAllowed?.(values()) === false
  }

  /** Opens the dialog again if it must stay: browsers close any dialog at a second Escape or a gesture. */
  function onClose(): void {
    if (isOver) dialog.remove()
    else dialog.showModal()
  }

  function onSubmit(event: Event): void {
    event.preventDefault()
    for (const [name, problem] of problems) {
      problem.textContent = ''
      inputs.get(name)?.removeAttribute('aria-invalid')
    }
    general.textContent = ''
    submit.disabled = true
    form.setAttribute('aria-busy', 'true')
    send(values())
      .then(() => {
        isOver = true
        dialog.close()
      }, show)
      .finally(() => {
        form.removeAttribute('aria-busy')
        allow()
      })
  }

  function show(error: Error): void {
    const member = error instanceof Refused ? (error.member ?? '') : ''
    const name = [...inputs.keys()].find((one) => member.startsWith(one) && /^([.[]|$)/.test(member.slice(one.length)))
    const target = name === undefined ? general : problems.get(name)
    const text =
      error instanceof Refused
        ? error.message
        : 'The node did not answer. The change may have been made: check before you try again.'
    if (target !== undefined) target.textContent = name === undefined ? text : text.replace(/^[\w.[\]]+: /, '')
    const input = name === undefined ? undefined : inputs.get(name)
    input?.setAttribute('aria-invalid', 'true')
    input?.closest('details')?.setAttribute('open', '')
    input?.focus({ preventScroll: true })
    // The message is below its field: after the focus alone it may be outside the visible part of a long form.
    target?.scrollIntoView({ block: 'center' })
  }

  function row(field: Field): HTMLElement {
    const id = `${prefix}-${field.name.replaceAll('.', '-')}`
    const problem = element('span', { class: 'problem', id: `${id}-problem`, role: 'alert' })
    const input = inputOf(field, id)
    inputs.set(field.name, input)
    problems.set(field.name, problem)
    return element(
      'div',
      { class: field.kind === 'lines' ? 'field wide' : 'field' },
      element('label', { for: id }, field.label),
      input,
      ...(field.kind === 'text' && field.options !== undefined ? [proposals(field.options, `${id}-list`)] : []),
      problem,
      ...(field.hint === undefined ? [] : [element('span', { class: 'hint', id: `${id}-hint` }, field.hint)]),
    )
  }
}

function inputOf(
  { name, kind, value = '', hint, isRequired = false, maxLength, options = [] }: Field,
  id: string,
): Input {
  const shared = {
    id,
    name,
    required: isRequired,
    'aria-describedby': `${id}-problem${hint === undefined ? '' : ` ${id}-hint`}`,
    autocomplete: 'off',
    spellcheck: 'false',
    ...(maxLength !== undefined && { maxlength: String(maxLength) }),
  }
  if (kind === 'choice') {
    const choices = options.map(([one, words]) => element('option', { value: one, selected: one === value }, words))
    return element('select', shared, ...choices)
  }
  if (kind === 'lines') {
    const area = element('textarea', { ...shared, rows: '3' })
    area.value = value
    return area
  }
  const isProposing = kind === 'text' && options.length > 0
  const input = element('input', {
    ...shared,
    type: kind === 'number' ? 'text' : kind,
    ...(kind === 'number' && { inputmode: 'numeric' }),
    ...(isProposing && { list: `${id}-list` }),
  })
  input.value = value
  return input
}

function proposals(options: NonNullable<Field['options']>, id: string): HTMLElement {
  return element('datalist', { id }, ...options.map(([value]) => element('option', { value })))
}

/** Lays out fields in order, those of a group inside a collapsible part. */
function layout(fields: readonly Field[], row: (field: Field) => HTMLElement): HTMLElement[] {
  const parts: HTMLElement[] = []
  const groups = new Map<string, HTMLDetailsElement>()
  for (const field of fields) {
    const { group, value = '' } = field
    if (group === undefined) {
      parts.push(row(field))
      continue
    }
    let part = groups.get(group)
    if (part === undefined) {
      part = element('details', { class: 'group' }, element('summary', {}, group), element('div', { class: 'fields' }))
      groups.set(group, part)
      parts.push(part)
    }
    part.lastElementChild?.append(row(field))
    if (value !== '') part.open = true
  }
  return parts
}
