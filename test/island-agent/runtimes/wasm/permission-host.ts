/** A process with the flags of a WebAssembly host, whose thread attempts what guests must not do. */
import { Worker } from "node:worker_threads";

const [entry, secret] = process.argv.slice(2) as [string, string];
// As load-module.ts starts threads.
const thread = new Worker(entry, { env: {}, stdin: false, workerData: { secret } });
thread.on("message", (tried) => process.send?.(tried));
