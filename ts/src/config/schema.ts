import { type Static, type TSchema, Type } from 'typebox'

// The schema of all settings. File, environment and flags are checked against it, and all defaults are defined here. The
// environment variable of a setting is RHIZOME_ and its path: http.port is RHIZOME_HTTP_PORT.

const text = (description: string, preset = '') => Type.String({ description, default: preset })
const list = (description: string, preset: string[]) => Type.Array(Type.String(), { description, default: preset })
const someOf = <const T extends readonly string[]>(description: string, values: T) =>
  Type.Array(Type.Unsafe<T[number]>(Type.Enum([...values])), { description, default: [], uniqueItems: true })
const whole = (description: string, preset: number, minimum = 0, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ description, default: preset, minimum, maximum })
/** Most memory of a cache: one terabyte, since the database ends the process where it cannot reserve the addresses of a cache. */
const mostMegabytes = 2 ** 20
const maybe = (description: string, minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Optional(Type.Integer({ description, minimum, maximum }))
const yesNo = (description: string, preset: boolean) => Type.Boolean({ description, default: preset })
const oneOf = <const T extends readonly string[]>(description: string, values: T, preset: T[number]) =>
  Type.Unsafe<T[number]>(Type.Enum([...values], { description, default: preset }))
const pattern = (description: string, expects: string, pattern: string) =>
  Type.String({ description, default: '', pattern, expects })
const secret = (description: string, expects = 'a text', pattern = '') =>
  Type.String({ description, default: '', pattern, expects, isSecret: true })
/** An address to listen on. Without one, a server would listen on all. */
const host = (description = 'Address to listen on. Other machines can reach any address but loopback addresses.') =>
  Type.String({ description, default: '127.0.0.1', minLength: 1, expects: 'an address' })
const port = (preset: number) => whole('Port to listen on; 0: a free port.', preset, 0, 65535)
const hosts = () => list('Accepted Host headers besides loopback names and the host above; "*" for all.', [])
const section = <T extends Record<string, TSchema>>(description: string, members: T) =>
  Type.Object(members, { description, additionalProperties: false })

/** A choice on which the API document and the reference differ. Empty: that of `compat`. */
const choice = <const T extends readonly string[]>(description: string, values: T) =>
  Type.Unsafe<'' | T[number]>(Type.Enum(['', ...values], { description, default: '' }))

const moduleSettings = section('', {
  enabled: Type.Optional(Type.Boolean({ description: 'Whether the module is served.' })),
  allow: Type.Optional(Type.Array(Type.String(), { description: 'If present: only these methods.' })),
  deny: Type.Optional(Type.Array(Type.String(), { description: 'Never these methods.' })),
  timeoutMs: Type.Optional(
    Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
      description: 'Time limits of single methods in milliseconds, below that of the request: { eth_call = 1000 }.',
    }),
  ),
})

const modules = () => Type.Record(Type.String(), moduleSettings)
const reach = () =>
  oneOf(
    'Clients of the address: private (only trusted clients, which may call everything) or public (modules that change the chain or the node, and methods that sign, are not served). Empty: private on loopback addresses, else public.',
    ['', 'public', 'private'],
    '',
  )
const certificate = () => text('File with the certificate chain (PEM), for TLS. Read again on SIGHUP.')
const privateKey = () => text('File with the private key of the certificate (PEM, without passphrase).')

