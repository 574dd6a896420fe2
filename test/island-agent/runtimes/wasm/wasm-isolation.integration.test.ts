import { fork } from "node:child_process";
import { once as onceEmitted } from "node:events";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { CargoGone } from "../../../../island-agent/runtimes/runtime.ts";
import { permissionFlags } from "../../../../island-agent/runtimes/wasm/wasm-runtime.ts";
import { MIB } from "../../../../shared/format-bytes.ts";
import { makeWasmProgram } from "../../../support/models/wasm-program.ts";
import {
  DONE,
  load,
  makeCargo,
  makeRuntime,
  NEVER,
  once,
  run,
  store,
  TALKER,
  useModuleFolder,
} from "./wasm-support.ts";

useModuleFolder();

describe("the isolation of WebAssembly programs", () => {
  it("denies threads and processes access to the host's files and programs", async () => {
    const secret = await store("secret", Buffer.from("secret"));
    const entry = join(import.meta.dirname, "permission-thread.ts");
    const host = fork(join(import.meta.dirname, "permission-host.ts"), [entry, secret], {
      execArgv: permissionFlags(null),
      env: {},
    });
    const [tried] = (await onceEmitted(host, "message")) as [Record<string, string>];
    host.kill("SIGKILL");
    expect(tried).toEqual({
      read: "ERR_ACCESS_DENIED",
      environ: "ERR_ACCESS_DENIED",
      write: "ERR_ACCESS_DENIED",
      run: "ERR_ACCESS_DENIED",
    });
  });

  it("prevents a flood of single bytes from filling the host's memory or delaying other jobs", async () => {
    const flood = `
      const text = input();
      const vector = heap.alloc(16);
      store<usize>(vector, vector + 12);
      store<usize>(vector, 1, 4);
      store<u8>(vector + 12, 32);
      while (text.includes("long")) fd_write(2, vector, 1, vector + 8);
      ${DONE}`;
    await using cargo = await load(flood);
    const enough = new AbortController();
    const flooding = run(cargo, { long: true }, enough.signal);
    for (let jobs = 0; jobs < 5; jobs += 1) await expect(run(cargo)).resolves.toBeDefined();
    const { pid, memory } = cargo;
    enough.abort(new Error("enough"));
    await expect(flooding).rejects.toThrow("enough");
    await expect(run(cargo)).resolves.toBeDefined();
    expect(cargo.pid).toBe(pid);
    expect(memory.ramBytes).toBeLessThan(300 * MIB);
  });

  it("ends a job with its `done` line, even if the program continues", async () => {
    const { result } = await once(`${DONE} while (true) { turns += 1; }`, "let turns: i32 = 0;");
    expect(result.finishReason).toBe("stop");
  });

  it("does not report a trap as out of memory if all memory was allocated at the start", async () => {
    const body = "unreachable();";
    const file = await store("full", await makeWasmProgram(body, "", { initialMemory: 64 }));
    await using cargo = await makeRuntime().load(makeCargo(4), file, NEVER);
    await expect(run(cargo)).rejects.toMatchObject({ code: "cargo_failed" });
  });

  it("refuses input that is too deep or too long as invalid_input", async () => {
    await using cargo = await load(DONE);
    let deep: unknown = 0;
    for (let level = 0; level < 20_000; level += 1) deep = [deep];
    await expect(run(cargo, { deep })).rejects.toMatchObject({ code: "invalid_input", retryable: false });
    // This is twice the maximum message length of the host.
    const long = run(cargo, { text: '"'.repeat(17 * 2 ** 20) });
    await expect(long).rejects.toMatchObject({ code: "invalid_input", retryable: false });
  });

  it("stops an endless loop with its job, and keeps the process for the next one", async () => {
    await using cargo = await load("while (input().length > 3) { turns += 1; }" + DONE, "let turns: i32 = 0;");
    const { pid } = cargo;
    const enough = new AbortController();
    const running = run(cargo, { long: true }, enough.signal);
    enough.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await expect(run(cargo)).resolves.toBeDefined();
    expect(cargo.pid).toBe(pid);
  });

  it("runs jobs of one Cargo concurrently", async () => {
    await using cargo = await load(TALKER, "let turns: i32 = 0;");
    const enough = new AbortController();
    const long = run(cargo, { long: true }, enough.signal);
    await expect(run(cargo)).resolves.toBeDefined();
    enough.abort(new Error("enough"));
    await expect(long).rejects.toThrow("enough");
  });

  it("fails the jobs of a killed process as retryable, and waiting jobs with CargoGone", async () => {
    const file = await store("killed", await makeWasmProgram(TALKER, "let turns: i32 = 0;"));
    const cargo = await makeRuntime({ threads: 1 }).load(makeCargo(), file, NEVER);
    const begun = Promise.withResolvers<void>();
    const long = cargo.run({ input: { long: true }, resume: null }, () => begun.resolve(), NEVER);
    const waiting = run(cargo);
    await begun.promise;
    process.kill(cargo.pid as number, "SIGKILL");
    await expect(long).rejects.toMatchObject({ code: "runtime_crashed", retryable: true });
    await expect(waiting).rejects.toBeInstanceOf(CargoGone);
  });

  it.each([
    [
      "a module that imports from elsewhere",
      DONE,
      '@external("env", "system") declare function system(): i32;\nexport function use(): i32 { return system(); }',
      "imports the function env.system",
    ],
  ])("refuses %s", async (_title, body, outside, why) => {
    await expect(once(body, outside)).rejects.toMatchObject({
      code: "model_invalid",
      message: expect.stringContaining(why),
    });
  });
});

describe("the WASI of a WebAssembly program", () => {
  /** Name, parameters and arguments. */
  const CALLS = {
    "constructor of the host's objects": ["constructor", "", ""],
    "__proto__ of the host's objects": ["__proto__", "", ""],
    "toString of the host's objects": ["toString", "", ""],
    "a file": [
      "path_open",
      "fd: i32, flags: i32, path: usize, length: i32, open: i32, rights: i64, more: i64, fdflags: i32, result: usize",
      "3, 0, 0, 0, 0, 0, 0, 0, 0",
    ],
    "a socket": ["sock_accept", "fd: i32, flags: i32, result: usize", "3, 0, 0"],
    "a directory": ["fd_prestat_get", "fd: i32, result: usize", "3, 0"],
  } as const;
  const NOT_SUPPORTED = 52;
  let results: Record<string, number>;
  beforeAll(async () => {
    const calls = Object.values(CALLS);
    const outside = calls.map(
      ([name, parameters], index) =>
        `@external("wasi_snapshot_preview1", "${name}") declare function ask${index}(${parameters}): i32;`,
    );
    const parts = calls.map(([name, , args], index) => `'"${name}":' + ask${index}(${args}).toString()`);
    const { result } = await once(
      `say('{"type":"done","output":{' + ${parts.join(" + ',' + ")} + '}}');`,
      outside.join("\n"),
    );
    results = result.output as Record<string, number>;
  });

  it.each(Object.entries(CALLS))("denies %s", (_title, [name, parameters]) => {
    const code = Object.getOwnPropertyDescriptor(results, name)?.value as unknown;
    // Calls of WASI return WASI's error codes. Calls of other names report that the call does not exist.
    if (parameters === "") expect(code).toBe(NOT_SUPPORTED);
    else expect(code).toBeGreaterThan(0);
  });
});
