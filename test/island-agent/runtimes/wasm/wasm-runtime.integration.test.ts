import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { MIB } from "../../../../shared/format-bytes.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { makeWasmProgram } from "../../../support/models/wasm-program.ts";
import { describeRuntime } from "../runtime.contract.ts";
import {
  DONE,
  folder,
  load,
  makeCargo,
  makeRuntime,
  NEVER,
  run,
  store,
  TALKER,
  useModuleFolder,
} from "./wasm-support.ts";
import { soakRounds } from "../../../support/soak-rounds.ts";
import { estimateOf } from "../../../support/models/estimate-of.ts";

const DECLARE_RANDOM =
  '@external("wasi_snapshot_preview1", "random_get") declare function random_get(at: usize, length: i32): i32;';

useModuleFolder();

// The contract's invalid input is an object that the program refuses, because the Cargo's schema defines valid input.
describeRuntime("wasm", async () => {
  const file = await store("talker", await makeWasmProgram(TALKER, "let turns: i32 = 0;"));
  const runtime = makeRuntime();
  return {
    load: () => runtime.load(makeCargo(), file, NEVER),
    short: { input: {}, resume: null },
    long: { input: { long: true }, resume: null },
    invalid: null,
  };
});

describe("a WebAssembly program", () => {
  it("gets random bytes that only its input determines, so that a run can be repeated", async () => {
    const body = `
      const bytes = heap.alloc(70000);
      random_get(bytes, 70000);
      let sum: u64 = 0;
      for (let at: usize = 0; at < 70000; at += 8) sum = sum * 31 + load<u64>(bytes + at);
      say('{"type":"done","output":"' + sum.toString() + '"}');
    `;
    await using cargo = await load(body, DECLARE_RANDOM);
    const drawn = async (input: Record<string, unknown>) => (await run(cargo, input)).result.output;
    const first = await drawn({ n: 1 });
    expect(first).not.toBe("0");
    expect(await drawn({ n: 1 })).toBe(first);
    expect(await drawn({ n: 2 })).not.toBe(first);
  });

  it("reads its input as one line of JSON and writes lines", async () => {
    await using cargo = await load(`
      const line = input();
      say('{"type":"token","content":"got "}');
      say('{"type":"progress","step":1,"total":2}');
      say('{"type":"image","format":"png","data":"iVBO"}');
      say('{"type":"done","output":' + line.slice(0, line.length - 1) + '}');
    `);
    const { items, result } = await run(cargo, { text: 'é " \n' });
    expect(items).toEqual([
      { type: "token", content: "got ", count: 1 },
      { type: "progress", step: 1, total: 2 },
      { type: "image", format: "png", data: "iVBO" },
    ]);
    expect(result).toEqual({
      finishReason: "stop",
      usage: { promptTokens: 0, completionTokens: 1 },
      output: { text: 'é " \n' },
    });
  });

  it("has a new memory for each job", async () => {
    await using cargo = await load(
      `count += 1; say('{"type":"done","output":' + count.toString() + '}');`,
      "let count: i32 = 0;",
    );
    expect((await run(cargo)).result.output).toBe(1);
    expect((await run(cargo)).result.output).toBe(1);
  });

  it("delivers lines as they are written, not at the end", async () => {
    await using cargo = await load(
      `say('{"type":"token","content":"first"}'); while (true) { turns += 1; }`,
      "let turns: i32 = 0;",
    );
    const enough = new AbortController();
    const seen: OutputItem[] = [];
    const running = cargo.run(
      { input: {}, resume: null },
      (item) => (seen.push(item), enough.abort(new Error("seen"))),
      enough.signal,
    );
    await expect(running).rejects.toThrow("seen");
    expect(seen).toEqual([{ type: "token", content: "first", count: 1 }]);
  });

  it("receives its arguments after its name", async () => {
    const outside = `@external("wasi_snapshot_preview1", "args_sizes_get") declare function args_sizes_get(count: usize, size: usize): i32;
      @external("wasi_snapshot_preview1", "args_get") declare function args_get(pointers: usize, buffer: usize): i32;`;
    const body = `
      const sizes = heap.alloc(8); args_sizes_get(sizes, sizes + 4);
      const count = load<i32>(sizes); const pointers = heap.alloc(4 * count); const buffer = heap.alloc(load<i32>(sizes, 4));
      args_get(pointers, buffer);
      say('{"type":"done","output":"' + count.toString() + " " + String.UTF8.decodeUnsafe(load<usize>(pointers, 4), 6, false) + '"}');`;
    const file = await store("args", await makeWasmProgram(body, outside));
    await using cargo = await makeRuntime().load(makeCargo(4, { args: ["--flag", "x"] }), file, NEVER);
    expect((await run(cargo)).result.output).toBe("3 --flag");
  });
});

