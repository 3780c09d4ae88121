import type { ListedApp } from '../shapes.ts'
import { allApps, keepToken, nodeReport, Refused } from './api.ts'
import { AppsPart } from './apps.ts'
import { byId } from './element.ts'
import { openForm } from './form.ts'
import { Methods } from './methods.ts'
import { OverTime } from './overTime.ts'
import { Overview } from './overview.ts'

// Asks the node again and again while somebody looks, and shows what it says.

const everyMs = 2000

const overview = new Overview()
const methods = new Methods()
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
    const [report, list] = await Promise.all([nodeReport(), appsOrProblem()])
    overview.show(report)
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
    const since = lastAnswer === '' ? '' : ` What you see is of ${lastAnswer}.`
    showAway(
      error instanceof Refused
        ? `The node refuses: ${error.message}.${since}`
        : `The node does not answer; asking again every ${everyMs / 1000} seconds.${since}`,
    )
  } finally {
    isAsking = false
  }
  // An answer that was on its way does not know of what happened meanwhile.
  if (isWantedAgain) void refresh()
  else if (!document.hidden) timer = setTimeout(refresh, everyMs)
}

/** The store of the apps may be away while the node is well. */
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
  // A notice that says the same is not read out again.
  if (notice.textContent !== text) notice.textContent = text
  document.body.classList.toggle('old', text !== '')
}

function askForToken(): void {
  if (isSigningIn) return
  isSigningIn = true
  byId('loading').textContent = 'This node asks for a token.'
  openForm({
    title: 'Sign in',
    intro: [],
    fields: [
      {
        name: 'token',
        label: 'Token',
        kind: 'password',
        isRequired: true,
        hint: 'The word in the file that admin.tokenFile names. It is kept until this tab is closed.',
      },
    ],
    action: 'Sign in',
    mayBeLeft: false,
    isAllowed: ({ token = '' }) => token !== '',
    async send({ token = '' }) {
      keepToken(token)
      try {
        await nodeReport()
      } catch (error) {
        if (!(error instanceof Refused) || error.status !== 401) throw error
        throw new Refused(401, { code: 'token', message: 'token: this is not the token', member: 'token' })
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
