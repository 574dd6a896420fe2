import { readdirSync, readFileSync } from "node:fs";

export interface ProcessFacts {
  readonly pid: number;
  readonly command: string;
}

interface Listed extends ProcessFacts {
  readonly parent: number;
}

/**
 * Returns the ids of a process and its descendants, with the process first. The list is empty if the process has ended.
 * Linux only.
 */
export function readProcessTree(pid: number): ProcessFacts[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => factsOf(Number(name)));
  const family = all.filter((each) => each.pid === pid);
  for (const member of family) family.push(...all.filter(({ parent }) => parent === member.pid));
  return family;
}

function factsOf(pid: number): Listed[] {
  try {
    const [, state = "", parent = ""] = /^\d+ \(.*\) (\S) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    if (state === "Z") return [];
    return [
      { pid, parent: Number(parent), command: readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") },
    ];
  } catch {
    return [];
  }
}
