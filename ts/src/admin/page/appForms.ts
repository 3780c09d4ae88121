import type { AppView, AppWithKey, NodeReport } from '../shapes.ts'
import { createApp, editApp, revokeApp, rotateApp } from './api.ts'
import { bodyOf, policyFields } from './appBody.ts'
import { copyable } from './copyable.ts'
import { element, foreign } from './element.ts'
import { type Field, openForm } from './form.ts'

// What can be done with apps. `done` is called when the node has done it.

const useCases = ['DeFi', 'analytics', 'gaming', 'wallet', 'indexing'].map((one) => [one, one] as const)
const keeps = [
  ['0', 'ends at once'],
  ['3600', 'stays good for an hour'],
  ['86400', 'stays good for a day'],
  ['604800', 'stays good for a week'],
] as const

export function openCreation(isFirst: boolean, access: NodeReport['access'], done: () => void): void {
  const warning = element(
    'p',
    { class: 'notice warn' },
    'This is the first app: from now on whoever comes without a key is refused, over HTTP and WebSocket.',
  )
  openForm({
    title: 'New app',
    intro: isFirst && access.isOpen && !access.staysOpen ? [warning] : [],
    fields: [
      {
        name: 'name',
        label: 'Name',
        kind: 'text',
        isRequired: true,
        mostLetters: 64,
        hint: 'Letters, digits, dots, dashes and underscores. It stays taken for good.',
      },
      ...descriptionFields(),
      expiryField('Key ends'),
      ...policyFields(),
    ],
    action: 'Create',
    isAllowed: ({ name = '' }) => name !== '',
    async send(values) {
      const { name = '', expiresAt = '' } = values
      const made = await createApp({ name, expiresAt: expiresAt === '' ? null : expiresAt, ...bodyOf(values) })
      done()
      showKey(made, `${name} was created`)
    },
  })
}

export function openEdit(app: AppView, done: () => void): void {
  openForm({
    title: 'Edit app',
    intro: [subject(app)],
    fields: [...descriptionFields(app), ...policyFields(app)],
    action: 'Save',
    async send(values) {
      await editApp(app.name, bodyOf(values, app))
      done()
    },
  })
}

export function openRotation(app: AppView, done: () => void): void {
  openForm({
    title: 'Rotate key',
    intro: [subject(app)],
    fields: [
      { name: 'keepSeconds', label: 'The old key', kind: 'choice', options: keeps },
      expiryField('The new key ends'),
    ],
    action: 'Rotate',
    async send({ keepSeconds = '0', expiresAt = '' }) {
      const terms = { keepSeconds: Number(keepSeconds), expiresAt: expiresAt === '' ? null : expiresAt }
      const made = await rotateApp(app.name, terms)
      done()
      showKey(made, `${app.name} has a new key`)
    },
  })
}

export function openRevocation(app: AppView, done: () => void): void {
  openForm({
    title: 'Revoke app',
    intro: [
      element(
        'p',
        {},
        'All keys of ',
        foreign(app.name, 'strong'),
        ' end now and for good, and its connections are closed. An app cannot be brought back, nor its name used again.',
      ),
    ],
    fields: [{ name: 'confirmed', label: 'Type the name of the app to confirm', kind: 'text' }],
    action: 'Revoke',
    isDangerous: true,
    isAllowed: ({ confirmed }) => confirmed === app.name,
    async send() {
      await revokeApp(app.name)
      done()
    },
  })
}

/** The one time that a key is seen. Leaving takes a deliberate click. */
function showKey({ key, urls }: AppWithKey, title: string): void {
  openForm({
    title,
    intro: [
      element(
        'p',
        { class: 'notice warn' },
        'The key is shown this once. Copy it now: the node keeps only its hash and cannot show it again.',
      ),
      copyable('HTTP', urls.http, true),
      copyable('WebSocket', urls.webSocket),
      copyable('HTTP, provider style', urls.httpV2),
      copyable('WebSocket, provider style', urls.webSocketV2),
      copyable('Key alone', key),
      element(
        'p',
        { class: 'hint' },
        'Whoever has one of these can call as this app. The key can also be sent as header x-api-key.',
      ),
    ],
    fields: [],
    action: 'I have stored it',
    mayBeLeft: false,
    send: () => Promise.resolve(),
  })
}

function subject({ name }: AppView): HTMLElement {
  return element('p', { class: 'subject' }, foreign(name))
}

function descriptionFields(app?: AppView): Field[] {
  return [
    { name: 'description', label: 'Description', kind: 'text', mostLetters: 200, value: app?.description ?? '' },
    {
      name: 'useCase',
      label: 'Use case',
      kind: 'text',
      mostLetters: 200,
      value: app?.useCase ?? '',
      options: useCases,
    },
  ]
}

function expiryField(label: string): Field {
  return { name: 'expiresAt', label, kind: 'date', hint: 'At the beginning of that day, UTC. Empty: never.' }
}
