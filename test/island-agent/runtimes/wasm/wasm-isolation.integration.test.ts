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

describe("isolation of WebAssembly programs", () => {
  it("neither their thread nor their process can read, write or run what is the host's", async () => {
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

  it("a flood of single bytes neither fills the host's memory nor keeps another job waiting", async () => {
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

  it("a job is over with its `done` line, whatever the program does after it", async () => {
    const { result } = await once(`${DONE} while (true) { turns += 1; }`, "let turns: i32 = 0;");
    expect(result.finishReason).toBe("stop");
  });

  it("a module that had all its memory from the start and traps has not run out of it", async () => {
    const body = "unreachable();";
    const file = await store("full", await makeWasmProgram(body, "", { initialMemory: 64 }));
    await using cargo = await makeRuntime().load(makeCargo(4), file, NEVER);
    await expect(run(cargo)).rejects.toMatchObject({ code: "cargo_failed" });
  });

  it("input that is nested too deeply, or too long, is refused as the client's fault", async () => {
    await using cargo = await load(DONE);
    let deep: unknown = 0;
    for (let level = 0; level < 20_000; level += 1) deep = [deep];
    await expect(run(cargo, { deep })).rejects.toMatchObject({ code: "invalid_input", retryable: false });
    // It would be twice as long as a message of its host may be.
    const long = run(cargo, { text: '"'.repeat(17 * 2 ** 20) });
    await expect(long).rejects.toMatchObject({ code: "invalid_input", retryable: false });
  });

  it("an endless loop ends with its job, and the next job runs in the same process", async () => {
    await using cargo = await load("while (input().length > 3) { turns += 1; }" + DONE, "let turns: i32 = 0;");
    const { pid } = cargo;
    const enough = new AbortController();
    const running = run(cargo, { long: true }, enough.signal);
    enough.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await expect(run(cargo)).resolves.toBeDefined();
    expect(cargo.pid).toBe(pid);
  });

  it("jobs of one Cargo run at the same time", async () => {
    await using cargo = await load(TALKER, "let turns: i32 = 0;");
    const enough = new AbortController();
    const long = run(cargo, { long: true }, enough.signal);
    await expect(run(cargo)).resolves.toBeDefined();
    enough.abort(new Error("enough"));
    await expect(long).rejects.toThrow("enough");
  });

  it("a process that is killed fails its jobs as retryable, and those that waited are not lost", async () => {
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
  ])("%s is refused", async (_title, body, outside, why) => {
    await expect(once(body, outside)).rejects.toMatchObject({
      code: "model_invalid",
      message: expect.stringContaining(why),
    });
  });
});

describe("not there for a WebAssembly program is", () => {
  /** Name, parameters and arguments. */
  const ASKED = {
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
  let answers: Record<string, number>;
  beforeAll(async () => {
    const asked = Object.values(ASKED);
    const outside = asked.map(
      ([name, parameters], index) =>
        `@external("wasi_snapshot_preview1", "${name}") declare function ask${index}(${parameters}): i32;`,
    );
    const said = asked.map(([name, , args], index) => `'"${name}":' + ask${index}(${args}).toString()`);
    const { result } = await once(
      `say('{"type":"done","output":{' + ${said.join(" + ',' + ")} + '}}');`,
      outside.join("\n"),
    );
    answers = result.output as Record<string, number>;
  });

  it.each(Object.entries(ASKED))("%s", (_title, [name, parameters]) => {
    const answer = Object.getOwnPropertyDescriptor(answers, name)?.value as unknown;
    // WASI's own calls answer what WASI has for it, any other name that there is no such call.
    if (parameters === "") expect(answer).toBe(NOT_SUPPORTED);
    else expect(answer).toBeGreaterThan(0);
  });
});
