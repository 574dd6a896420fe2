import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore, type SqliteStore } from "../../../../coordinator/store/sqlite/sqlite-store.ts";
import { readWebhookLog } from "../../../../coordinator/webhooks/owned-webhook.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { makeWebhook } from "../contract/batch-store.cases.ts";
import { makeAccount, makeJob, temporaryFolder } from "../contract/store-builders.ts";

const SECRET = `whsec_${Buffer.from("a secret of a webhook that signs").toString("base64")}`;

let folder: ReturnType<typeof temporaryFolder>;
let store: SqliteStore;
let webhookId: string;
const open = async (): Promise<void> => {
  store = await openSqliteStore({ path: folder.file("atoll.db"), clock: new ManualClock() });
};
const reopen = async (between: () => void): Promise<void> => {
  await store.close();
  between();
  await open();
};
const onDatabase = <T>(use: (db: Database.Database) => T): T => {
  const db = new Database(folder.file("atoll.db"));
  try {
    return use(db);
  } finally {
    db.close();
  }
};
const storedSecret = (): unknown => onDatabase((db) => db.prepare("SELECT secret FROM webhooks").pluck().get());

beforeEach(async () => {
  folder = temporaryFolder();
  await open();
  const webhook = makeWebhook({ secret: SECRET });
  webhookId = webhook.id;
  await store.jobs.submit(makeJob(await makeAccount(store, { grantMicro: 1_000_000_000 }), { webhook }));
});
afterEach(async () => {
  await store.close();
  folder[Symbol.dispose]();
});

describe("a webhook secret", () => {
  it("is in no file of the data directory as plain text, and is readable after a restart", async () => {
    const files = readdirSync(folder.path).map((name) => readFileSync(join(folder.path, name), "latin1"));
    expect(files.filter((content) => content.includes(SECRET))).toEqual([]);
    expect((await store.webhooks.get(webhookId))?.secret).toBe(SECRET);
    await reopen(() => undefined);
    expect((await store.webhooks.get(webhookId))?.secret).toBe(SECRET);
    expect(statSync(folder.file("webhooks.key")).mode & 0o777).toBe(0o600);
  });

  it("is encrypted at the next start if an earlier version stored it as plain text", async () => {
    await reopen(() => onDatabase((db) => db.prepare("UPDATE webhooks SET secret = ?").run(SECRET)));
    expect(storedSecret()).toMatch(/^sealed1:/);
    expect((await store.webhooks.get(webhookId))?.secret).toBe(SECRET);
  });

  it("is null if its key is lost, and the rest of the webhook stays readable", async () => {
    await reopen(() => rmSync(folder.file("webhooks.key")));
    expect((await store.webhooks.get(webhookId))?.secret).toBeNull();
    expect(await readWebhookLog(store.webhooks, webhookId)).toMatchObject({ state: "waiting" });
  });
});
