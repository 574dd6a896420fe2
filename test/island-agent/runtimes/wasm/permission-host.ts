/** A process under the flags of a WebAssembly host that tries, in a thread as guests have it, what code there must not do. */
import { Worker } from "node:worker_threads";

const [entry, secret] = process.argv.slice(2) as [string, string];
// As load-module.ts starts them.
const thread = new Worker(entry, { env: {}, stdin: false, workerData: { secret } });
thread.on("message", (tried) => process.send?.(tried));
