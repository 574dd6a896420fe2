/** A compromised host process. A job names its attempts, and the output reports how each of them ended. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getSystemErrorName } from "node:util";
import { serveHost } from "../../../../island-agent/runtimes/host/serve-host.ts";

export interface Attempt {
  readonly kind:
    | "read"
    | "list"
    | "write"
    | "fill"
    | "connect"
    | "port"
    | "signal"
    | "execute"
    | "calls"
    | "allocate"
    | "occupy"
    | "wait";
  /** Path, name of a socket, or program in base64. */
  readonly text?: string;
  /** Bytes, port, or process id. */
  readonly number?: number;
}

const CHUNK = Buffer.alloc(1_048_576, 1);
const kept: Buffer[] = [];

serveHost<null, null, readonly Attempt[]>({
  name: "Escaping",
  probe: () => Promise.resolve({ usable: true, version: "1" }),
  load: () =>
    Promise.resolve({
      facts: {},
      gpuMemory: null,
      dispose: () => Promise.resolve(),
      async run({ job }) {
        const output: string[] = [];
        for (const attempt of job) output.push(await outcomeOf(attempt));
        return { output, finishReason: "stop", usage: { promptTokens: 0, completionTokens: 0 } };
      },
    }),
});

/** Returns "done" with the result, or the code of the error. */
async function outcomeOf(attempt: Attempt): Promise<string> {
  try {
    return `done ${await make(attempt)}`.trim();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
}

async function make({ kind, text = "", number = 0 }: Attempt): Promise<string> {
  switch (kind) {
    case "read":
      return readFileSync(text, "utf8");
    case "list":
      return readdirSync(text).join(" ");
    case "write":
      writeFileSync(text, "x");
      return "";
    case "fill":
      return fill(text, number);
    case "connect":
      return reach({ path: text });
    case "port":
      return reach({ host: text, port: number });
    case "signal":
      process.kill(number, 0);
      return "";
    case "execute":
      execFileSync(text, { stdio: "ignore" });
      return "";
    case "calls":
      return callsOf(Buffer.from(text, "base64"));
    case "allocate":
      kept.push(Buffer.alloc(number));
      return "";
    case "occupy":
      kept.push(Buffer.alloc(number, 1));
      return "";
    case "wait":
      return new Promise(() => {});
    default:
      return kind satisfies never;
  }
}

function fill(path: string, bytes: number): string {
  const file = openSync(path, "w");
  try {
    for (let written = 0; written < bytes; written += CHUNK.length) writeSync(file, CHUNK);
    return "";
  } finally {
    closeSync(file);
    rmSync(path);
  }
}

function reach(to: { path: string } | { host: string; port: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(to, () => {
      socket.destroy();
      resolve("");
    });
    socket.on("error", reject);
  });
}

/** Returns the names of the errors, or the returned numbers. */
function callsOf(program: Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), "atoll-calls-"));
  try {
    const file = join(folder, "calls");
    writeFileSync(file, program, { mode: 0o755 });
    const results = execFileSync(file, { stdio: ["pipe", "pipe", "ignore"] });
    const values = Array.from({ length: results.length / 8 }, (_, index) => results.readBigInt64LE(index * 8));
    return values.map((value) => (value < 0n ? getSystemErrorName(Number(value)) : "done")).join(" ");
  } finally {
    rmSync(folder, { recursive: true });
  }
}
