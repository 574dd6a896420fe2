import { relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The members of the result of the inspector's `Profiler.stop` that are used here. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
}

/** A function of the flame graph with its samples and callees. */
export interface Flame {
  readonly name: string;
  /** Folder of the repository, or `package NAME`, `node` or `V8`. */
  readonly group: string;
  /** Samples including those of callees. */
  samples: number;
  ownSamples: number;
  readonly callees: Map<string, Flame>;
}

interface Box {
  readonly name: string;
  readonly group: string;
}

/** Separator between a file or package and its function. */
const OF = " ";
const IDLE = "(idle)";
/** The profiler's names of native parts. */
const V8_NAMES: ReadonlyMap<string, string> = new Map([
  ["(program)", "native code outside of JavaScript"],
  ["(garbage collector)", "garbage collector"],
]);

/**
 * Merges the samples of a busy thread by folder and function of the sources under `root`. Calls inside a package or Node.js become one
 * box, named by the called function. All samples have equal weight, because the time after a sample may include waiting for a core.
 */
export function flameOf({ nodes, samples }: CpuProfile, root: string): Flame {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const base: Flame = { name: "main thread", group: "V8", samples: 0, ownSamples: 0, callees: new Map() };
  const stacks = new Map<number, readonly Box[]>();
  const stackOf = (id: number): readonly Box[] => {
    const known = stacks.get(id);
    if (known !== undefined) return known;
    const caller = callers.get(id);
    const below = caller === undefined ? [] : stackOf(caller);
    const box = boxOf(byId.get(id)?.callFrame ?? { functionName: "", url: "" }, root);
    const last = below.at(-1);
    const isForeign = box?.group === "node" || box?.group === "packages";
    const isSame =
      box === null ||
      (last?.group === box.group && (isForeign ? packageOf(last) === packageOf(box) : last.name === box.name));
    const stack = isSame ? below : [...below, box];
    stacks.set(id, stack);
    return stack;
  };
  for (const id of samples) if (byId.get(id)?.callFrame.functionName !== IDLE) add(base, stackOf(id));
  return base;
}

/** Counts the samples in each group's own code. */
export function samplesByGroup(flame: Flame, counts = new Map<string, number>()): Map<string, number> {
  counts.set(flame.group, (counts.get(flame.group) ?? 0) + flame.ownSamples);
  for (const callee of flame.callees.values()) samplesByGroup(callee, counts);
  return counts;
}

function add(base: Flame, stack: readonly Box[]): void {
  let flame = base;
  flame.samples += 1;
  for (const { name, group } of stack) {
    const key = `${group} ${name}`;
    let callee = flame.callees.get(key);
    if (callee === undefined) {
      callee = { name, group, samples: 0, ownSamples: 0, callees: new Map() };
      flame.callees.set(key, callee);
    }
    callee.samples += 1;
    flame = callee;
  }
  flame.ownSamples += 1;
}

/** Returns the box of a call frame; null for the root. */
function boxOf({ functionName, url }: { functionName: string; url: string }, root: string): Box | null {
  if (functionName === "(root)") return null;
  const v8 = V8_NAMES.get(functionName);
  if (v8 !== undefined) return { name: v8, group: "V8" };
  const name = functionName === "" ? "(callback)" : functionName;
  if (!url.startsWith("file:")) return { name: url === "" ? name : `${url}${OF}${name}`, group: "node" };
  const path = relative(root, fileURLToPath(url));
  const inPackages = path.lastIndexOf("node_modules/");
  if (inPackages >= 0) {
    const [first = "", second = ""] = path.slice(inPackages + "node_modules/".length).split("/");
    return { name: `${first.startsWith("@") ? `${first}/${second}` : first}${OF}${name}`, group: "packages" };
  }
  const folder = path.split("/").slice(0, -1).slice(0, 2).join("/");
  const file = (path.split("/").at(-1) ?? "").replace(/\.[jt]s$/, "");
  return { name: `${file}${OF}${name}`, group: folder };
}

/** Returns the package of a box. Node.js counts as one package. */
const packageOf = ({ name, group }: Box): string => (group === "node" ? group : (name.split(OF)[0] ?? ""));
