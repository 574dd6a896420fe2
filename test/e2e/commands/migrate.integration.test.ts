import { writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, it } from "vitest";
import { openStore } from "../../../coordinator/store/open-store.ts";
import { makeAccount, makeJob, runJob, temporaryFolder } from "../../coordinator/store/contract/store-builders.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { expectRefusal } from "../../support/refusal.ts";
import { runCommand } from "../../support/run-command.ts";

const KEY = "ab".repeat(32);
let folder: ReturnType<typeof temporaryFolder>;
let config: string;
beforeEach(async () => {
  folder = temporaryFolder();
  config = folder.file("atoll.toml");
  await writeFile(config, `cluster_key = "${KEY}"\n`);
});
afterEach(() => folder[Symbol.dispose]());

const migrate = (...args: string[]) => runCommand("migrate", ...args, "--config", config);

/** A data directory with an account and a running job. */
async function makeData(name: string): Promise<string> {
  const store = await openStore(folder.file(name), new ManualClock());
  await runJob(store, makeJob(await makeAccount(store)));
  await store.close();
  return folder.file(name);
}

describe("coordinator migrate", () => {
  it("reports invalid options", async () => {
    const here = await makeData("here");
    const locations = "sqlite:<directory> or postgres://user@host/database";
    expectRefusal(
      await migrate("--from", `sqlite:${here}`),
      `--to is required. Give ${locations}, or set store (ATOLL_STORE)`,
      2,
    );
    expectRefusal(await migrate("--to", "postgres://db/atoll"), `--from is required. Give ${locations}`, 2);
    expectRefusal(await migrate(), `--from is required. Give ${locations}`, 2);
    expectRefusal(
      await migrate("--from", here, "--to", "sqlite:x"),
      /^--\w+: must be sqlite:<directory> or postgres/,
      2,
    );
    expectRefusal(
      await migrate("--from", "sqlite:", "--to", "sqlite:x"),
      '--from: must be sqlite:<directory>, got "sqlite:"',
      2,
    );
    const nothing = folder.file("nothing");
    expectRefusal(
      await migrate("--from", `sqlite:${nothing}`, "--to", "x"),
      `No coordinator data in ${nothing}. Check --from`,
    );
    expectRefusal(
      await migrate("--from", `sqlite:${here}`, "--abandon"),
      `No move from ${here} has started, so none can be cancelled. Check --from`,
    );
  });
});
