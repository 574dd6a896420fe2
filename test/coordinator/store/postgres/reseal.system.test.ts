import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPostgresStore } from "../../../../coordinator/store/postgres/postgres-store.ts";
import { resealSecrets } from "../../../../coordinator/store/postgres/secrets/reseal.ts";
import { SecretBox } from "../../../../coordinator/store/secrets/secret-box.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import type { PostgresDatabase } from "../../../support/servers/postgres-database.ts";
import { withDatabase } from "../../../support/servers/with-servers.ts";
import { makeAccount, makeJob, runJob } from "../contract/store-builders.ts";

await withDatabase(describeReseal);

function describeReseal(database: PostgresDatabase): void {
  const { address } = database;
  let [key, newKey]: Buffer[] = [];
  const keys = (): [Buffer, Buffer] => [key as Buffer, newKey as Buffer];
  const open = (withKey: Buffer) =>
    openPostgresStore({ address, clock: new ManualClock(), ownerId: "c1", secrets: new SecretBox(withKey) });
  const stored = async (): Promise<string> =>
    JSON.stringify((await database.server.query("SELECT sealed FROM secrets ORDER BY name", "test")).rows);
  let webhookIds: string[];
  beforeEach(async () => {
    await database.empty();
    [key, newKey] = [randomBytes(32), randomBytes(32)];
    const store = await open(keys()[0]);
    await store.secrets.replace("signing", Buffer.from("signs"));
    await store.secrets.replace("proofs", Buffer.from("proves"));
    const accountId = await makeAccount(store);
    webhookIds = [];
    for (let count = 0; count < 3; count++) {
      const id = `wh_${count}`;
      const webhook = { id, url: "https://example.com/", secret: `whsec_${count}`, isSecretGenerated: false };
      await runJob(store, makeJob(accountId, { webhook }));
      webhookIds.push(id);
    }
    await store.close();
    await usersGone();
  });
  afterEach(usersGone);

  /** The server notices a closed connection with a delay. */
  async function usersGone(): Promise<void> {
    const sql = "SELECT 1 FROM pg_stat_activity WHERE datname = 'test' AND application_name LIKE 'atoll%'";
    while ((await database.server.query(sql, "test")).rows.length > 0);
  }

  describe("resealSecrets()", () => {
    it("encrypts shared and webhook secrets with the new key, so that the old one is useless", async () => {
      const [from, to] = keys();
      // Several pages of webhooks in one transaction.
      await database.server.query(
        `INSERT INTO webhooks (id, account_id, subject_kind, subject_id, url, secret, is_secret_generated)
         SELECT 'many_' || n, account_id, 'job', 'job_' || n, url, secret, false FROM webhooks, generate_series(1, 2500) AS n
         WHERE id = 'wh_0'`,
        "test",
      );
      expect(await resealSecrets({ address, key: from }, to)).toEqual({ secrets: 2, webhooks: 2_503 });
      const store = await open(to);
      expect([await store.secrets.read("signing"), await store.secrets.read("proofs")]).toEqual(
        ["signs", "proves"].map((text) => Buffer.from(text)),
      );
      for (const [index, id] of webhookIds.entries()) {
        expect((await store.webhooks.get(id))?.secret).toBe(`whsec_${index}`);
      }
      expect((await store.webhooks.get("many_2500"))?.secret).toBe("whsec_0");
      await store.close();
      const old = await open(from);
      await expect(old.secrets.read("signing")).rejects.toThrow(/encrypted with another cluster_key/);
      await old.close();
    });

    it("changes all secrets or none, and fails if neither key decrypts one", async () => {
      const [from, to] = keys();
      const before = await stored();
      const wrong = resealSecrets({ address, key: randomBytes(32) }, to);
      await expect(wrong).rejects.toThrow(/is encrypted with neither the old nor the new key/);
      expect(await stored()).toBe(before);
      const strange = new SecretBox(randomBytes(32)).seal("strange");
      await database.server.query(`UPDATE secrets SET sealed = '${strange}' WHERE name = 'signing'`, "test");
      const half = await stored();
      // The transaction had already encrypted the previous secret.
      await expect(resealSecrets({ address, key: from }, to)).rejects.toThrow(
        /secret signing .* neither the old nor the new key/,
      );
      expect(await stored()).toBe(half);
    });

    it("changes nothing when repeated", async () => {
      const [from, to] = keys();
      await resealSecrets({ address, key: from }, to);
      const done = await stored();
      expect(await resealSecrets({ address, key: from }, to)).toEqual({ secrets: 0, webhooks: 0 });
      expect(await stored()).toBe(done);
    });

    it("refuses while a coordinator or a command uses the database", async () => {
      const [from, to] = keys();
      const before = await stored();
      const store = await open(from);
      await expect(resealSecrets({ address, key: from }, to)).rejects.toThrow(
        /of coordinators or commands use the database/,
      );
      await store.close();
      expect(await stored()).toBe(before);
    });
  });
}
