import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { stemOf } from "../../../../island-agent/models/store/store-recovery.ts";
import { file, sha256 } from "../file-server.ts";
import { makeRef, StoreFixture } from "../store-fixture.ts";
import { BYTES, pull, serve } from "./store-calls.ts";

describe("ModelStore.open()", () => {
  it("resumes after kill -9 from the bytes on disk", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach("/models/a.gguf", file(BYTES, { stallAfter: 50_000 }), file(BYTES));
    const ref = makeRef({ sha256: sha256(BYTES), sizeBytes: BYTES.length });
    const script = fileURLToPath(new URL("./crashing-store.ts", import.meta.url));
    const child = spawn(process.execPath, [
      script,
      fixture.directory,
      fixture.server.url,
      JSON.stringify(ref),
      "50000",
    ]);
    const exited = once(child, "exit");
    // The process reports on stdout when it has the bytes, and keeps the directory locked until it ends.
    await once(child.stdout, "data");
    await expect(fixture.open()).rejects.toThrow("Another process uses");
    child.kill("SIGKILL");
    await exited;
    const store = await fixture.open();
    expect(await readFile((await pull(store, ref)).path)).toEqual(BYTES);
    expect(fixture.server.requests[1]).toMatchObject({ range: "bytes=50000-", sentBytes: BYTES.length - 50_000 });
  });

  it("locks the directory against a second process or store", async () => {
    await using fixture = await StoreFixture.make();
    const store = await fixture.open();
    await expect(fixture.open()).rejects.toThrow("Another process uses");
    await store.close();
    await fixture.open();
  });

  it("removes models whose length differs from the index, and unknown files that match its name patterns", async () => {
    await using fixture = await StoreFixture.make();
    const ref = serve(fixture, "a", BYTES);
    const store = await fixture.open();
    const { path } = await pull(store, ref);
    await store.close();
    await truncate(path, 10);
    const orphan = stemOf("orphan");
    for (const name of [
      `${orphan}.gguf`,
      `${orphan}.part`,
      `${stemOf("x")}.part.json`,
      `index.json.${randomUUID()}.tmp`,
      `import.${randomUUID()}.tmp`,
    ]) {
      await writeFile(join(fixture.directory, name), "{}");
    }
    const reopened = await fixture.open();
    expect(reopened.list()).toEqual([]);
    expect(await fixture.files()).toEqual(["index.json"]);
  });

  it("keeps files that a store does not create", async () => {
    await using fixture = await StoreFixture.make();
    await writeFile(join(fixture.directory, "notes.tmp"), "mine");
    await mkdir(join(fixture.directory, "photos"));
    await fixture.open();
    expect(await fixture.files()).toEqual(["index.json", "notes.tmp", "photos"]);
  });

  it("adopts a verified file that is missing in the index after a crash", async () => {
    await using fixture = await StoreFixture.make();
    const ref = serve(fixture, "a", BYTES);
    const stem = join(fixture.directory, stemOf(ref.sha256 ?? ""));
    await writeFile(`${stem}.gguf`, BYTES);
    const facts = { key: ref.sha256, url: "u", etag: null, totalBytes: BYTES.length, hubSha256: null };
    await writeFile(`${stem}.part.json`, JSON.stringify(facts));
    const store = await fixture.open();
    await pull(store, ref);
    expect(fixture.server.requests).toHaveLength(0);
    expect(await fixture.files()).toEqual([`${stemOf(ref.sha256 ?? "")}.gguf`, "index.json"].sort());
  });

  it.each([
    "",
    "{",
    '{"version":2}',
    '{"version":1,"models":[{"key":"k","file":"../../etc/passwd","bytes":1,"lastUsedMs":1}]}',
  ])("starts empty with the damaged index %s", async (text) => {
    await using fixture = await StoreFixture.make();
    await writeFile(join(fixture.directory, "index.json"), text);
    expect((await fixture.open()).list()).toEqual([]);
  });

  it("creates files that only their owner can read", async () => {
    await using fixture = await StoreFixture.make();
    const ref = serve(fixture, "a", BYTES);
    const { path } = await pull(await fixture.open(), ref);
    expect((await stat(path)).mode & 0o077).toBe(0);
  });
});
