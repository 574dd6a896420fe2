import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openCargoSigner } from "../../../../coordinator/islands/cargo-signer.ts";
import { openAttemptTokens } from "../../../../coordinator/dispatch/attempt-tokens.ts";
import { DatabaseError } from "../../../../coordinator/store/database-error.ts";
import { postgresStore, type PostgresStore } from "../../../../coordinator/store/postgres/postgres-store.ts";
import { SecretBox } from "../../../../coordinator/store/secrets/secret-box.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import type { PostgresDatabase } from "../../../support/servers/postgres-database.ts";
import { testEnv } from "../../../support/test-env.ts";
import { withDatabase } from "../../../support/servers/with-servers.ts";
import { describeSecrets } from "../contract/shared-secrets.cases.ts";

await withDatabase(describePostgresSecrets);

function describePostgresSecrets(database: PostgresDatabase): void {
  let [one, two]: PostgresStore[] = [];
  const both = (): readonly [PostgresStore, PostgresStore] => [one as PostgresStore, two as PostgresStore];
  beforeEach(async () => {
    await database.empty();
    [one, two] = ["c1", "c2"].map((id) => database.store(new ManualClock(), id));
  });
  afterEach(() => Promise.all(both().map((store) => store.close())));

  describe("postgresSecrets()", () => {
    describeSecrets(async () => [both()[0].secrets, both()[1].secrets]);

    it("gives coordinators that start concurrently the same secrets, so that tokens and signatures of one are valid at the other", async () => {
      const [proofs, signers] = await Promise.all([
        Promise.all(both().map(({ secrets }) => openAttemptTokens(secrets))),
        Promise.all(both().map(({ secrets }) => openCargoSigner(testEnv(), secrets, true))),
      ]);
      expect(proofs[1]?.isValid(proofs[0]?.issue("job_1", 1, "host") ?? "", "job_1", 1, "host")).toBe(true);
      expect(signers[1]?.publicKey).toBe(signers[0]?.publicKey);
    });

    it("encrypts secrets in the database, and cannot read them with another key", async () => {
      await one?.secrets.replace("signing", Buffer.from("very secret"));
      const { rows } = await database.server.query("SELECT sealed FROM secrets", "test");
      expect(JSON.stringify(rows)).not.toMatch(/very secret|dmVyeSBzZWNyZX/);
      const secrets = new SecretBox(randomBytes(32));
      const other = postgresStore({ address: database.address, clock: new ManualClock(), ownerId: "c3", secrets });
      const refused = other.secrets.read("signing");
      await expect(refused).rejects.toBeInstanceOf(DatabaseError);
      await expect(refused).rejects.toThrow(/encrypted with another cluster_key/);
      await other.close();
    });
  });
}
