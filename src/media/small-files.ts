import type { MediaRecord } from "./queries.ts";

/** A record that was read a moment ago, and its bytes where they are few. */
export interface Remembered {
  record: MediaRecord;
  bytes: Buffer | null;
  headers: Record<string, string>;
}

export const smallBytes = 256 * 1_024;
const capacityBytes = 64 * 1_024 * 1_024;
/** What an entry costs besides its bytes. */
const entryBytes = 2_048;
// A file never changes, so this is only how long one that was deleted elsewhere is still served.
const keepMs = 10_000;

/** What is asked for often, within a fixed amount of memory: the least recently used goes first. */
export function createSmallFiles(now: () => number = () => performance.now()) {
  const entries = new Map<string, Remembered & { until: number }>();
  let usedBytes = 0;
  const costOf = ({ bytes }: Remembered): number => entryBytes + (bytes?.length ?? 0);

  function forget(id: string): void {
    const entry = entries.get(id);
    if (!entry) return;
    entries.delete(id);
    usedBytes -= costOf(entry);
  }

  return {
    recall(id: string): Remembered | undefined {
      const entry = entries.get(id);
      if (!entry) return undefined;
      if (entry.until < now()) {
        forget(id);
        return undefined;
      }
      entries.delete(id);
      entries.set(id, entry);
      return entry;
    },
    remember(id: string, entry: Remembered): void {
      forget(id);
      entries.set(id, { ...entry, until: now() + keepMs });
      usedBytes += costOf(entry);
      for (const oldest of entries.keys()) {
        if (usedBytes <= capacityBytes) break;
        forget(oldest);
      }
    },
    forget,
    get usedBytes() {
      return usedBytes;
    },
  };
}
export type SmallFiles = ReturnType<typeof createSmallFiles>;
