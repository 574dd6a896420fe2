import { parentPort } from "node:worker_threads";

/** A thread that echoes each message. */
parentPort?.on("message", (message: unknown) => parentPort?.postMessage(message));
