/**
 * Interfaces for work outside of this library: storing files, recurrence rules, phone numbers, downloads. Each is optional and
 * small; `ports()` of `folkmoot/ports` fills them with maintained libraries, a host may fill any of them itself. An operation
 * that needs one that is missing responds with 422 and a sentence that names it.
 */

/** A recurring event: how it repeats, and where it begins (RFC 5545, 3.3.10). */
export interface Series {
  /** The unit of `interval`. */
  readonly frequency: 'daily' | 'weekly' | 'monthly' | 'yearly'
  /** Every so many days, weeks, months or years. */
  readonly interval: number
  /** `SU`, `MO`, …; empty: the weekday of the start. */
  readonly by_days: readonly string[]
  /** 1 to 31, or −31 to −1 from the month's end; empty: the day of the start. */
  readonly by_month_days: readonly number[]
  /** The number of occurrences, the start included; null: without end, or as `until` limits it. */
  readonly count: number | null
  /** No occurrence begins after this timestamp. */
  readonly until: string | null
  /** The first occurrence, whether or not the rule falls on it. */
  readonly starts_at: string
  /** The IANA time zone whose clock the occurrences keep to. */
  readonly time_zone: string
}

/** Works out recurring events. */
export interface Recurrence {
  /**
   * When the occurrences of a series begin, in order from the first one on. They follow the clock of the time zone: 10:00 stays
   * 10:00 when the clocks change. A time that the change skips does not take place that day.
   * @param window no occurrence after the timestamp `to`, and at most `limit` of them
   * @returns timestamps in UTC, at most 100 years after the first; `undefined` where the rule does not come round in these years
   */
  expand(series: Series, window: { readonly to?: string; readonly limit: number }): readonly string[] | undefined
}

/** Validates phone numbers of all countries. */
export interface PhoneNumbers {
  /**
   * @param text a phone number as it was written, with its country code
   * @returns the number in E.164, `+4930901820`; `undefined` when there can be no such number
   */
  parse(text: string): string | undefined | Promise<string | undefined>
}

/** The type of a file, by its bytes. */
export interface FileType {
  /** `image/png`; `application/octet-stream` where the bytes do not show it. */
  readonly content_type: string
  /** Without the dot: `png`; `bin` where the bytes do not show it. */
  readonly extension: string
}

/** Detects the type of a file by its content, never by the sender's name or type. */
export interface FileTypes {
  /**
   * @param bytes the whole file
   * @returns the type of its content; `application/octet-stream` if the bytes do not show one
   */
  sniff(bytes: Uint8Array): Promise<FileType>
}

/** A file to be stored. */
export interface NewFile extends FileType {
  /** An unguessable name: letters, digits and hyphens. */
  readonly id: string
  /** How its sender called it, for downloads. */
  readonly name: string | null
}

/** Where uploaded files are kept. It is called outside transactions, so it may take its time. */
export interface AssetStore {
  /**
   * Stores a file durably. If it rejects, the upload is a 503 with `Retry-After`, and `onError` gets the error.
   * @returns the address at which it is served: a URL, or a path such as `/assets/…` on the origin that callers use
   */
  put(bytes: Uint8Array, file: NewFile): Promise<string>
  /** Removes a file for which no record came about. */
  remove(file: NewFile): Promise<void>
}

/** The result of a download. */
export type Download =
  | {
      /** The file was fetched. */
      readonly ok: true
      /** The whole file. */
      readonly bytes: Uint8Array
      /** The file's name, such as the end of the address; null if it has none. */
      readonly name: string | null
    }
  | {
      /** There is no file; `reason` says why. */
      readonly ok: false
      /** `refused`: the address may not be called; `too large`: more bytes than allowed; `failed`: any other failure. */
      readonly reason: 'refused' | 'too large' | 'failed'
    }

/** Fetches a file from an address that a stranger has named: it must never reach into the operator's own network. */
export interface Downloader {
  /**
   * @param url an address that a stranger has named
   * @param limit the maximum size, in bytes
   * @param arrived called with the bytes of each part as it arrives; if it throws, the download ends and `get` throws that
   * error
   * @returns the file, or the reason of the failure
   */
  get(url: string, limit: number, arrived?: (bytes: number) => void): Promise<Download>
}

/** Every door. A missing one closes the operations that need it, and nothing else. */
export interface Ports {
  /** Works out the occurrences of recurring events. Without it there are no recurring events. */
  readonly recurrence?: Recurrence
  /** Checks and formats phone numbers in answers to custom fields. */
  readonly phoneNumbers?: PhoneNumbers
  /** Stores uploaded files and knows their addresses. */
  readonly assets?: AssetStore
  /** Detects a file's type from its bytes. */
  readonly fileTypes?: FileTypes
  /** Fetches a file from an address that the caller gave. */
  readonly download?: Downloader
}
