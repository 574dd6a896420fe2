/** A process with the flags of a WebAssembly host. Its thread attempts what guests must not do. */
import { Worker } from "node:worker_threads";

const [entry, secret] = process.argv.slice(2) as [string, string];
// Starts threads as load-module.ts does.
const thread = new Worker(entry, { env: {}, stdin: false, workerData: { secret } });
thread.on("message", (tried) => process.send?.(tried));
