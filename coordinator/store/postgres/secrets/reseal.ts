import type pg from "pg";
import { DatabaseError } from "../../database-error.ts";
import { SecretBox } from "../../secrets/secret-box.ts";
import type { DatabaseLocation } from "../../store-location.ts";
import { countUsers, withClient } from "../engine/connection.ts";
import { withoutPassword } from "../../../../shared/without-password.ts";
import { toOpeningError } from "../engine/storage-fault.ts";

const NAME = "reseal of atoll";
/** Maximum number of webhooks per statement. */
const PAGE = 1_000;

interface Sealed {
  readonly id: string;
  readonly sealed: string;
}

/**
 * Encrypts all secrets of a database with another key, in one transaction, and returns their numbers. Can be repeated:
 * secrets that already have the new key stay unchanged. A webhook secret that neither key decrypts also stays; the
 * delivery of its webhook will fail.
 * @throws {DatabaseError} while coordinators or commands use the database, and if neither key decrypts its secrets.
 */
export async function resealSecrets(
  { address, key }: DatabaseLocation,
  newKey: Buffer,
): Promise<{ readonly secrets: number; readonly webhooks: number }> {
  const boxes = { from: new SecretBox(key), to: new SecretBox(newKey) };
  try {
    return await withClient(address, NAME, async (client) => {
      await client.query("BEGIN");
      // The lock blocks coordinators that start from now on; they then find that the key differs.
      await client.query("LOCK TABLE secrets, webhooks IN ACCESS EXCLUSIVE MODE");
      const inUse = await countUsers(client);
      if (inUse > 0) {
        const text = `${inUse} connections of coordinators or commands use the database. Stop them first`;
        throw new DatabaseError(withoutPassword(address), text);
      }
      const resealed = { secrets: await resealShared(client, boxes), webhooks: await resealWebhooks(client, boxes) };
      await client.query("COMMIT");
      return resealed;
    });
  } catch (error) {
    throw error instanceof DatabaseError ? error : toOpeningError(error, address);
  }
}

interface Boxes {
  readonly from: SecretBox;
  readonly to: SecretBox;
}

async function resealShared(client: pg.Client, { from, to }: Boxes): Promise<number> {
  const { rows } = await client.query<Sealed>("SELECT name AS id, sealed FROM secrets ORDER BY name");
  let count = 0;
  for (const { id, sealed } of rows) {
    const text = from.unseal(sealed);
    if (text === null && to.unseal(sealed) === null) {
      throw new DatabaseError(
        `The secret ${id} of the database`,
        "is encrypted with neither the old nor the new key. Check cluster_key",
      );
    }
    if (text === null) continue;
    await client.query("UPDATE secrets SET sealed = $2 WHERE name = $1", [id, to.seal(text)]);
    count++;
  }
  return count;
}

async function resealWebhooks(client: pg.Client, { from, to }: Boxes): Promise<number> {
  let [count, after, size]: [number, string, number] = [0, "", PAGE];
  while (size === PAGE) {
    const { rows } = await client.query<Sealed>(
      `SELECT id, secret AS sealed FROM webhooks WHERE id > $1 ORDER BY id LIMIT ${PAGE}`,
      [after],
    );
    const ids: string[] = [];
    const secrets: string[] = [];
    for (const { id, sealed } of rows) {
      const text = from.unseal(sealed);
      if (text === null) continue;
      ids.push(id);
      secrets.push(to.seal(text));
    }
    await client.query(
      `UPDATE webhooks SET secret = given.secret FROM unnest($1::text[], $2::text[]) AS given (id, secret)
       WHERE webhooks.id = given.id`,
      [ids, secrets],
    );
    count += ids.length;
    size = rows.length;
    after = rows.at(-1)?.id ?? after;
  }
  return count;
}
