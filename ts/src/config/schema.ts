import { type Static, type TSchema, Type } from 'typebox'

// The one description of every setting: the file, the environment and the flags are checked against it, the defaults
// stand here and nowhere else. The name in the environment is RHIZOME_ and the path: http.port is RHIZOME_HTTP_PORT.

const text = (description: string, preset = '') => Type.String({ description, default: preset })
const list = (description: string, preset: string[]) => Type.Array(Type.String(), { description, default: preset })
const whole = (description: string, preset: number, minimum = 0, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ description, default: preset, minimum, maximum })
const yesNo = (description: string, preset: boolean) => Type.Boolean({ description, default: preset })
const oneOf = <const T extends readonly string[]>(description: string, values: T, preset: T[number]) =>
  Type.Unsafe<T[number]>(Type.Enum([...values], { description, default: preset }))
const pattern = (description: string, pattern: string) => Type.String({ description, default: '', pattern })
const section = <T extends Record<string, TSchema>>(description: string, members: T) =>
  Type.Object(members, { description, additionalProperties: false })

/** A choice that the API document and the reference make differently. Empty: as `compat` says. */
const choice = <const T extends readonly string[]>(description: string, values: T) =>
  Type.Unsafe<'' | T[number]>(Type.Enum(['', ...values], { description, default: '' }))

const moduleSettings = section('', {
  enabled: Type.Optional(Type.Boolean({ description: 'Whether the module is served.' })),
  allow: Type.Optional(Type.Array(Type.String(), { description: 'If given: only these methods.' })),
  deny: Type.Optional(Type.Array(Type.String(), { description: 'Never these methods.' })),
  timeoutMs: Type.Optional(
    Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
      description: 'Time for single methods in milliseconds, below that of the request: { eth_call = 1000 }.',
    }),
  ),
})

const modules = () => Type.Record(Type.String(), moduleSettings)
const reach = () =>
  oneOf(
    'Who reaches the address: private (nobody but people who may do anything) or public (then modules that change the chain or the node, and methods that sign, are not served). Empty: private on loopback addresses, else public.',
    ['', 'public', 'private'],
    '',
  )
const certificate = () => text('File with the certificate chain (PEM), for TLS. Read again on SIGHUP.')
const privateKey = () => text('File with the private key of the certificate (PEM, without passphrase).')

/** An address besides that of [http]. */
const furtherAddress = section('', {
  host: Type.Optional(Type.String({ minLength: 1 })),
  port: Type.Integer({ minimum: 0, maximum: 65535 }),
  access: Type.Optional(reach()),
  cors: Type.Optional(Type.Array(Type.String())),
  hosts: Type.Optional(Type.Array(Type.String())),
  tlsCert: Type.Optional(Type.String()),
  tlsKey: Type.Optional(Type.String()),
  maxConnectionsPerIp: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  modules: Type.Optional(modules()),
})

