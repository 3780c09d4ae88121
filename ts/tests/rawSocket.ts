import { connect } from 'node:net'

/** Sends bytes over a plain connection and returns the answer until the connection is quiet or closed. */
export function exchange(
  port: number,
  request: string | Buffer,
  quietMs = 300,
): Promise<{ text: string; isClosed: boolean }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    let text = ''
    let quiet = setTimeout(() => finish(false), 3000)
    const finish = (isClosed: boolean): void => {
      clearTimeout(quiet)
      socket.destroy()
      resolve({ text, isClosed })
    }
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      clearTimeout(quiet)
      quiet = setTimeout(() => finish(false), quietMs)
    })
    socket.on('close', () => finish(true))
    socket.on('error', (error) => (text === '' ? reject(error) : finish(true)))
  })
}
