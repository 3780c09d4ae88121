import type { ListedApp } from '../shapes.ts'
import { allApps, allPeers, nodeReport, Refused, storeToken } from './api.ts'
import { AppsPart } from './apps.ts'
import { byId } from './element.ts'
import { FleetPart } from './fleet.ts'
import { openForm } from './form.ts'
import { Methods } from './methods.ts'
import { OverTime } from './overTime.ts'
import { Overview } from './overview.ts'
import { PeersPart } from './peers.ts'
import { SyncPart } from './sync.ts'

// Polls the node while the page is visible, and shows the answers.

const everyMs = 2000

const overview = new Overview()
const methods = new Methods()
const syncPart = new SyncPart()
const fleetPart = new FleetPart()
const peersPart = new PeersPart(refresh)
const apps = new AppsPart(refresh)
const overTime = new OverTime()
let lastAnswer = ''
let timer: ReturnType<typeof setTimeout> | undefined
let isAsking = false
let isWantedAgain = false
let isSigningIn = false

async function refresh(): Promise<void> {
  clearTimeout(timer)
  isWantedAgain = isAsking
  if (isAsking) return
  isAsking = true
  try {
    const [report, peers, list] = await Promise.all([nodeReport(), allPeers(), appsOrProblem()])
    overview.show(report)
    syncPart.show(report)
    fleetPart.show(report)
    peersPart.show(peers, report)
    methods.show(report)
    apps.show(list, report)
    lastAnswer = new Date().toLocaleTimeString()
    byId('loading').hidden = true
    byId('content').hidden = false
    showAway('')
    await overTime.show(list)
  } catch (error) {
    if (error instanceof Refused && error.status === 401) {
      askForToken()
      return
    }
    const since = lastAnswer === '' ? '' : ` The figures are those of ${lastAnswer}.`
    showAway(
      error instanceof Refused
        ? `The node refused the request: ${error.message}.${since}`
        : `The node does not answer; trying again every ${everyMs / 1000} seconds.${since}`,
    )
  } finally {
    isAsking = false
  }
  // A change during the poll may be missing in its answer.
  if (isWantedAgain) void refresh()
  else if (!document.hidden) timer = setTimeout(refresh, everyMs)
}

/** Returns the apps, or the problem of their store: the node itself may still answer. */
async function appsOrProblem(): Promise<readonly ListedApp[] | string> {
  try {
    return (await allApps()).apps
  } catch (error) {
    if (error instanceof Refused && error.status === 503) return error.message
    throw error
  }
}

function showAway(text: string): void {
  const notice = byId('away')
  notice.hidden = text === ''
  // An unchanged notice must not be read out again.
  if (notice.textContent !== text) notice.textContent = text
  document.body.classList.toggle('old', text !== '')
}

function askForToken(): void {
  if (isSigningIn) return
  isSigningIn = true
  byId('loading').textContent = 'This node requires a token.'
  openForm({
    title: 'Sign in',
    intro: [],
    fields: [
      {
        name: 'token',
        label: 'Token',
        kind: 'password',
        isRequired: true,
        hint: 'The content of the file in admin.tokenFile. It is stored until this tab is closed.',
      },
    ],
    action: 'Sign in',
    mayBeLeft: false,
    isAllowed: ({ token = '' }) => token !== '',
    async send({ token = '' }) {
      storeToken(token)
      try {
        await nodeReport()
      } catch (error) {
        if (!(error instanceof Refused) || error.status !== 401) throw error
        throw new Refused(401, { code: 'token', message: 'token: wrong token', member: 'token' })
      }
      isSigningIn = false
      void refresh()
    },
  })
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void refresh()
})
void refresh()
