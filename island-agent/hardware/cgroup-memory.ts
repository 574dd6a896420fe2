import type { ReadText } from "./amd-sysfs.ts";

/** Values above it mean "no limit". cgroup v1 writes the largest multiple of a page, far above any RAM. */
const ABSURD_BYTES = 2 ** 60;

interface Hierarchy {
  readonly root: string;
  readonly limit: string;
  readonly usage: string;
  /**
   * Page cache in `memory.stat`, which contains recent models. It counts as free because the kernel drops it on demand.
   */
  readonly cache: RegExp;
}
const V2: Hierarchy = {
  root: "/sys/fs/cgroup",
  limit: "memory.max",
  usage: "memory.current",
  cache: /^(?:in)?active_file (\d+)$/gm,
};
const V1: Hierarchy = {
  root: "/sys/fs/cgroup/memory",
  limit: "memory.limit_in_bytes",
  usage: "memory.usage_in_bytes",
  cache: /^total_(?:in)?active_file (\d+)$/gm,
};

/** Parses a group's limit in bytes; null for "max", for v1's "no limit", and for text that is not a number. */
export function parseMemoryLimit(text: string | null): number | null {
  const value = text?.trim() ?? "";
  if (!/^\d{1,20}$/.test(value)) return null;
  const bytes = Number(value);
  return bytes >= ABSURD_BYTES || bytes === 0 ? null : bytes;
}

/** Returns the directories with the memory limits of this process: its own group first, then enclosing ones. */
function memoryGroups(procSelfCgroup: string): { hierarchy: Hierarchy; directory: string }[] {
  return procSelfCgroup.split("\n").flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    const isV1 = controllers?.split(",").includes("memory") === true;
    if (path === undefined || (controllers !== "" && !isV1)) return [];
    const hierarchy = isV1 ? V1 : V2;
    return selfAndParents(path).map((group) => ({ hierarchy, directory: `${hierarchy.root}${group}` }));
  });
}

/** Returns the lowest memory limit of the container or service of this process; null without a limit. */
export function readMemoryLimitBytes(readText: ReadText): number | null {
  return smallest(limits(readText).map(({ limitBytes }) => limitBytes));
}

/** Returns the memory that is left under those limits; null without a limit. */
export function readMemoryLeftBytes(readText: ReadText): number | null {
  return smallest(
    limits(readText).flatMap(({ hierarchy, directory, limitBytes }) => {
      const usedText = readText(`${directory}/${hierarchy.usage}`)?.trim() ?? "";
      if (!/^\d+$/.test(usedText)) return [];
      const stat = readText(`${directory}/memory.stat`) ?? "";
      const cacheBytes = [...stat.matchAll(hierarchy.cache)].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
      return [Math.max(0, limitBytes - Math.max(0, Number(usedText) - cacheBytes))];
    }),
  );
}

function limits(readText: ReadText): { hierarchy: Hierarchy; directory: string; limitBytes: number }[] {
  return memoryGroups(readText("/proc/self/cgroup") ?? "").flatMap((group) => {
    const limitBytes = parseMemoryLimit(readText(`${group.directory}/${group.hierarchy.limit}`));
    return limitBytes === null ? [] : [{ ...group, limitBytes }];
  });
}

/**
 * Splits "/a/b" into "/a/b", "/a", "". A container may see its path on the host, which does not exist inside: the root
 * is then its own group. A path with ".." is outside the mounted hierarchy.
 */
function selfAndParents(path: string): string[] {
  const names = path.split("/").filter((name) => name !== "");
  if (names.includes("..")) return [""];
  return [...names.keys(), names.length]
    .map((count) =>
      names
        .slice(0, count)
        .map((name) => `/${name}`)
        .join(""),
    )
    .toReversed();
}

function smallest(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.min(...values);
}
