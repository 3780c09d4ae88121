import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

/** Opens a page. Adds its problems to `complaints`: blocked scripts, errors, failed requests, dialogs. */
export async function openPage(
  browser: Browser,
  url: string,
  complaints: string[],
  options: BrowserContextOptions,
): Promise<Page> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(url)
  return page
}