describe("the failure of a WebAssembly program", () => {
  /** What the program does, selected by a word in its input. */
  const WAYS = {
    exit: "complain('bad day'); exit(3);",
    divide: "zero = 1 / zero;" + DONE,
    silent: "",
    text: "say('hello');",
    error: `say('{"type":"error","message":"no such column"}');`,
    outside: "load<i32>(0xfffffff0);" + DONE,
    deep: "deeper(1);" + DONE,
    memory: `for (let i = 0; i < 1000; i++) { const at = heap.alloc(262144); memory.fill(at, 1, 262144); } ${DONE}`,
    lines: `flood('{"type":"token","content":"', '"}\\n');`,
    line: "flood('x', 'x');",
  };
  const OUTSIDE = `
    let zero: i32 = 0;
    function deeper(n: i32): i32 { return deeper(n + 1) + n; }
    function flood(head: string, tail: string): void {
      const text = String.UTF8.encode(head + "x".repeat(100000) + tail);
      const vector = heap.alloc(12);
      store<usize>(vector, changetype<usize>(text));
      store<usize>(vector, text.byteLength, 4);
      while (true) fd_write(1, vector, 1, vector + 8);
    }`;
  let cargo: HostedCargo;
  beforeAll(async () => {
    const ways = Object.entries(WAYS).map(([way, does]) => `if (way.includes('"${way}"')) { ${does} return; }`);
    cargo = await load(`const way = input();\n${ways.join("\n")}\n${DONE}`, OUTSIDE);
  });
  afterAll(() => cargo[Symbol.asyncDispose]());

  it.each<[string, keyof typeof WAYS, string, RegExp]>([
    ["an exit code", "exit", "cargo_failed", /ended with code 3 .*; its standard error ends with: bad day$/],
    ["a division by zero", "divide", "cargo_failed", /trapped: (divide by zero|integer divide by zero)/],
    ["a missing final line", "silent", "cargo_failed", /without a `done` or `error` line/],
    ["a line that is not JSON", "text", "cargo_failed", /line 1 of its output is not JSON/],
    ["its error line", "error", "cargo_failed", /^no such column$/],
    ["a read outside its memory", "outside", "cargo_failed", /trapped: memory access out of bounds/],
    ["endless recursion", "deep", "cargo_failed", /trapped: Maximum call stack/],
    ["too much memory", "memory", "out_of_memory", /ran out of memory \(4 of 4 MiB\)/],
    ["endless lines", "lines", "output_too_large", /./],
    ["an endless line", "line", "output_too_large", /./],
  ])("describes %s", async (_title, way, code, message) => {
    const { pid } = cargo;
    await expect(run(cargo, { way })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
      retryable: false,
    });
    // The process serves the next job.
    expect(cargo.pid).toBe(pid);
    await expect(run(cargo, { way: "none" })).resolves.toBeDefined();
  });
});

describe("wasmRuntime()", () => {
  it("refuses a file that is not a module, and a missing file", async () => {
    const file = await store("text", Buffer.from("hello, world"));
    await expect(makeRuntime().load(makeCargo(), file, NEVER)).rejects.toMatchObject({ code: "model_invalid" });
    const absent = makeRuntime().load(makeCargo(), join(folder, "absent.wasm"), NEVER);
    await expect(absent).rejects.toMatchObject({ code: "model_unavailable", retryable: true });
  });

  it("refuses a component as not retryable, and names the target to build for", async () => {
    const file = await store("component", Uint8Array.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]));
    await expect(makeRuntime().load(makeCargo(), file, NEVER)).rejects.toMatchObject({
      code: "model_invalid",
      message: expect.stringMatching(/component.*wasm32-wasip1/),
      retryable: false,
    });
  });

  it("estimates at most the Cargo's requirement, except for the code of a large module", async () => {
    const tiny = await store("tiny", Buffer.alloc(0));
    for (const capMib of [1, 8, 64, 512]) {
      const { ramBytes, vramBytes } = await estimateOf(makeRuntime({ threads: 8 }), makeCargo(capMib), tiny);
      expect(ramBytes).toBeLessThanOrEqual(makeCargo(capMib).requiredRamBytes);
      expect(vramBytes).toBe(0);
    }
    const small = await store("small", Buffer.alloc(1_000));
    const large = await store("large", Buffer.alloc(10 * MIB));
    const [one, other] = await Promise.all([small, large].map((file) => estimateOf(makeRuntime(), makeCargo(), file)));
    expect((other?.ramBytes ?? 0) - (one?.ramBytes ?? 0)).toBeGreaterThan(30 * MIB);
  });

  it("estimates at least the memory that is measured after many jobs", async () => {
    const file = await store("measured", await makeWasmProgram(TALKER, "let turns: i32 = 0;"));
    const { ramBytes } = await estimateOf(makeRuntime(), makeCargo(), file);
    await using cargo = await makeRuntime().load(makeCargo(), file, NEVER);
    for (let round = 0; round < soakRounds(20); round += 1) await Promise.all([run(cargo), run(cargo)]);
    expect(cargo.memory.ramBytes).toBeLessThan(ramBytes);
  });

  it("refuses a module above the size limit", async () => {
    const file = join(folder, "huge.wasm");
    await writeFile(file, "");
    await truncate(file, 65 * MIB);
    await expect(makeRuntime().load(makeCargo(), file, NEVER)).rejects.toMatchObject({ code: "model_invalid" });
  });

  it("loads a module with the maximum of a 32-bit memory", async () => {
    const file = await store("wide", await makeWasmProgram(DONE));
    await using cargo = await makeRuntime().load(makeCargo(8_000), file, NEVER);
    await expect(run(cargo)).resolves.toBeDefined();
  });

  it("returns the engine's version from probe()", async () => {
    expect(await makeRuntime().probe(NEVER)).toMatchObject({ usable: true, version: expect.stringMatching(/^V8 \d+/) });
  });
});
