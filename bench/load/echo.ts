import { serveWorker } from "../harness/worker.ts";

/** Says back what it is told. A process of its own. */
const api = { echo: (value: number): number => value };
export type EchoApi = typeof api;
serveWorker(api);
