/** `[collection, id, value]` sets, `[collection, id]` deletes. */
export type Change = [collection: string, id: string, value?: unknown];

/** A value is changed by setting it again: a change made in place would be forgotten at the next start. */
export interface Collection<T> {
  get(id: string): Readonly<T> | undefined;
  set(id: string, value: T): void;
  delete(id: string): void;
  values(): Iterable<Readonly<T>>;
}

/**
 * What one service remembers. Changes are visible at once and are written with the service's next journal entry,
 * in the same line: a crash keeps both or neither, and no answer can rest on a change that is not on disk.
 */
export class Store {
  readonly #collections = new Map<string, Map<string, unknown>>();
  #unsaved: Change[] = [];

  collection<T>(name: string): Collection<T> {
    const items = this.#items(name) as Map<string, T>;
    return {
      get: (id) => items.get(id),
      set: (id, value) => {
        items.set(id, value);
        this.#unsaved.push([name, id, value]);
      },
      delete: (id) => {
        if (items.delete(id)) this.#unsaved.push([name, id]);
      },
      values: () => items.values(),
    };
  }

  takeUnsaved(): Change[] {
    const changes = this.#unsaved;
    this.#unsaved = [];
    return changes;
  }

  replay(changes: readonly Change[]): void {
    for (const [name, id, ...value] of changes) {
      if (value.length === 0) this.#items(name).delete(id);
      else this.#items(name).set(id, value[0]);
    }
  }

  #items(name: string): Map<string, unknown> {
    const items = this.#collections.get(name) ?? new Map<string, unknown>();
    this.#collections.set(name, items);
    return items;
  }
}
