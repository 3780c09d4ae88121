// Keeps the balances of a token in PostgreSQL, through reorganizations, lost connections and kills.
//   node docs/examples/balances/balances.mjs http://127.0.0.1:4444 TOKEN postgres://USER:PASSWORD@HOST/DATABASE
// The balances of a page of the change feed and its cursor are written in one transaction, so each transfer counts once.
import pg from 'pg'

/** keccak256("Transfer(address,address,uint256)") */
const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const pauseMs = 1000

const tables = `
  CREATE TABLE IF NOT EXISTS token_places (token text PRIMARY KEY, cursor text NOT NULL);
  CREATE TABLE IF NOT EXISTS token_balances (
    token text NOT NULL, account text NOT NULL, balance numeric NOT NULL, PRIMARY KEY (token, account));`
const addBalances = `
  INSERT INTO token_balances
  SELECT $1, account, sum(amount) FROM unnest($2::text[], $3::numeric[]) AS change(account, amount) GROUP BY account
  ON CONFLICT (token, account) DO UPDATE SET balance = token_balances.balance + EXCLUDED.balance`
const removeBalances = 'DELETE FROM token_balances WHERE token = $1'

const [url, token, database] = process.argv.slice(2)
if (database === undefined) throw new Error('usage: balances.mjs NODE_URL TOKEN DATABASE_URL')
const client = new pg.Client({ connectionString: database })
await client.connect()
await client.query(tables)
await client.query('INSERT INTO token_places VALUES ($1, $2) ON CONFLICT DO NOTHING', [token, 'earliest'])

for (;;) {
  const { rows } = await client.query('SELECT cursor FROM token_places WHERE token = $1', [token])
  try {
    await follow(rows[0].cursor)
  } catch (error) {
    // The next connection, to this or another node of the chain, continues at the cursor.
    if (!(error instanceof TypeError)) throw error
    console.error('the feed was interrupted:', error.cause?.message ?? error.message)
  }
  await new Promise((resolve) => setTimeout(resolve, pauseMs))
}

/** Reads the feed from a cursor until the connection ends. */
async function follow(from) {
  const response = await fetch(`${url}/feed?what=logs&address=${token}&topic0=${transfer}&from=${from}`)
  if (response.status >= 500 || response.status === 429) return
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  let cursor = from
  let text = ''
  for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (text + bytes).split('\n\n')
    text = parts.pop()
    const events = parts.map((part) => /^data: (.*)$/m.exec(part)?.[1]).filter((data) => data !== undefined)
    cursor = await apply(events.map(JSON.parse), cursor)
    if (cursor === 'earliest') return
  }
}

/** Writes the changes of some events and the cursor of the last one. Returns that cursor. */
async function apply(events, from) {
  const failed = events.find(({ type }) => type === 'failed')
  if (failed !== undefined) throw new Error(`the feed cannot be followed: ${JSON.stringify(failed)}`)
  const cursor = events.at(-1)?.cursor
  if (cursor === undefined) return from
  // A development network that went back by command deletes its blocks without their logs: all balances are computed again.
  if (events.some(({ type }) => type === 'rewound')) return write(from, 'earliest', removeBalances, [token])
  const changes = events.flatMap(({ logs = [] }) => logs).flatMap(changesOf)
  const accounts = changes.map(({ account }) => account)
  const amounts = changes.map(({ amount }) => String(amount))
  return write(from, cursor, addBalances, [token, accounts, amounts])
}

/** Changes the balances and the cursor in one transaction. Returns the new cursor. */
async function write(from, cursor, query, values) {
  await client.query('BEGIN')
  await client.query(query, values)
  const place = 'UPDATE token_places SET cursor = $3 WHERE token = $1 AND cursor = $2'
  const { rowCount } = await client.query(place, [token, from, cursor])
  if (rowCount !== 1) throw new Error('another process writes the balances of this token')
  await client.query('COMMIT')
  return cursor
}

/** Returns the changes of balances by a log. A log of a block that left the chain is removed: its changes are taken back. */
function changesOf({ topics, data, removed }) {
  const amount = removed ? -BigInt(data) : BigInt(data)
  const [from, to] = topics.slice(1).map((topic) => `0x${topic.slice(26)}`)
  return [
    { account: from, amount: -amount },
    { account: to, amount },
  ]
}
