import { serveWorker } from "../harness/worker.ts";

/** Worker process: returns its argument. */
const api = { echo: (value: number): number => value };
export type EchoApi = typeof api;
serveWorker(api);
