import { cpSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../coordinator/store/contract/store-builders.ts";
import { command, createAccount, serving, readSigningKey, readStatuses } from "./operator-steps.ts";

// The commands of docs/operate/backup-upgrade.md.
describe("a backup of a running coordinator, restored in another directory", () => {
  it("contains the accounts, keys, balances and signing key of the original", async () => {
    using folder = temporaryFolder();
    const [data, copy, restored] = ["data", "copy", "restored"].map((name) => folder.file(name)) as [
      string,
      string,
      string,
    ];
    const [installation, backup] = [{ flags: ["--data", data] }, { flags: ["--data", restored] }];
    const [before, after, key] = await serving(installation, async () => {
      const first = await createAccount(installation, "before@example.com");
      await command(installation, "backup", copy);
      return [
        first,
        await createAccount(installation, "after@example.com"),
        await readSigningKey(installation),
      ] as const;
    });
    cpSync(copy, restored, { recursive: true });
    expect(await command(backup, "check")).toContain("intact");
    expect(await command(backup, "ledger", "verify")).toContain("balanced");
    await serving(backup, async (url) => {
      expect(await readStatuses(url, before, after)).toEqual([200, 401]);
      expect(await readSigningKey(backup)).toBe(key);
    });
  });
});
