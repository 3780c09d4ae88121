import type { AppView, AppWithKey, NodeReport } from '../shapes.ts'
import { createApp, editApp, revokeApp, rotateApp } from './api.ts'
import { bodyOf, policyFields } from './appBody.ts'
import { copyable } from './copyable.ts'
import { element, foreign } from './element.ts'
import { type Field, openForm } from './form.ts'

// Forms that change apps. `done` is called after the change.

const useCases = ['DeFi', 'analytics', 'gaming', 'wallet', 'indexing'].map((one) => [one, one] as const)
const keeps = [
  ['0', 'expires at once'],
  ['3600', 'stays valid for an hour'],
  ['86400', 'stays valid for a day'],
  ['604800', 'stays valid for a week'],
] as const

export function openCreation(isFirst: boolean, access: NodeReport['access'], done: () => void): void {
  const warning = element(
    'p',
    { class: 'notice warn' },
    'This is the first app: once it exists, requests without a key are refused, over HTTP and WebSocket.',
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
        maxLength: 64,
        hint: 'Letters, digits, dots, dashes and underscores. A name can never be used again.',
      },
      ...descriptionFields(),
      expiryField('Key expires'),
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
      expiryField('The new key expires'),
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
        ' are revoked permanently, and its connections are closed. Neither the app nor its name can be used again.',
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

/** Shows a new key, which is never shown again. The form closes only by its button. */
function showKey({ key, urls }: AppWithKey, title: string): void {
  openForm({
    title,
    intro: [
      element('p', { class: 'notice warn' }, 'The key is shown only once. Copy it now: the node stores only its hash.'),
      copyable('HTTP', urls.http, true),
      copyable('WebSocket', urls.webSocket),
      copyable('HTTP, provider style', urls.httpV2),
      copyable('WebSocket, provider style', urls.webSocketV2),
      copyable('Key alone', key),
      element(
        'p',
        { class: 'hint' },
        'Each of these URLs contains the key: keep them secret. The key can also be sent in the header x-api-key.',
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
    { name: 'description', label: 'Description', kind: 'text', maxLength: 200, value: app?.description ?? '' },
    {
      name: 'useCase',
      label: 'Use case',
      kind: 'text',
      maxLength: 200,
      value: app?.useCase ?? '',
      options: useCases,
    },
  ]
}

function expiryField(label: string): Field {
  return { name: 'expiresAt', label, kind: 'date', hint: 'At the start of that day, UTC. Empty: never.' }
}
