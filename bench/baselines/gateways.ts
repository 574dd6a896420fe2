import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../test/support/free-port.ts";
import { untilListening } from "../../test/support/servers/until-listening.ts";
import { endServer, installPackages } from "../harness/child-server.ts";
import { chatLoad, joinIslands } from "../harness/loads.ts";
import { startServer, type ServerKind } from "../harness/servers.ts";
import { Worker } from "../harness/worker.ts";
import type { ClientLoad } from "../load/http-clients.ts";
import type { Script } from "../load/scripted-islands.ts";
import type { TrivialServerApi } from "../load/trivial-server.ts";

/** A server of chats, and the engine or the Islands behind it. */
export interface ChatSystem extends AsyncDisposable {
  /** Process of the server, without the engine or the Islands. */
  readonly pid: number;
  /** Sets the chat that the engine or the Islands send. */
  script(script: Script): Promise<unknown>;
  /** Returns a load of streamed chats. */
  load(clients: number, tokens: number): ClientLoad;
}

interface Gateway {
  readonly name: string;
  /** Returns the program and its arguments. */
  readonly command: (port: number, engineUrl: string) => readonly [program: string, args: readonly string[]];
  /** Returns the header fields that choose the engine. */
  readonly headers: (engineUrl: string) => Record<string, string>;
}

const FOLDER = join(import.meta.dirname, "..", "gateways");
const PORTKEY = join(FOLDER, "node_modules", "@portkey-ai", "gateway", "build", "start-server.js");
const ISLANDS = 16;
const SLOTS = 128;

/** Portkey and its fork have the same header fields with different prefixes. */
const headersOf =
  (prefix: string) =>
  (engineUrl: string): Record<string, string> => ({
    [`x-${prefix}-provider`]: "openai",
    [`x-${prefix}-custom-host`]: `${engineUrl}/v1`,
  });

const CADDY: Gateway = {
  name: "Caddy",
  command: (port, engineUrl) => ["caddy", ["reverse-proxy", "--from", `:${port}`, "--to", engineUrl]],
  headers: () => ({}),
};
const NPM_GATEWAYS: readonly Gateway[] = [
  {
    name: "Portkey",
    command: (port) => [process.execPath, [PORTKEY, `--port=${port}`, "--headless"]],
    headers: headersOf("portkey"),
  },
  {
    name: "LLMOps",
    command: (port) => [process.execPath, [join(FOLDER, "llmops.ts"), String(port)]],
    headers: headersOf("llmops"),
  },
];

/** Returns the gateways that can be measured on this machine, and the reasons why the others cannot. */
export async function findGateways(): Promise<{ readonly gateways: readonly Gateway[]; readonly notes: string[] }> {
  const notes: string[] = [];
  const hasCaddy = await promisify(execFile)("caddy", ["version"]).then(
    () => true,
    () => false,
  );
  if (!hasCaddy) notes.push("Caddy was not measured: it is not installed (apt-get install caddy).");
  const areInstalled = await installPackages(FOLDER).then(
    () => true,
    () => false,
  );
  if (!areInstalled) notes.push("Gateways from npm were not measured: `npm ci` failed in bench/gateways.");
  return { gateways: [...(hasCaddy ? [CADDY] : []), ...(areInstalled ? NPM_GATEWAYS : [])], notes };
}

const startEngine = (): Promise<Worker<TrivialServerApi>> =>
  Worker.start(join(import.meta.dirname, "..", "load", "trivial-server.ts"));

/** Starts a scripted engine that clients call directly. */
export async function openEngine(): Promise<ChatSystem> {
  const engine = await startEngine();
  const url = await engine.call("serveEngine", undefined);
  return {
    pid: engine.pid,
    script: (script) => engine.call("script", script),
    load: (clients, tokens) => ({ ...chatLoad({ url }, "none", clients, tokens), base: "/v1" }),
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
}

/** Starts a gateway with a scripted engine behind it. */
export async function openGateway({ command, headers }: Gateway): Promise<ChatSystem> {
  await using started = new AsyncDisposableStack();
  const engine = started.use(await startEngine());
  const engineUrl = await engine.call("serveEngine", undefined);
  const port = await freePort();
  const child = spawn(...command(port, engineUrl), { stdio: "ignore" });
  started.defer(() => endServer(child));
  await untilListening(port, child);
  const parts = started.move();
  const url = `http://127.0.0.1:${port}`;
  return {
    pid: child.pid as number,
    script: (script) => engine.call("script", script),
    load: (clients, tokens) => ({
      ...chatLoad({ url }, "none", clients, tokens),
      base: "/v1",
      headers: headers(engineUrl),
    }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Starts a coordinator or the bare loop, with scripted Islands. */
export async function openServer(kind: ServerKind): Promise<ChatSystem> {
  const server = await startServer(kind);
  const { key } = server.account("client");
  const islands = await joinIslands(server, { count: ISLANDS, slots: SLOTS, script: { tokens: 1, gapMs: 0 } });
  return {
    pid: server.pid,
    script: (script) => islands.call("script", script),
    load: (clients, tokens) => chatLoad(server, key, clients, tokens),
    async [Symbol.asyncDispose]() {
      await islands[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
