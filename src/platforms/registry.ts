import { platformNames } from "./adapter.ts";
import type { PlatformAdapter, PlatformName } from "./adapter.ts";
import { linkedin } from "./linkedin/adapter.ts";
import type { LinkedInSettings } from "./linkedin/adapter.ts";

export interface PlatformSettings {
  linkedin: LinkedInSettings;
}

export interface Registry {
  /** Undefined for a platform that is known and can't be published to yet. */
  get(name: PlatformName): PlatformAdapter | undefined;
  /** The platform that a caller means: its name or an alias, in lower case. */
  resolve(wireValue: string): PlatformName | undefined;
  all(): readonly PlatformAdapter[];
}

/** Of platforms without an adapter; an adapter brings its own. */
const otherAliases: [alias: string, name: PlatformName][] = [
  ["x", "twitter"],
  ["facebook_pages", "facebook"],
];

export function createRegistry(settings: PlatformSettings): Registry {
  const adapters: readonly PlatformAdapter[] = [linkedin(settings.linkedin)];
  const byName = new Map(adapters.map((adapter) => [adapter.name, adapter]));
  const names = new Map<string, PlatformName>([
    ...platformNames.map((name) => [name, name] as const),
    ...otherAliases,
    ...adapters.flatMap(({ name, aliases }) => aliases.map((alias) => [alias, name] as const)),
  ]);
  return {
    get: (name) => byName.get(name),
    resolve: (wireValue) => names.get(wireValue),
    all: () => adapters,
  };
}
