import { mkdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { openSqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { startWriterThread, Writer } from "../../../../../coordinator/store/sqlite/engine/writer.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { temporaryFolder } from "../../contract/store-builders.ts";

it("Writer rejects current and later operations after its worker died, and close() resolves", async () => {
  using folder = temporaryFolder();
  // The file is not a database, so the worker throws when it opens it.
  writeFileSync(folder.file("atoll.db"), "no database ".repeat(1_000));
  const writer = new Writer(startWriterThread(folder.file("atoll.db")), new ManualClock(), () => {});
  const asked = Promise.allSettled([writer.run("check", {}), writer.run("check", {})]);
  const reason = expect.objectContaining({
    message: expect.stringMatching(/writer stopped: .*not a database/) as string,
  }) as Error;
  expect(await asked).toEqual([
    { status: "rejected", reason },
    { status: "rejected", reason },
  ]);
  await expect(writer.run("check", {})).rejects.toThrow(/writer stopped/);
  await writer.close();
  rmSync(folder.file("atoll.db"));
});

it("Writer opens a database later if it cannot be opened now, and writes nothing before", async () => {
  using folder = temporaryFolder();
  const store = await openSqliteStore({ path: folder.file("made.db"), clock: new ManualClock() });
  await store.close();
  const path = folder.file("atoll.db");
  mkdirSync(path);
  const reported: (string | null)[] = [];
  const clock = new ManualClock();
  const writer = new Writer(startWriterThread(path), clock, (reason) => reported.push(reason));
  await expect(writer.run("check", {})).rejects.toMatchObject({ code: "storage_unavailable" });
  rmdirSync(path);
  renameSync(folder.file("made.db"), path);
  clock.advance(500);
  await expect.poll(() => reported).toEqual([expect.stringContaining("cannot be opened"), null]);
  expect(await writer.run("check", {})).toBeGreaterThan(0);
  await writer.close();
});
