import { parentPort } from 'node:worker_threads'
import { RpcError } from '../rpc/errors.ts'
import { typedDataIn } from '../rpc/parameters/typedData.ts'
import { typedDataHash } from './typedData.ts'

// The program of the thread that checks and hashes structured data, see `hashThread.ts`.

/** Message from the thread: the hash, or the error of invalid data. */
export type HashResult = { readonly hash: string } | { readonly message: string; readonly hint: string | undefined }

function hashOf(text: string): HashResult {
  try {
    return { hash: typedDataHash(typedDataIn(text)) }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return { message: error.message, hint: error.hint }
  }
}

parentPort?.on('message', (text: string) => parentPort?.postMessage(hashOf(text)))
