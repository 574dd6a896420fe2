import { readFileSync } from "node:fs";
import type { HostProbe } from "../../../island-agent/hardware/host-probe.ts";

const FIXTURES = new URL("../../fixtures/hardware/", import.meta.url);

export function fixture(name: string): string {
  return readFileSync(new URL(name, FIXTURES), "utf8");
}

/** The files of a `.sysfs` fixture, as a map from path to content. */
export function sysfsFixture(name: string): Map<string, string> {
  const lines = fixture(name).trimEnd().split("\n");
  return new Map(
    lines.map((line) => {
      const end = line.indexOf(":");
      return [line.slice(0, end), `${line.slice(end + 1).replaceAll("\\n", "\n")}\n`];
    }),
  );
}

export function readerOf(files: ReadonlyMap<string, string>): (path: string) => string | null {
  return (path) => files.get(path) ?? null;
}

/** Lists the names in a directory of these files. */
export function listerOf(files: ReadonlyMap<string, string>): (path: string) => string[] {
  return (path) => {
    const below = [...files.keys()].filter((file) => file.startsWith(`${path}/`));
    return [...new Set(below.map((file) => file.slice(path.length + 1).split("/")[0] ?? ""))];
  };
}

const GIB = 2 ** 30;

/** The times of one core, `busyMs` and `idleMs`, since the start. */
export function core(busyMs: number, idleMs: number): ReturnType<HostProbe["cpus"]>[number] {
  return { model: "Test CPU ", speed: 0, times: { user: busyMs, nice: 0, sys: 0, idle: idleMs, irq: 0 } };
}

/** A Linux machine with 16 GiB and 4 cores, and without a GPU, tools or limits. */
export function makeProbe(overrides: Partial<HostProbe> & { files?: ReadonlyMap<string, string> } = {}): HostProbe {
  const { files = new Map<string, string>(), ...rest } = overrides;
  return {
    platform: "linux",
    arch: "x64",
    totalRamBytes: () => 16 * GIB,
    freeRamBytes: () => 10 * GIB,
    cpus: () => [core(0, 0)],
    availableCores: () => 4,
    readText: readerOf(files),
    listDirectory: listerOf(files),
    run: () => Promise.resolve(null),
    diskFreeBytes: () => Promise.resolve(500 * GIB),
    osName: () => Promise.resolve("Debian GNU/Linux 12"),
    physicalCores: () => Promise.resolve(2),
    graphics: () => Promise.resolve([]),
    ...rest,
  };
}
