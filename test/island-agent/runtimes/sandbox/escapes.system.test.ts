import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { hostedRuntime } from "../../../../island-agent/runtimes/host/hosted-runtime.ts";
import { BARE, type Sandbox } from "../../../../island-agent/runtimes/sandbox/sandbox.ts";
import { bubblewrap } from "../../../../island-agent/runtimes/sandbox/bubblewrap.ts";
import { trySandbox } from "../../../../island-agent/runtimes/sandbox/try-sandbox.ts";
import { unshare } from "../../../../island-agent/runtimes/sandbox/unshare.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { GIB, MIB } from "../../../../shared/format-bytes.ts";
import { NEVER } from "../../builders.ts";
import { isRunning, makeCargo } from "../llmcpp/llmcpp-support.ts";
import type { Attempt } from "./escape-host.ts";
import { programOf } from "./system-calls.ts";
import { requireBubblewrap, sandboxFor } from "./test-sandbox.ts";

const OUR_CODE = fileURLToPath(new URL("../../../../island-agent/", import.meta.url));
const BWRAP = requireBubblewrap();

let folder: string;
let secret: string;
let model: string;
let servers: Server[];
let port: number;
const abstractName = `\0atoll-escape-${process.pid}`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "atoll-escape-"));
  secret = join(folder, "secret");
  model = join(folder, "model");
  await writeFile(secret, "hush");
  await writeFile(model, "weights");
  const [tcp, path, abstract] = [createServer(), createServer(), createServer()];
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  await new Promise<void>((resolve) => path.listen(join(folder, "socket"), resolve));
  await new Promise<void>((resolve) => abstract.listen(abstractName, resolve));
  port = (tcp.address() as AddressInfo).port;
  servers = [tcp, path, abstract];
});
afterAll(async () => {
  for (const server of servers) server.close();
  await rm(folder, { recursive: true });
});

function load(sandbox: Sandbox, ramCeilingBytes?: number, path = model): Promise<HostedCargo> {
  const runtime = hostedRuntime<null, null, unknown>(
    {
      type: "onnx",
      program: { name: "Escaping", entry: new URL("./escape-host.ts", import.meta.url) },
      probeRequest: null,
      loadRequest: () => null,
      concurrency: () => 1,
      readInput: ({ attempts }) => attempts,
    },
    { clock: systemClock, environment: process.env, sandbox },
  );
  return runtime.load(
    makeCargo(),
    path,
    NEVER,
    ramCeilingBytes === undefined ? undefined : async () => ramCeilingBytes,
  );
}

async function outcomes(cargo: HostedCargo, attempts: readonly Attempt[]): Promise<string[]> {
  const { output } = await cargo.run({ input: { attempts }, resume: null }, () => {}, NEVER);
  return output as string[];
}

/** Harmless attempts, which are also made without a sandbox. */
const harmless = (): Attempt[] => [
  { kind: "read", text: secret },
  { kind: "read", text: "/etc/passwd" },
  { kind: "read", text: `/proc/${process.pid}/environ` },
  { kind: "list", text: process.env["HOME"] ?? "/root" },
  { kind: "port", text: "127.0.0.1", number: port },
  { kind: "connect", text: join(folder, "socket") },
  { kind: "connect", text: abstractName },
  { kind: "signal", number: process.pid },
  { kind: "execute", text: "/bin/true" },
];