export const schema = section('', {
  network: oneOf(
    'The network: regtest and devnet are for development.',
    ['regtest', 'devnet', 'testnet', 'mainnet'],
    'regtest',
  ),
  chain: text('A chain specification file (JSON) instead of a built-in network.'),
  dataDir: text('Where the chain is kept. Empty: ./data/<network>, or ./data/<name of the chain file>.'),
  ephemeral: yesNo('Keep nothing: the data lives in a temporary folder that goes with the process.', false),
  mining: Type.String({
    description:
      'auto (a block for each transaction), interval=SECONDS (0.5 is half a second), or off. Empty: auto on development networks, else off.',
    default: '',
    pattern: '^(|auto|off|interval=(0\\.0{0,2}[1-9][0-9]{0,2}|[1-9][0-9]{0,5}(\\.[0-9]{1,3})?))$',
    expects: 'auto, off or interval=SECONDS',
  }),
  oldStateRoots: oneOf(
    'Blocks before RSKIP-126 carry state roots in an old format, which the reference compares with nothing: unchecked as ' +
      'there, compared from RSKIP-85 on, or all checked. Each checked block costs a walk through the whole state.',
    ['unchecked', 'rskip85', 'checked'],
    'unchecked',
  ),
  compat: oneOf(
    'Who wins where the API document and the reference node differ; [choices] turns single ones.',
    ['document', 'reference'],
    'document',
  ),
  tools: yesNo(
    'For test suites of Hardhat and Foundry on regtest and devnet: sets rpc.skipRemasc and choices.failedEstimate = "codeError", and begins a new chain with an empty block.',
    false,
  ),
  walletExposed: yesNo(
    'Whether a node with accounts may listen on other than loopback addresses on networks with real money.',
    false,
  ),

  development: section(
    'What a regtest chain begins with. Another value than the default is another genesis block or chain id: it needs a data directory of its own.',
    {
      chainId: Type.Optional(
        Type.Integer({
          description: 'Chain id. Not given: 33. Transactions of chain 30 and 31 are good on mainnet and testnet, too.',
          minimum: 1,
          maximum: 109,
        }),
      ),
      mnemonic: Type.String({
        description:
          "Words (BIP-39) that the accounts come from, at m/44'/60'/0'/0/0 and on. Empty: those that every development node has.",
        default: '',
        isSecret: true,
      }),
      accounts: Type.Optional(
        Type.Integer({
          description: 'Number of funded accounts. Not given: ten, and without a mnemonic also that of the miner.',
          minimum: 1,
          maximum: 1000,
        }),
      ),
      balance: Type.Optional(
        Type.Integer({
          description: 'Coins (RBTC) of each account. Not given: 1000000000000.',
          minimum: 0,
          maximum: 1_000_000_000_000,
        }),
      ),
    },
  ),

  choices: section('Each empty choice follows compat.', {
    errorStatus: choice('HTTP status of a JSON-RPC error: always 200, or 400 for -32600, -32602 and -32700.', [
      '200',
      '400',
    ]),
    errorText: choice(
      'Error messages that say where the fault is and what was expected, or the plain texts of the reference.',
      ['helpful', 'plain'],
    ),
    failedEstimate: choice(
      'eth_estimateGas of an execution that fails: an estimate; the error where code reverts or halts; or the error as in the reference, which tells of reverts and missing balance.',
      ['estimate', 'codeError', 'error'],
    ),
    estimateCap: choice('Upper bound of an estimate without gas: the pending block, or what the pool accepts.', [
      'block',
      'pool',
    ]),
    pendingSelector: choice('The selector pending for the methods that support it partially: refused or served.', [
      'refuse',
      'serve',
    ]),
    haltedCall: choice('eth_call that ends in an exceptional halt: an error that names it, or empty bytes.', [
      'error',
      'empty',
    ]),
    signatureWords: choice('r and s of transactions: 32 bytes, or without leading zeros.', ['padded', 'stripped']),
    listening: choice('net_listening: whether this node accepts peers, or true as every node of the reference says.', [
      'actual',
      'always',
    ]),
    traces: choice(
      'Shape of trace_* results and of the callTracer: as most nodes write them, or as the reference does.',
      ['standard', 'reference'],
    ),
    filterPoll: choice('With instant mining, polling a filter only reads, or mines a block first.', ['read', 'mine']),
    timeOffset: choice('evm_increaseTime moves the time of all later blocks, or of the next one.', [
      'lasting',
      'block',
    ]),
    stateOverride: choice('State and block overrides of eth_call and eth_estimateGas: served or refused.', [
      'serve',
      'refuse',
    ]),
    waiting: choice(
      'The pool of a development network refuses what has too much gas for the next block, and txpool_content says why a transaction waits; or both as the reference.',
      ['explained', 'reference'],
    ),
    clientVersion: choice(
      'web3_clientVersion: begins with anvil/v1.0.0, a name that tools for development know, or with the own name. Empty: tools on regtest and devnet with compat = "document", else own.',
      ['tools', 'own'],
    ),
    absentBlock: choice(
      'A call without its block parameter: at the latest block, or -32602. Empty: latest on regtest and devnet with compat = "document", else refuse.',
      ['latest', 'refuse'],
    ),
  }),

  http: section('The JSON-RPC endpoint.', {
    host: text('Address to listen on. Anything but a loopback address lets others in.', '127.0.0.1'),
    port: whole('Port to listen on; 0 takes a free one.', 4444, 0, 65535),
    access: reach(),
    tlsCert: certificate(),
    tlsKey: privateKey(),
    workers: whole('Worker threads that serve requests. 0: one for each processor.', 0, 0, 256),
    cors: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Origins of web pages that may call: hosts or origins, "localhost" for any port there, "chrome-extension://*" for all of a scheme, "*" for all. Not given: localhost; on development networks also extensions of browsers (chrome-extension://*, moz-extension://*), remix.ethereum.org and titanoboa.',
      }),
    ),
    hosts: list('Accepted Host headers besides loopback names; "*" for all.', ['*']),
    trustedProxies: list(
      'Addresses and ranges (10.0.0.0/8) of proxies whose X-Forwarded-For tells the address of the client. Their connections are not counted.',
      [],
    ),
    maxConnectionsPerIp: Type.Optional(
      Type.Integer({
        description:
          'Open connections of one IPv4 address or IPv6 /64 at a time, of all workers together. 0: no limit. Not given: 256 on public addresses, none on private ones.',
        minimum: 0,
        maximum: 1_000_000,
      }),
    ),
    maxHeaderBytes: whole('Largest head of a request: URL and headers.', 8192, 1024, 65_536),
    maxBodyBytes: Type.Optional(
      Type.Integer({
        description: 'Largest request body. Not given: 1 MB on public addresses, 5 MB on private ones.',
        minimum: 1,
        maximum: 2 ** 29,
      }),
    ),
    bodyMs: whole('Time for a request body to arrive. 0: no limit.', 30_000, 0, 3_600_000),
    writeMs: whole('Time for a client to take a large answer. 0: no limit.', 60_000, 0, 3_600_000),
    maxUnreadBytes: whole(
      'Large answers that clients have not read yet, of one worker. Above it, further ones are refused with 503.',
      268_435_456,
      1,
    ),
    drainMs: whole('Time that running requests have to end once the node has been told to end.', 1000, 0, 600_000),
    compression: oneOf(
      'Whom answers from 1 KB up are compressed for, when they ask for it.',
      ['remote', 'all', 'none'],
      'remote',
    ),
    modules: Type.Optional(modules()),
  }),

  listen: Type.Array(furtherAddress, {
    description:
      'Further addresses, each [[listen]] with host, port and, where they differ from [http], access, cors, hosts, tlsCert, tlsKey, maxConnectionsPerIp, modules.',
    default: [],
  }),

  auth: section(
    'Who may call. Apps and their keys are made with rhizome keys; from the first one on a key is asked for.',
    {
      open: yesNo(
        'Ask nobody for a key. A node without apps that listens on other than loopback addresses starts only with this.',
        false,
      ),
      file: text('Where apps are kept, with the hashes of their keys. Empty: apps.json in the data directory.'),
      url: Type.String({
        description:
          'The address that callers use, for the URLs that are shown with a new key. Empty: http.host and port.',
        default: '',
        pattern: '^(|https?://[^\\s?#]+)$',
        expects: 'an http or https URL without query',
      }),
    },
  ),

  store: section(
    'Where the state of the service is kept: apps, usage, rates, filters. One Redis or Valkey serves several nodes.',
    {
      url: Type.String({
        description:
          'embedded: files of this node. redis://[user:password@]host[:port][/database], rediss:// for TLS, unix:///path[?db=number].',
        default: 'embedded',
        pattern: '^(embedded|rediss?://[^\\s]+|unix:/[^\\s]+)$',
        expects: 'embedded, or a redis, rediss or unix URL',
        isSecret: true,
      }),
      password: Type.String({
        description: 'The password, where the URL has none. The environment is a better place for it than a file.',
        default: '',
        isSecret: true,
      }),
      prefix: Type.String({
        description: 'What the names of all keys in Redis begin with.',
        default: 'rhizome:',
        pattern: '^[\\x21-\\x7e]{0,64}$',
        expects: 'at most 64 printable characters without spaces',
      }),
      whenAway: oneOf(
        'What becomes of requests with a key while Redis is away. closed: 503; open: the keys known so far stay good, and each node counts for itself.',
        ['closed', 'open'],
        'closed',
      ),
    },
  ),

  ws: section('WebSocket, on the same port.', {
    enabled: yesNo('Whether WebSocket is served.', true),
    maxConnections: whole('Open connections at a time, of all workers together.', 10_000, 1, 1_000_000),
    maxSubscriptions: whole('Subscriptions of one connection.', 100, 1),
    maxRequests: whole('Requests of one connection that wait for an answer at a time.', 1000, 1),
    maxMessageBytes: Type.Optional(
      Type.Integer({
        description: 'Largest message from a client. Not given: 1 MB on public addresses, 5 MB on private ones.',
        minimum: 1,
        maximum: 2 ** 29,
      }),
    ),
    maxBufferedBytes: whole(
      'A client that has left more than this unread when the next message comes is cut off.',
      16_777_216,
      1024,
    ),
    maxUnreadBytes: whole(
      'What all clients of one worker together may leave unread; above it, those are cut off that have left anything when the next message comes.',
      268_435_456,
      1024,
    ),
    idleSeconds: whole('A client that is silent for so long, and leaves a ping unanswered, is cut off.', 60, 8, 960),
  }),

  limits: section('Limits of the whole process.', {
    memoryMegabytes: whole(
      'Bodies that are arriving, large requests and answers that wait, filters and subscriptions, of all clients together, in MB (2^20 bytes). Above it, the newest are refused with 503 or -32005. One client may take half of it.',
      512,
      16,
      65_536,
    ),
  }),

  rpc: section('Limits of requests.', {
    maxBatchRequests: whole('Requests in one batch.', 50, 1),
    timeoutMs: whole('Time for one HTTP request or WebSocket message in milliseconds. 0: no limit.', 5000),
    maxResponseBytes: whole('Largest answer to one HTTP request or WebSocket message. 0: no limit.', 10_485_760),
    maxWaiting: whole(
      'Requests that wait for a thread to execute: so many calls and log searches, and as many traces. Further ones are refused with 503.',
      1024,
      1,
      1_000_000,
    ),
    callGasCap: whole('Gas of one eth_call.', 10_000_000, 21_000),
    estimateGasCap: whole('Gas of one estimate where the reference rule is chosen.', 6_800_000, 21_000),
    estimate: oneOf(
      'eth_estimateGas of an execution that succeeds: the number of the reference, or (tight) the least gas that suffices, found by further runs.',
      ['reference', 'tight'],
      'reference',
    ),
    logBlocks: whole('eth_getLogs: a range of at most this many blocks has no cap on logs.', 2000),
    logCount: whole('eth_getLogs: the cap on logs for a wider range. 0: none.', 10_000),
    maxTraceBytes: whole(
      'Largest answer of one trace_* or debug_trace* request; execution ends when it is reached. maxResponseBytes applies, too.',
      10_485_760,
      1024,
    ),
    maxTraces: whole('Most traces that one trace_filter returns or skips.', 10_000, 1),
    skipRemasc: yesNo(
      'Leave the REMASC transaction out of block objects, and (not with compat = "reference") out of counts, block receipts and look-ups by index. A view: the block keeps it.',
      false,
    ),
    zeroSignatureIfRemasc: yesNo('v, r and s of the REMASC transaction are 0x0; otherwise null.', true),
    slowMs: whole('Requests slower than this are logged as warnings.', 1000),
  }),

  miner: section('What this node builds into its blocks, and works for other miners.', {
    coinbase: pattern(
      'Receiver of the fees, 0x and 40 hex digits. Empty: the last development account on development networks.',
      '^(|0x[0-9a-fA-F]{40})$',
    ),
    extraData: pattern(
      'Extra data of a block, at most 32 bytes as hex. Empty: name and version.',
      '^(|0x([0-9a-fA-F]{2}){1,32})$',
    ),
    minimumGasPriceWei: whole('Minimum gas price that blocks move toward.', 0),
    fixedClock: yesNo(
      'The time of a block is its parent plus what evm_increaseTime added, whatever the clock says: blocks come out the same again.',
      false,
    ),
    followPool: Type.Optional(
      Type.Boolean({
        description: 'Whether new transactions outdate the work at once. Not given: on development networks only.',
      }),
    ),
    refreshSeconds: whole('A work is built anew after so long.', 60, 1, 86_400),
    submissionIntervalSeconds: whole('Least time between two submissions. 0: no limit.', 0, 0, 86_400),
    notifiedFeesWei: whole('Fees from which on a rise by more than 10 percent is worth telling miners.', 0),
  }),

  pool: section('Transactions that wait for a block.', {
    rateLimiter: oneOf(
      'Whether accounts that send too much are refused: on, off. Empty: on, but off on development networks.',
      ['', 'on', 'off'],
      '',
    ),
  }),

  filters: section('Installed filters.', {
    expirySeconds: whole('A filter that is not polled for so long is removed.', 300, 1),
    maximum: whole('Installed filters at a time.', 10_000, 1),
  }),

  wallet: Type.Optional(
    Type.Boolean({
      description: 'Whether the node keeps accounts and signs with them. Not given: on development networks only.',
    }),
  ),

  storage: section('The database.', {
    cacheMegabytes: whole('Memory for cached data.', 256, 8),
    writeBufferMegabytes: whole('Memory for what is only in the log yet. More makes long imports faster.', 64, 1),
    powerSafe: yesNo('Wait for the disk at each block: a loss of power takes no block away. Slower.', false),
  }),

  health: section('When /health answers 503: the node is alive, but requests should go elsewhere.', {
    maxHeadAgeSeconds: Type.Optional(
      Type.Integer({
        description:
          'The head is older than this. 0: not looked at. Not given: 300 on public networks, not looked at on development networks.',
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
      }),
    ),
    maxLagBlocks: whole('The head is more than so many blocks behind the highest stored one. 0: not looked at.', 0),
  }),

  metrics: section(
    'Figures for Prometheus: GET /metrics on an address of their own, for they tell much about the node.',
    {
      enabled: yesNo('Whether they are served.', false),
      host: text('Address to listen on. Anything but a loopback address lets others in.', '127.0.0.1'),
      port: whole('Port to listen on; 0 takes a free one.', 4446, 0, 65535),
      hosts: list('Accepted Host headers besides loopback names; "*" for all.', []),
    },
  ),

  admin: section(
    'For the operator: a page that shows the node and its apps, and the API behind it, on an address of their own.',
    {
      enabled: yesNo('Whether they are served. The node counts its requests then, as for metrics.', false),
      host: text('Address to listen on. Anything but a loopback address needs a tokenFile.', '127.0.0.1'),
      port: whole('Port to listen on; 0 takes a free one.', 4447, 0, 65535),
      hosts: list('Accepted Host headers besides loopback names and the host above; "*" for all.', []),
      tokenFile: text('A file with the token that the API asks for: one word of at least 24 characters. Empty: none.'),
    },
  ),

  log: section('The log goes to standard error, one JSON object a line.', {
    level: oneOf('Least severe level that is written.', ['silent', 'error', 'warn', 'info', 'debug', 'trace'], 'info'),
  }),

  modules: Type.Record(Type.String(), moduleSettings, {
    description:
      'Per module, e.g. [modules.evm] enabled = false. debug, evm, hardhat, mnr, personal, sco and trace are on by default on development networks only.',
    default: {},
  }),
})

export type Config = Static<typeof schema>