/** A further address beside that of [http]. */
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
  dataDir: text('Folder of the chain. Empty: ./data/<network>, or ./data/<name of the chain file>.'),
  ephemeral: yesNo('Store the data in a temporary folder that is deleted when the node stops.', false),
  mining: Type.String({
    description:
      'auto (a block for each transaction), interval=SECONDS (0.5 is half a second), or off. Empty: auto on development networks, else off.',
    default: '',
    pattern: '^(|auto|off|interval=(0\\.0{0,2}[1-9][0-9]{0,2}|[1-9][0-9]{0,5}(\\.[0-9]{1,3})?))$',
    expects: 'auto, off or interval=SECONDS',
  }),
  oldStateRoots: oneOf(
    'Check of state roots of blocks before RSKIP-126, which have an old format: unchecked as in the reference, checked ' +
      'from RSKIP-85 on, or all checked. Each checked block costs a walk through the whole state.',
    ['unchecked', 'rskip85', 'checked'],
    'unchecked',
  ),
  compat: oneOf(
    'Behaviour where the API document and the reference node differ; [choices] overrides single choices.',
    ['document', 'reference'],
    'document',
  ),
  tools: yesNo(
    'For test suites of Hardhat and Foundry on regtest and devnet: sets rpc.skipRemasc, rpc.estimate = "tight" and choices.failedEstimate = "codeError", mines an empty first block on a new chain, and serves with one worker thread, a time limit of 60 s and more gas for a call.',
    false,
  ),
  wallet: Type.Optional(
    Type.Boolean({
      description: 'Whether the node has accounts and signs with them. Default: on development networks only.',
    }),
  ),
  walletExposed: yesNo(
    'Whether a node with accounts may listen on other than loopback addresses on networks with real money.',
    false,
  ),

  development: section(
    'Genesis accounts and chain id of regtest. A value other than the default changes the genesis block or the chain id and needs a data directory of its own.',
    {
      chainId: maybe(
        'Chain id. Default: 33. Transactions for chain 30 or 31 are also valid on mainnet or testnet.',
        1,
        109,
      ),
      mnemonic: secret(
        "Mnemonic (BIP-39) of the accounts, at m/44'/60'/0'/0/0 and following. Empty: the well-known development accounts.",
      ),
      accounts: maybe(
        'Number of funded accounts. Default: 10, and without a mnemonic also the account of the miner.',
        1,
        1000,
      ),
      balance: maybe('Balance of each account in RBTC. Default: 1000000000000.', 0, 1_000_000_000_000),
    },
  ),

  fork: section(
    'A development chain that continues the chain of another Rootstock node from one of its blocks. It is kept in a temporary folder.',
    {
      url: secret(
        'URL of the other node (http or https), or a data directory on this machine that no node has open. Empty: no fork.',
        'an http or https URL, or a data directory',
        '^(|https?://[^\\s]+|(?![A-Za-z][A-Za-z0-9+.-]*://).+)$',
      ),
      block: Type.String({
        description: 'Number or hash of the block that the fork begins at. Empty: the best block at the start.',
        default: '',
        pattern: '^(|[0-9]{1,15}|0x[0-9a-fA-F]{64})$',
        expects: 'a block number, or a block hash with 0x',
      }),
      key: secret(
        'Header of the requests, HEADER=VALUE. Better set in the environment than in a file.',
        'HEADER=VALUE',
        '^(|[^=\\s]+=.+)$',
      ),
      cache: yesNo(
        'Whether results of the other node are cached on the disk, for this and later forks at the same block.',
        true,
      ),
      cacheDir: text('Folder of the cache. Empty: rhizome/fork in the cache folder of the user.'),
    },
  ),

  choices: section('An empty choice follows compat.', {
    errorStatus: choice('HTTP status of a JSON-RPC error: always 200, or 400 for -32600, -32602 and -32700.', [
      '200',
      '400',
    ]),
    errorText: choice(
      'Error messages with the location of the mistake and the expected value, or the texts of the reference.',
      ['helpful', 'plain'],
    ),
    failedEstimate: choice(
      'eth_estimateGas of an execution that fails: an estimate; an error if code reverts or halts; or an error as in the reference, for reverts and missing balance.',
      ['estimate', 'codeError', 'error'],
    ),
    estimateCap: choice(
      'Upper bound of an estimate without gas: the limit of the pending block, or that of the pool.',
      ['block', 'pool'],
    ),
    pendingSelector: choice('The block id pending, for methods that support it partially: refused or served.', [
      'refuse',
      'serve',
    ]),
    haltedCall: choice('eth_call that ends in an exceptional halt: an error with the reason, or empty bytes.', [
      'error',
      'empty',
    ]),
    bridgeState: choice(
      'eth_bridgeState while a peg-out is queued or waits for confirmations: the stored state, or the error of the reference, which cannot decode it.',
      ['stored', 'decodable'],
    ),
    signatureWords: choice('r and s of transactions: 32 bytes, or without leading zeros.', ['padded', 'stripped']),
    listening: choice('net_listening: whether this node accepts peers, or always true as in the reference.', [
      'actual',
      'always',
    ]),
    traces: choice('Format of trace_* results and of the callTracer: that of most nodes, or that of the reference.', [
      'standard',
      'reference',
    ]),
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
      'On development networks, the pool rejects a transaction with too much gas for the next block, and txpool_content explains why a transaction waits; or both as in the reference.',
      ['explained', 'reference'],
    ),
    clientVersion: choice(
      'web3_clientVersion: begins with anvil/v1.0.0, which development tools recognise, or with Rhizome. Empty: tools on regtest and devnet with compat = "document", else own.',
      ['tools', 'own'],
    ),
    absentBlock: choice(
      'A request without its block parameter: at the latest block, or -32602. Empty: latest on regtest and devnet with compat = "document", else refuse.',
      ['latest', 'refuse'],
    ),
    depthTags: choice('The block tags safe and finalized (rpc.safeDepth, rpc.finalizedDepth): served or refused.', [
      'serve',
      'refuse',
    ]),
  }),

  http: section('The JSON-RPC endpoint.', {
    host: host(),
    port: port(4444),
    access: reach(),
    tlsCert: certificate(),
    tlsKey: privateKey(),
    workers: whole('Worker threads that serve requests. 0: one for each processor, with tools one in all.', 0, 0, 256),
    cors: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Origins of web pages that may call: hosts or origins, "localhost" for any port, "chrome-extension://*" for all origins of a scheme, "*" for all. Default: localhost; on development networks also browser extensions (chrome-extension://*, moz-extension://*), remix.ethereum.org and titanoboa.',
      }),
    ),
    hosts: list('Accepted Host headers besides loopback names; "*" for all.', ['*']),
    trustedProxies: list(
      'Addresses and ranges (10.0.0.0/8) of proxies whose X-Forwarded-For contains the address of the client. Their connections are not counted.',
      [],
    ),
    maxConnectionsPerIp: maybe(
      'Open connections of one IPv4 address or IPv6 /64, of all workers together. 0: no limit. Default: 256 on public addresses, no limit on private ones.',
      0,
      1_000_000,
    ),
    maxHeaderBytes: whole('Largest head of a request: URL and headers.', 8192, 1024, 65_536),
    maxBodyBytes: maybe(
      'Largest request body in bytes. Default: 1 MB on public addresses, 5 MB on private ones.',
      1,
      2 ** 29,
    ),
    bodyMs: whole('Time for a request body to arrive. 0: no limit.', 30_000, 0, 3_600_000),
    writeMs: whole('Time for a client to take a large answer. 0: no limit.', 60_000, 0, 3_600_000),
    maxUnreadBytes: whole(
      'Bytes of large answers that clients have not read yet, of one worker. Above it, further large answers are refused with 503.',
      268_435_456,
      1,
    ),
    drainMs: whole('Time for running requests to finish when the node stops.', 1000, 0, 600_000),
    compression: oneOf(
      'Clients that get answers from 1 KB compressed if they accept gzip: on other machines, all, or none.',
      ['remote', 'all', 'none'],
      'remote',
    ),
    modules: Type.Optional(modules()),
  }),

  listen: Type.Array(furtherAddress, {
    description:
      'Further addresses, each [[listen]] with host, port and, if they differ from [http], access, cors, hosts, tlsCert, tlsKey, maxConnectionsPerIp, modules.',
    default: [],
  }),

  auth: section(
    'Authentication. Apps and their keys are created with rhizome keys; once an app exists, requests need a key.',
    {
      open: yesNo(
        'Requests need no key. Without apps, a node that other machines can reach starts only with this.',
        false,
      ),
      file: text('File of apps and the hashes of their keys. Empty: apps.json in the data directory.'),
      url: Type.String({
        description: 'Public URL of the node, for the URLs printed with a new key. Empty: http.host and port.',
        default: '',
        pattern: '^(|https?://[^\\s?#]+)$',
        expects: 'an http or https URL without query',
      }),
    },
  ),

  store: section('Storage of apps, usage, rates and filters. Several nodes may share one Redis or Valkey.', {
    url: Type.String({
      description:
        'embedded: files of this node. redis://[user:password@]host[:port][/database], rediss:// for TLS, unix:///path[?db=number].',
      default: 'embedded',
      pattern: '^(embedded|rediss?://[^\\s]+|unix:/[^\\s]+)$',
      expects: 'embedded, or a redis, rediss or unix URL',
      isSecret: true,
    }),
    password: secret('Password, if the URL has none. Better set in the environment than in a file.'),
    prefix: Type.String({
      description: 'Prefix of all keys in Redis.',
      default: 'rhizome:',
      pattern: '^[\\x21-\\x7e]{0,64}$',
      expects: 'at most 64 printable characters without spaces',
    }),
    whenAway: oneOf(
      'Requests with a key while Redis is away. closed: refused with 503; open: the known keys stay valid, and each node counts by itself.',
      ['closed', 'open'],
      'closed',
    ),
  }),

  ws: section('WebSocket, on the same port.', {
    enabled: yesNo('Whether WebSocket is served.', true),
    maxConnections: whole('Open connections of all workers together.', 10_000, 1, 1_000_000),
    maxSubscriptions: whole('Subscriptions of one connection.', 100, 1),
    maxRequests: whole('Unanswered requests of one connection.', 1000, 1),
    maxMessageBytes: maybe(
      'Largest message from a client in bytes. Default: 1 MB on public addresses, 5 MB on private ones.',
      1,
      2 ** 29,
    ),
    maxBufferedBytes: whole(
      'Unread bytes of a client. Above it, the next message to the client closes the connection.',
      16_777_216,
      1024,
    ),
    maxUnreadBytes: whole(
      'Unread bytes of all clients of one worker. Above it, the next message to a client with unread bytes closes the connection.',
      268_435_456,
      1024,
    ),
    idleSeconds: whole('Seconds without a message or pong after which a connection is closed.', 60, 8, 960),
  }),

  limits: section('Limits of the whole process.', {
    memoryMegabytes: whole(
      'Memory in MB (2^20 bytes) for incomplete bodies, large requests, unread answers, filters and subscriptions of all clients. Above it, new ones are refused with 503 or -32005. One client may use half of it.',
      512,
      16,
      65_536,
    ),
  }),

  rpc: section('Limits of requests.', {
    maxBatchRequests: whole('Requests in one batch.', 50, 1),
    timeoutMs: maybe(
      'Time for one HTTP request or WebSocket message in milliseconds. 0: no limit. Default: 5000, in a fork and with tools 60000.',
      0,
    ),
    maxResponseBytes: whole(
      'Largest answer to one HTTP request or WebSocket message, log searches included. 0: no limit.',
      10_485_760,
    ),
    maxWaiting: whole(
      'Queue length of each executor: of calls and log searches, and of traces. Further requests are refused with 503.',
      1024,
      1,
      1_000_000,
    ),
    callGasCap: maybe('Gas limit of one eth_call. Default: 10000000, with tools 30000000.', 21_000),
    estimateGasCap: whole('Gas limit of one estimate with choices.estimateCap = "pool".', 6_800_000, 21_000),
    estimate: oneOf(
      'eth_estimateGas of an execution that succeeds: the number of the reference, or (tight) the least sufficient gas, found by further runs. Empty: reference, with tools tight.',
      ['', 'reference', 'tight'],
      '',
    ),
    proofFormat: oneOf(
      'eth_getProof: root first as in EIP-1186, with proofs of absence (rhizome), or leaf first from the state root, as coming releases of rskj answer (rskj).',
      ['rhizome', 'rskj'],
      'rhizome',
    ),
    logBlocks: whole('eth_getLogs: a range of at most this many blocks has no limit of logs, only of bytes.', 2000),
    logCount: whole('eth_getLogs: the limit of logs for a larger range. 0: none.', 10_000),
    maxTraceBytes: whole(
      'Largest answer of one trace_* or debug_trace* request; the execution stops there. maxResponseBytes applies, too.',
      10_485_760,
      1024,
    ),
    maxTraces: whole('Traces that one trace_filter may return or skip.', 10_000, 1),
    sendWaitMs: whole(
      'eth_sendRawTransactionSync: longest wait for the receipt in milliseconds, three blocks of 30 s. timeoutMs does not apply.',
      90_000,
      1,
      600_000,
    ),
    safeDepth: maybe('Blocks below the head of the block tag safe. Default: 12; 0 on development networks.', 0),
    finalizedDepth: maybe(
      'Blocks below the head of the block tag finalized. Default: 4000; 0 on development networks.',
      0,
    ),
    skipRemasc: yesNo(
      'Leave the REMASC transaction out of block objects, and (not with compat = "reference") out of counts, block receipts and look-ups by index. The block itself keeps it.',
      false,
    ),
    zeroSignatureIfRemasc: yesNo('v, r and s of the REMASC transaction are 0x0; otherwise null.', true),
    slowMs: whole('Requests slower than this are logged as warnings.', 1000),
  }),

  miner: section('Blocks of this node, and block templates for external miners.', {
    coinbase: pattern(
      'Recipient of the fees, 0x and 40 hex digits. Empty: the last development account on development networks.',
      'an address with 0x',
      '^(|0x[0-9a-fA-F]{40})$',
    ),
    extraData: pattern(
      'Extra data of a block, at most 32 bytes as hex. Empty: name and version.',
      '1 to 32 bytes in hex with 0x',
      '^(|0x([0-9a-fA-F]{2}){1,32})$',
    ),
    minimumGasPriceWei: whole('Target of the minimum gas price of blocks.', 0),
    fixedClock: yesNo(
      'Derive the time of a block from its parent and evm_increaseTime instead of the clock, so that blocks are reproducible.',
      false,
    ),
    followPool: Type.Optional(
      Type.Boolean({
        description: 'Rebuild the block template at each new transaction. Default: on development networks only.',
      }),
    ),
    refreshSeconds: whole('Seconds after which the block template is rebuilt.', 60, 1, 86_400),
    submissionIntervalSeconds: whole('Least seconds between two submissions. 0: no limit.', 0, 0, 86_400),
    notifiedFeesWei: whole(
      'Fees above which a rise by more than 10 percent makes the block template notify miners.',
      0,
    ),
  }),

  p2p: section('Connections to other nodes.', {
    host: Type.Optional(
      Type.String({
        description: 'Address to listen on for peers. Default: 127.0.0.1 on development networks, else 0.0.0.0.',
      }),
    ),
    port: maybe(
      'TCP and UDP port for peers. 0: no listener. Default: 5050 on mainnet, 50505 on testnet; without a listener on development networks.',
      0,
      65535,
    ),
    peers: list('Nodes that are always dialled: enode://ID@HOST:PORT.', []),
    bootnodes: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Nodes from which discovery starts: HOST:PORT or enode URLs. Default: those of the network.',
      }),
    ),
    discovery: oneOf(
      'Search for nodes over UDP: on, off. Empty: on, but off on development networks.',
      ['', 'on', 'off'],
      '',
    ),
    maxPeers: whole(
      'Peers at the same time, besides those of `peers`. A third of the slots is for dialled peers.',
      50,
      1,
      1000,
    ),
    nodeKey: secret(
      'Private key of the node, 64 hex digits. Empty: the file nodekey in the data directory, written at the first start.',
      '64 hex digits',
      '^(|[0-9a-fA-F]{64})$',
    ),
    publicIp: text('Address under which other nodes reach this one, for the enode URL. Empty: that of the listener.'),
    sync: oneOf(
      'Synchronization of a new data directory: full (every block is executed), snap (the state of a block some thousand below the best one comes from peers). Blocks above are executed in both cases.',
      ['full', 'snap'],
      'full',
    ),
    snapServer: yesNo('Serve whole blocks and states to peers that synchronize by snapshots (snap/1).', false),
    checkpoints: Type.Array(Type.String({ pattern: '^[0-9]{1,15}:0x[0-9a-fA-F]{64}$' }), {
      description:
        'Blocks that the chain must have, NUMBER:HASH, besides those of the network. Other chains are refused.',
      default: [],
      expects: 'a list of NUMBER:HASH',
    }),
  }),

  fleet: section('Several nodes of one chain that share blocks, transactions and heads over NATS JetStream.', {
    role: oneOf(
      'Part of the node: importer (has peers or mines, and publishes all blocks that it stores), replica (takes blocks from importers only), or standalone (no fleet).',
      ['standalone', 'importer', 'replica'],
      'standalone',
    ),
    url: secret(
      'URLs of the NATS servers, separated by commas: nats://[user:password@]host[:port], tls:// for TLS.',
      'a nats or tls URL',
      '^(|(nats|tls)://[^\\s,]+(,(nats|tls)://[^\\s,]+)*)$',
    ),
    credentials: text('File with one line, USER:PASSWORD or a token. Empty: those of the URL, if any.'),
    name: Type.String({
      description: 'Name of the node, unique in the fleet. Empty: name of the machine and a random number.',
      default: '',
      pattern: '^[A-Za-z0-9_-]{0,64}$',
      expects: 'at most 64 letters, digits, - and _',
    }),
    tlsCa: text('File with the certificates of authorities to trust besides those of the system (PEM).'),
    tlsCert: text('File with the certificate of this node for the NATS server (PEM).'),
    tlsKey: text('File with the private key of that certificate (PEM).'),
    retentionDays: whole(
      'Days for which a new block log keeps a block. Longer than a replica may be away.',
      7,
      1,
      3650,
    ),
    streamCopies: whole('Copies of new streams in a cluster of NATS servers.', 1, 1, 5),
    latest: oneOf(
      'The block tag latest: the head of this node (own), or the highest block that all ready nodes have (agreed).',
      ['own', 'agreed'],
      'own',
    ),
    changes: someOf(
      'Contents of the stream of changes, which one of the nodes with this setting publishes at a time. The same on all of them. Empty: this node does not publish it.',
      ['blocks', 'transactions', 'receipts', 'logs'],
    ),
    restore: secret(
      'Folder, or http, https or s3 URL of checkpoints. A node without a chain begins with the latest one, and a replica that the block log has passed by goes on with it. Empty: none.',
    ),
    trust: pattern(
      'Public key of the only accepted publisher of checkpoints.',
      '33 bytes in hex',
      '^(|(0x)?0[23][0-9a-fA-F]{64})$',
    ),
    headWaitMs: whole('Longest wait of a request with the header If-Head-At-Least, in milliseconds.', 2000, 0, 60_000),
  }),

  pool: section('Transactions that wait for a block.', {
    rateLimiter: oneOf(
      'Limit the transactions of each account: on, off. Empty: on, but off on development networks.',
      ['', 'on', 'off'],
      '',
    ),
  }),

  filters: section('Installed filters.', {
    expirySeconds: whole('Seconds without a poll after which a filter is removed.', 300, 1),
    maximum: whole('Number of installed filters. One client may have half of it.', 10_000, 1),
  }),

  storage: section('The database.', {
    cacheMegabytes: maybe(
      'Memory for cached data. Default: an eighth of the memory of machine or container, at most 256.',
      8,
      mostMegabytes,
    ),
    trieMegabytes: maybe(
      'Memory for nodes of the head\'s trie that imports use, with storage.trie = "disk"; about 192 bytes each. More makes imports on a large state faster. Default: a quarter of the memory of machine or container above 256 MB, at most 192; commands such as `rhizome import` take at most 4096.',
      8,
      mostMegabytes,
    ),
    writeBufferMegabytes: maybe(
      'Memory for rows that are not in files yet. More makes long imports faster. Default: a sixteenth of the memory of machine or container, at most 64.',
      1,
      mostMegabytes,
    ),
    proofs: pattern(
      'Blocks below the head whose states can be proven and simulated: a number, or all, which takes several times the disk. Fixed when the data directory is created. Empty: all on development networks, else 128, or 10000 with storage.history = "archive".',
      'a number of blocks, or all',
      '^(all|[0-9]{1,9})?$',
    ),
    history: pattern(
      'States of earlier blocks that are kept: archive (all), full (the last 10,000 blocks), minimal (the last 1,000), or a number of blocks. Blocks, receipts and logs are always kept. Empty: archive on development networks, else full.',
      'archive, full, minimal, or a number of blocks',
      '^(archive|full|minimal|[1-9][0-9]{0,8})?$',
    ),
    trie: oneOf(
      "Nodes of the head's trie: on disk, the ones used last in memory (trieMegabytes); or all in memory, which are loaded at the start and take about 192 bytes each.",
      ['disk', 'memory'],
      'disk',
    ),
    snapshots: yesNo(
      'Keep the state of the last two blocks with a number of 1,160 above a multiple of 5,000 for peers that synchronize.',
      false,
    ),
    flushedKeys: whole('Changed keys of the state after which trie nodes are written. For tests.', 32_768, 1),
    groupedBlocks: whole('Waiting blocks from which on blocks are imported in groups. For tests.', 64, 1),
    powerSafe: yesNo('Sync the disk at each block, so that a loss of power loses no block. Slower.', false),
  }),

  index: section('Indexes that some methods need.', {
    addresses: Type.Optional(
      Type.Boolean({
        description:
          'Index transactions by sender, recipient, created contract and holders of moved tokens, for ots_searchTransactionsBefore and ots_searchTransactionsAfter. Stored blocks are added in the background. Default: on development networks with the explorer.',
      }),
    ),
    calls: yesNo(
      'Index transactions by the accounts that only inner calls meet, too: callees, created contracts, heirs of destroyed contracts. Stored blocks are executed again in the background, if the states before them are kept.',
      false,
    ),
  }),

  health: section('Limits above which /health answers 503: the node is alive, but should get no requests.', {
    maxHeadAgeSeconds: maybe(
      'Age of the head in seconds. 0: not checked. Default: 300 on public networks, else not checked.',
      0,
    ),
    maxLagBlocks: whole('Blocks between the head and the highest stored block. 0: not checked.', 0),
    maxFleetFailureSeconds: whole('Seconds for which a replica may be cut off from its fleet. 0: not checked.', 60),
  }),

  metrics: section(
    'Metrics for Prometheus: GET /metrics on a separate address, because they reveal much about the node.',
    {
      enabled: yesNo('Whether metrics are served.', false),
      host: host(),
      port: port(4446),
      hosts: list('Accepted Host headers besides loopback names; "*" for all.', []),
    },
  ),

  admin: section("The operator's page, which shows the node and its apps, and the admin API, on a separate address.", {
    enabled: yesNo('Whether page and API are served. The node then counts its requests, as for metrics.', false),
    host: host('Address to listen on. Any address but a loopback address needs a tokenFile.'),
    port: port(4447),
    hosts: hosts(),
    tokenFile: text('File with the token of the API: one word of at least 24 characters. Empty: no token.'),
  }),

  explorer: section(
    'The explorer, a page that shows the chain, on a separate address. It calls the first address of the node.',
    {
      enabled: yesNo('Whether the page is served.', false),
      host: host(),
      port: port(4448),
      hosts: hosts(),
    },
  ),

  log: section('The log, on standard error, one JSON object per line.', {
    level: oneOf('Least severe level of the log.', ['silent', 'error', 'warn', 'info', 'debug', 'trace'], 'info'),
  }),

  modules: Type.Record(Type.String(), moduleSettings, {
    description:
      'Settings of modules, e.g. [modules.evm] enabled = false. admin, debug, evm, hardhat, mnr, ots, personal, sco and trace are enabled by default on development networks only.',
    default: {},
  }),
})

export type Config = Static<typeof schema>