describe("a compromised host in bubblewrap", () => {
  let cargo: HostedCargo;
  beforeAll(async () => void (cargo = await load(sandboxFor({ gpu: false, mayFork: true }))));
  afterAll(() => cargo[Symbol.asyncDispose]());

  it("cannot read files of the user or reach sockets, processes and programs", async () => {
    expect(await outcomes(cargo, harmless())).toEqual([
      "ENOENT",
      "ENOENT",
      "ENOENT",
      "ENOENT",
      "EAFNOSUPPORT",
      "ENOENT",
      "ECONNREFUSED",
      "ESRCH",
      "ENOENT",
    ]);
  });

  it("can read its model but cannot write any file", async () => {
    const writes = [model, join(OUR_CODE, "x"), "/usr/lib/x", "/x", "/dev/x", "/etc/x"];
    const attempts = writes.map((text): Attempt => ({ kind: "write", text }));
    const [read, ...written] = await outcomes(cargo, [{ kind: "read", text: model }, ...attempts]);
    expect(read).toBe("done weights");
    expect(written).toEqual(Array.from(writes, () => "EROFS"));
    expect(await readFile(model, "utf8")).toBe("weights");
    // A file in its private /tmp.
    expect(await outcomes(cargo, [{ kind: "write", text: "/tmp/atoll-escaped" }])).toEqual(["done"]);
    await expect(readFile("/tmp/atoll-escaped")).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("can read files of a model's folder that are links to a store", async () => {
    const links = await mkdtemp(join(folder, "links-"));
    await symlink(model, join(links, "weights"));
    await using linked = await load(sandboxFor({ gpu: false, mayFork: false }), Infinity, links);
    expect(await outcomes(linked, [{ kind: "read", text: join(links, "weights") }])).toEqual(["done weights"]);
  });

  it("sees only the paths and variables that it was given", async () => {
    const [root, processes, devices, model] = await outcomes(cargo, [
      { kind: "list", text: "/" },
      { kind: "list", text: "/proc" },
      { kind: "list", text: "/dev" },
      { kind: "list", text: folder },
    ]);
    expect(root?.split(" ")).not.toContain("home");
    const ids = processes?.split(" ").filter((name) => /^\d+$/.test(name));
    expect(ids?.length).toBeLessThan(4);
    expect(devices).not.toMatch(/nvidia|dri|kvm|sd[a-z]|mem/);
    expect(model).toBe("done model");
  });

  it("cannot fill /tmp or /dev/shm", async () => {
    const attempts = ["/tmp/x", "/dev/shm/x"].map((text): Attempt => ({ kind: "fill", text, number: 100 * MIB }));
    expect(await outcomes(cargo, attempts)).toEqual(["ENOSPC", "ENOSPC"]);
  });

  it("cannot map more memory than the limit of one host", async () => {
    const allocate: Attempt = { kind: "allocate", number: 3 * GIB };
    const options = { file: BWRAP, gpu: false, mayFork: false };
    await using bounded = await load(bubblewrap({ ...options, memoryLimitBytes: 2 * GIB }));
    expect(await outcomes(bounded, [allocate])).toEqual([expect.stringMatching(/allocat/)]);
    await using free = await load(bubblewrap({ ...options, memoryLimitBytes: null }));
    expect(await outcomes(free, [allocate])).toEqual(["done"]);
  });

  it("is killed, together with its sandbox, above the RAM limit of its Cargo", async () => {
    // A host without a model takes a quarter of this.
    const greedy = await load(sandboxFor({ gpu: false, mayFork: false }), 400 * MIB);
    const { pid } = greedy;
    expect(isRunning(pid ?? 0)).toBe(true);
    const attempts: Attempt[] = [{ kind: "occupy", number: 600 * MIB }, { kind: "wait" }];
    await expect(outcomes(greedy, attempts)).rejects.toMatchObject({ code: "out_of_memory" });
    await greedy.gone;
    expect(isRunning(pid ?? 0)).toBe(false);
  });

  it("cannot start processes if its program needs none", async () => {
    await using threads = await load(sandboxFor({ gpu: false, mayFork: false }));
    expect(await outcomes(threads, [{ kind: "execute", text: process.execPath }])).toEqual(["EPERM"]);
  });
});

const fallback = unshare({ file: "/usr/bin/unshare", setpriv: "/usr/bin/setpriv", memoryLimitBytes: null });
const canUnshare = process.platform === "linux" && (await trySandbox(fallback, {})) === null;

describe.skipIf(!canUnshare)("a compromised host in unshare", () => {
  it("cannot reach network sockets or processes, and ends like any other host", async () => {
    const cargo = await load(fallback);
    const ended = await outcomes(cargo, harmless());
    expect(ended.slice(2, 3)).toEqual(["ENOENT"]);
    expect(ended.slice(4, 8)).toEqual(["ENETUNREACH", "done", "ECONNREFUSED", "ESRCH"]);
    const { pid } = cargo;
    await cargo[Symbol.asyncDispose]();
    expect(isRunning(pid ?? 0)).toBe(false);
  });
});

describe("the same attempts without a sandbox", () => {
  it("succeed", async () => {
    await using cargo = await load(BARE);
    const ended = await outcomes(cargo, harmless());
    expect(ended.map((outcome) => outcome.split(" ", 1)[0])).toEqual(Array.from(ended, () => "done"));
  });
});

const CLONE_NEWUSER = 0x10000000;
const SIGCHLD = 17;
const ATTACH = 16;
const TIOCSTI = 0x5412;
/** System call numbers of x64. */
const CALLS = {
  ptrace: { number: 101, args: [ATTACH, 1, 0, 0] },
  mount: { number: 165, args: [0, 0, 0, 0, 0] },
  unshare: { number: 272, args: [CLONE_NEWUSER] },
  setns: { number: 308, args: [0, 0] },
  chroot: { number: 161, args: [0] },
  bpf: { number: 321, args: [0, 0, 0] },
  userfaultfd: { number: 323, args: [1] },
  keyctl: { number: 250, args: [0, -3, 1] },
  perfEventOpen: { number: 298, args: [0, 0, -1, -1, 0] },
  ioUringSetup: { number: 425, args: [1, 0] },
  clone3: { number: 435, args: [0, 0] },
  socketInet: { number: 41, args: [2, 1, 0] },
  socketNetlink: { number: 41, args: [16, 3, 0] },
  socketVsock: { number: 41, args: [40, 1, 0] },
  socketUnix: { number: 41, args: [1, 1, 0] },
  terminalInput: { number: 16, args: [0, TIOCSTI, 0] },
  x32: { number: 0x40000000 + 39 },
  // This attempt comes last, because two processes continue if it succeeds.
  clone: { number: 56, args: [CLONE_NEWUSER + SIGCHLD, 0, 0, 0, 0] },
} as const;

describe.skipIf(process.arch !== "x64")("system calls of native code", () => {
  const attempt: Attempt = { kind: "calls", text: programOf(Object.values(CALLS)).toString("base64") };
  const callsIn = async (sandbox: Sandbox): Promise<Record<string, string>> => {
    await using cargo = await load(sandbox);
    const [outcome = ""] = await outcomes(cargo, [attempt]);
    const results = outcome.replace(/^done /, "").split(" ");
    return Object.fromEntries(Object.keys(CALLS).map((name, index) => [name, results[index] ?? "missing"]));
  };

  it("that exploits start with are denied by the filter", async () => {
    expect(await callsIn(sandboxFor({ gpu: false, mayFork: true }))).toEqual({
      ptrace: "EPERM",
      mount: "EPERM",
      unshare: "EPERM",
      setns: "EPERM",
      chroot: "EPERM",
      bpf: "EPERM",
      userfaultfd: "EPERM",
      keyctl: "EPERM",
      perfEventOpen: "EPERM",
      ioUringSetup: "ENOSYS",
      clone3: "ENOSYS",
      socketInet: "EAFNOSUPPORT",
      socketNetlink: "EAFNOSUPPORT",
      socketVsock: "EAFNOSUPPORT",
      socketUnix: "done",
      terminalInput: "ENOTTY",
      x32: "ENOSYS",
      clone: "EPERM",
    });
  });

  it("reach the kernel without the filter", async () => {
    const bare = await callsIn(BARE);
    expect(bare).toMatchObject({ unshare: "done", socketInet: "done", socketNetlink: "done" });
  });
});
