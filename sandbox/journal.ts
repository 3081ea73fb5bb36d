import { mkdir, open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { Store } from "./store.ts";
import type { Change } from "./store.ts";

export interface RequestFacts {
  method: string;
  path: string;
  headers: Record<string, string>;
  sizeBytes: number;
  /** The exact body when it is short text, else its hash. */
  body?: string;
  sha256?: string;
}

export interface Entry {
  seq: number;
  at: string;
  service: string;
  operation: string;
  /** The service took the call and its world changed: what crash tests count. */
  accepted: boolean;
  /** Absent when the service acted on its own. */
  request?: RequestFacts;
  /** What the service decided; null when it was never asked. What a fault made of it stands in the notes. */
  outcome: { status: number | null; remoteId?: string };
  notes: string[];
}

export interface EntryFilter {
  service?: string | undefined;
  operation?: string | undefined;
  accepted?: boolean | undefined;
  after?: number | undefined;
  limit?: number | undefined;
}

interface Waiting {
  entry: Entry;
  line: string;
  resolve: (entry: Entry) => void;
  reject: (error: Error) => void;
}

/**
 * The truth that crash tests are judged by: one JSON line per call, on disk before the call is answered.
 * A line also carries what the service's store changed, so that calls and state cannot disagree after a crash.
 */
export class Journal {
  readonly #file: FileHandle;
  readonly #entries: Entry[] = [];
  readonly #stores = new Map<string, Store>();
  #lastSeq = 0;
  #queue: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #stopped: Error | undefined;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<Journal> {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, "a+", 0o600);
    try {
      const bytes = await file.readFile();
      const end = bytes.lastIndexOf("\n") + 1;
      // A crash in mid-write leaves a line without its end. Nobody was answered for it.
      if (end < bytes.length) await file.truncate(end);
      const journal = new Journal(file);
      const lines = bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
      for (const [index, line] of lines.entries()) journal.#replay(line, `${path}:${index + 1}`);
      return journal;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  store(service: string): Store {
    const store = this.#stores.get(service) ?? new Store();
    this.#stores.set(service, store);
    return store;
  }

  /** Resolves when the entry is on disk. */
  append(facts: Omit<Entry, "seq" | "at">): Promise<Entry> {
    if (this.#stopped) return Promise.reject(this.#stopped);
    const entry: Entry = { seq: ++this.#lastSeq, at: new Date().toISOString(), ...facts };
    const changes = this.store(entry.service).takeUnsaved();
    const line = `${JSON.stringify(changes.length > 0 ? { ...entry, changes } : entry)}\n`;
    const { promise, resolve, reject } = Promise.withResolvers<Entry>();
    this.#queue.push({ entry, line, resolve, reject });
    this.#flushing ??= this.#flush();
    return promise;
  }

  /** Oldest first, and only what is on disk. `next` is the `after` of the following page, null on the last one. */
  find(filter: EntryFilter = {}): { entries: Entry[]; next: number | null } {
    const { service, operation, accepted, after = 0, limit = 100 } = filter;
    const matching = this.#entries.filter(
      (entry) =>
        entry.seq > after &&
        (service === undefined || entry.service === service) &&
        (operation === undefined || entry.operation === operation) &&
        (accepted === undefined || entry.accepted === accepted),
    );
    const entries = matching.slice(0, limit);
    return { entries, next: matching.length > limit ? (entries.at(-1)?.seq ?? after) : null };
  }

  latest(count: number): Entry[] {
    return this.#entries.slice(-count).toReversed();
  }

  async close(): Promise<void> {
    this.#stopped ??= new Error("the journal is closed");
    await this.#flushing;
    await this.#file.close();
  }

  /** Group commit: whatever arrives while one fdatasync runs shares the next one. */
  async #flush(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        await this.#file.appendFile(batch.map(({ line }) => line).join(""));
        await this.#file.datasync();
      } catch (cause) {
        // What the file holds now is unknown, so nothing may be added and nobody answered until a restart.
        const error = new Error("the journal could not be written", { cause });
        this.#stopped = error;
        for (const { reject } of [...batch, ...this.#queue.splice(0)]) reject(error);
        break;
      }
      for (const { entry, resolve } of batch) {
        this.#entries.push(entry);
        resolve(entry);
      }
    }
    this.#flushing = undefined;
  }

  #replay(line: string, place: string): void {
    try {
      const { changes, ...entry } = JSON.parse(line) as Entry & { changes?: Change[] };
      this.#entries.push(entry);
      this.#lastSeq = entry.seq;
      if (changes) this.store(entry.service).replay(changes);
    } catch (cause) {
      throw new Error(`${place} is not a journal entry`, { cause });
    }
  }
}
