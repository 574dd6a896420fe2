/** An installed package in package-lock.json (version 3). */
export interface LockEntry {
  readonly version?: string;
  readonly cpu?: string | readonly string[];
  readonly os?: string | readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Entries by their path from the root: `node_modules/a/node_modules/b`. */
export type LockEntries = Readonly<Record<string, LockEntry>>;

export interface NeededPackages {
  /** Paths of platform-independent packages. */
  readonly paths: readonly string[];
  /** Platform-specific packages with their versions. npm installs the packages for the target machine. */
  readonly ofPlatforms: Readonly<Record<string, string>>;
}

/**
 * Returns the path at which the package at `from` finds `name`, by the rules of Node.js; null if it is not installed.
 */
export function findInstalled(entries: LockEntries, from: string, name: string): string | null {
  let folder = from;
  for (;;) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (path in entries) return path;
    if (folder === "") return null;
    const above = folder.lastIndexOf("/node_modules/");
    folder = above === -1 ? "" : folder.slice(0, above);
  }
}

/**
 * Returns the run-time dependencies of packages of the root, including indirect ones, except those for which `isLeftOut` is true.
 * @throws {Error} if a required package is not installed.
 */
export function packagesNeeded(
  entries: LockEntries,
  names: readonly string[],
  isLeftOut: (name: string) => boolean,
): NeededPackages {
  const paths = new Set<string>();
  const ofPlatforms = new Map<string, string>();
  const queue = names.map((name) => ({ from: "", name, isNeeded: true }));
  for (const { from, name, isNeeded } of queue) {
    if (isLeftOut(name)) continue;
    const path = findInstalled(entries, from, name);
    const entry = path === null ? undefined : entries[path];
    if (path === null || entry === undefined) {
      if (isNeeded) throw new Error(`${name} is not in package-lock.json`);
      continue;
    }
    if (isOfOnePlatform(entry)) {
      ofPlatforms.set(name, entry.version ?? "");
      continue;
    }
    if (paths.has(path)) continue;
    paths.add(path);
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = entry;
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
    for (const each of [...Object.keys(dependencies), ...peers]) queue.push({ from: path, name: each, isNeeded: true });
    for (const each of Object.keys(optionalDependencies)) queue.push({ from: path, name: each, isNeeded: false });
  }
  return { paths: [...paths].toSorted(), ofPlatforms: Object.fromEntries([...ofPlatforms].toSorted(byName)) };
}

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);

const isOfOnePlatform = ({ cpu, os }: LockEntry): boolean =>
  cpu !== undefined || (os !== undefined && [os].flat().length === 1);
