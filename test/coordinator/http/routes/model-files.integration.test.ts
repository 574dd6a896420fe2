import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Api, readToEnd } from "../api.ts";

const BYTES = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));

let api: Api;
beforeEach(async () => {
  api = await Api.open();
  await writeFile(join(api.directory, "tiny.gguf"), BYTES);
  await writeFile(join(api.directory, "secret.txt"), "secret");
  await writeFile(join(api.directory, ".hidden.gguf"), "secret");
  await mkdir(join(api.directory, "folder.gguf"));
  await mkdir(join(api.directory, "tiny", "onnx"), { recursive: true });
  await writeFile(join(api.directory, "tiny", "files.json"), '{"files":[]}');
  await writeFile(join(api.directory, "tiny", "onnx", "model_q4.onnx_data"), BYTES);
  await writeFile(join(api.directory, "tiny", ".env"), "secret");
  await writeFile(join(api.directory, "tiny", "key.pem"), "secret");
});
afterEach(() => api[Symbol.asyncDispose]());

const file = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  api.fetch(method, path, { base: "", key: null, headers });

describe("GET /models/<file>.gguf", () => {
  it("returns the file without a credential", async () => {
    const response = await file("/models/tiny.gguf");
    expect([response.status, response.headers.get("content-length"), response.headers.get("accept-ranges")]).toEqual([
      200,
      "100000",
      "bytes",
    ]);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(Buffer.from(await response.arrayBuffer()).equals(BYTES)).toBe(true);
  });

  it("returns WebAssembly modules too", async () => {
    await writeFile(join(api.directory, "tiny.wasm"), "\0asm");
    const response = await file("/models/tiny.wasm");
    expect([response.status, await response.text()]).toEqual([200, "\0asm"]);
  });

  it("returns the requested range", async () => {
    const response = await file("/models/tiny.gguf", { range: "bytes=99990-" });
    expect([response.status, response.headers.get("content-range")]).toEqual([206, "bytes 99990-99999/100000"]);
    expect(Buffer.from(await response.arrayBuffer()).equals(BYTES.subarray(99_990))).toBe(true);
  });

  it("returns 416 beyond the end, with the size", async () => {
    const response = await file("/models/tiny.gguf", { range: "bytes=100000-" });
    expect([response.status, response.headers.get("content-range")]).toEqual([416, "bytes */100000"]);
    await response.text();
  });

  it("returns a range only of the version that the client has", async () => {
    const etag = (await file("/models/tiny.gguf", {}, "HEAD")).headers.get("etag") ?? "";
    const same = await file("/models/tiny.gguf", { range: "bytes=0-0", "if-range": etag });
    const other = await file("/models/tiny.gguf", { range: "bytes=0-0", "if-range": '"other"' });
    expect([same.status, other.status]).toEqual([206, 200]);
    await Promise.all([same.arrayBuffer(), other.arrayBuffer()]);
    expect((await file("/models/tiny.gguf", { "if-none-match": etag, "cache-control": "max-age=0" })).status).toBe(304);
    expect((await file("/models/tiny.gguf", { "if-match": '"other"' })).status).toBe(412);
  });

  it("answers HEAD without a body", async () => {
    // The transport logs on the console that a response was written twice.
    const complaint = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const response = await file("/models/tiny.gguf", {}, "HEAD");
    await api.call("GET", "/cargos");
    expect(complaint).not.toHaveBeenCalled();
    complaint.mockRestore();
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([
      200,
      "100000",
      "",
    ]);
  });

  it("returns the files of a folder, and ranges of them", async () => {
    expect(await (await file("/models/tiny/files.json")).text()).toBe('{"files":[]}');
    const response = await file("/models/tiny/onnx/model_q4.onnx_data", { range: "bytes=99990-" });
    expect([response.status, response.headers.get("content-type")]).toEqual([206, "application/octet-stream"]);
    expect(Buffer.from(await response.arrayBuffer()).equals(BYTES.subarray(99_990))).toBe(true);
  });

  it.each([
    "/models/none.gguf",
    "/models/tiny",
    "/models/tiny/",
    "/models/tiny/onnx",
    "/models/tiny/none.json",
    "/models/tiny/.env",
    "/models/tiny/key.pem",
    "/models/tiny//files.json",
    "/models/tiny/./onnx%2F..%2Ffiles.json",
    "/models/tiny/..%2Ftiny%2Ffiles.json",
    "/models/tiny/%2e%2e/%2e%2e/secret.json",
    "/models/%2Fetc%2Fx.json",
    "/models/tiny%5Cfiles.json",
    "/models/tiny/files.json%00",
    "/models/a/b/c/d/e/f/g/h.json",
    "/models/secret.txt",
    "/models/.hidden.gguf",
    "/models/folder.gguf",
    "/models/folder.gguf/",
    "/models/",
    "/models",
    "/models/..%2Ftiny.gguf",
    "/models/%2e%2e%2ftiny.gguf",
    "/models/..%5Ctiny.gguf",
    "/models/tiny.gguf%00",
    "/models/a%2Fb.gguf",
    "/models/%E0%A4%A.gguf",
  ])("returns 404 for %s", async (path) => {
    for (const method of ["GET", "HEAD"]) expect((await file(path, {}, method)).status).toBe(404);
    const body = (await (await file(path)).json()) as { error: { code: string } };
    expect(body.error.code).toBe("not_found");
  });

  it.each([
    "/models/../models/../../etc/passwd",
    "/models/../secret.txt",
    "//etc/passwd.gguf",
    "/models/tiny/../../secret.json",
  ])("does not follow %s, sent unchanged", async (path) => {
    const socket = await api.raw(`GET ${path} HTTP/1.1`, "Host: localhost", "Connection: close");
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 404 /);
  });

  it("refuses writes", async () => {
    expect((await file("/models/tiny.gguf", {}, "DELETE")).status).toBe(405);
  });
});
