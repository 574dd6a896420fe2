import { rmSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { startWriterThread, Writer } from "../../../../../coordinator/store/sqlite/engine/writer.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { temporaryFolder } from "../../contract/store-builders.ts";

it("Writer: when its worker dies, what is under way and what follows rejects, and close() ends", async () => {
  using folder = temporaryFolder();
  // Not a database: the worker throws when it opens it.
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
