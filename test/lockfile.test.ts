import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

interface LockEntry {
  readonly integrity?: string;
  readonly resolved?: string;
  /** A workspace of this repository. */
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const ROOT = join(import.meta.dirname, "..");
const CLIENTS = readdirSync(join(import.meta.dirname, "clients"))
  .map((name) => `test/clients/${name}`)
  .filter((folder) => existsSync(join(ROOT, folder, "package.json")));

/**
 * npm does not verify a package without a hash. It writes such an entry if the registry does not list the package of a
 * platform. In that case, choose a version whose platform packages are all listed.
 */
it.each<readonly [folder: string, least: number]>([
  [".", 100],
  ["bench/gateways", 50],
  ["bench/queues", 50],
  ["test/support/uws", 0],
  ...CLIENTS.map((folder) => [folder, 0] as const),
])(
  "package-lock.json of %s has the hash of every package, for every platform, and names no registry",
  (folder, least) => {
    const file = join(ROOT, folder, "package-lock.json");
    const { packages } = JSON.parse(readFileSync(file, "utf8")) as { packages: Record<string, LockEntry> };
    const installed = Object.entries(packages).filter(([path, { link }]) => path.includes("node_modules/") && !link);
    expect(installed.length).toBeGreaterThan(least);
    const withoutHash = installed
      .filter(([, { integrity }]) => integrity?.startsWith("sha512-") !== true)
      .map(([path]) => path);
    expect(withoutHash).toEqual([]);
    // npm downloads from the host in `resolved`, not from the configured registry.
    expect(installed.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
    // npm ci rejects a file without them on every platform.
    const names = new Set(installed.map(([path]) => path.replace(/^.*node_modules\//, "")));
    const optional = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    expect(optional.filter((name) => !names.has(name))).toEqual([]);
  },
);
