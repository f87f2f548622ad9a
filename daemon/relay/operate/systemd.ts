/** Reports the state of the service to systemd. Node cannot open its datagram socket, so the program of systemd does. */
import { execFile } from 'node:child_process'
import type { Clock } from '../clock.ts'

export interface Notifier {
  ready(): void
  stopping(): void
  reloading(): void
  close(): void
}

/** The service manager's variables; without `socket` there is no service manager, and nothing is done. */
export interface ServiceManager {
  readonly socket: string | undefined
  /** Microseconds within which it expects a heartbeat. */
  readonly watchdog: number | undefined
}

/** @param alive called before each heartbeat; if it returns false, no heartbeat is sent, so that the service is restarted */
export function createNotifier(manager: ServiceManager, clock: Clock, alive: () => boolean): Notifier {
  if (manager.socket === undefined)
    return { ready: () => undefined, stopping: () => undefined, reloading: () => undefined, close: () => undefined }
  let cancel: () => void = () => undefined

  /** A notification that cannot be sent is no reason to stop delivering. */
  const notify = (...words: string[]): void => {
    execFile('systemd-notify', words, { timeout: 5000 }, () => undefined)
  }

  function beat(milliseconds: number): void {
    cancel = clock.timer(milliseconds, () => {
      if (alive()) notify('WATCHDOG=1')
      beat(milliseconds)
    })
  }

  return {
    ready() {
      notify('--ready', '--status=delivering')
      if (manager.watchdog) beat(manager.watchdog / 1000 / 2)
    },
    stopping: () => notify('STOPPING=1', '--status=draining'),
    reloading: () => notify('--status=settings read again'),
    close: () => cancel(),
  }
}
