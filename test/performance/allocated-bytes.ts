import type { Inspector } from "../support/inspector.ts";

interface HeapSize {
  readonly heapStatistics: { readonly usedHeapSize: number };
}
interface Collections {
  readonly usedBefore: number;
  readonly usedAfter: number;
  readonly gcs: readonly { readonly beforeGC: HeapSize; readonly afterGC: HeapSize }[];
}

const USED = "process.memoryUsage().heapUsed";
const START = `const { GCProfiler } = process.getBuiltinModule("node:v8");
  globalThis.allocations = { usedBefore: ${USED}, profiler: new GCProfiler() };
  globalThis.allocations.profiler.start(); ""`;
const STOP = `const { usedBefore, profiler } = globalThis.allocations;
  const { statistics } = profiler.stop();
  JSON.stringify({ usedBefore, usedAfter: ${USED}, gcs: statistics })`;

/**
 * Returns the bytes that the main thread of a program allocates on its heap while `work` runs, including collected
 * objects.
 */
export async function allocatedBytes(inspector: Inspector, work: () => Promise<void>): Promise<number> {
  await inspector.evaluate(START);
  await work();
  const { usedBefore, usedAfter, gcs } = JSON.parse(await inspector.evaluate(STOP)) as Collections;
  let bytes = 0;
  let used = usedBefore;
  for (const { beforeGC, afterGC } of gcs) {
    bytes += beforeGC.heapStatistics.usedHeapSize - used;
    used = afterGC.heapStatistics.usedHeapSize;
  }
  return bytes + usedAfter - used;
}
