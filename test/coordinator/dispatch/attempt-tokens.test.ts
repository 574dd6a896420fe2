import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { attemptTokens, openAttemptTokens } from "../../../coordinator/dispatch/attempt-tokens.ts";
import { fileSecrets } from "../../../coordinator/store/secrets/file-secrets.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-claims-"));
});
afterEach(() => rm(directory, { recursive: true }));

describe("an attempt token", () => {
  it("is valid after a restart, for exactly its job, attempt and Island", async () => {
    const token = (await openAttemptTokens(fileSecrets(directory))).issue("job_1", 2, "host-a");
    const again = await openAttemptTokens(fileSecrets(directory));
    expect(again.isValid(token, "job_1", 2, "host-a")).toBe(true);
    expect(again.isValid(token, "job_2", 2, "host-a")).toBe(false);
    expect(again.isValid(token, "job_1", 3, "host-a")).toBe(false);
    expect(again.isValid(token, "job_1", 2, "host-b")).toBe(false);
    expect(again.isValid("", "job_1", 2, "host-a")).toBe(false);
  });

  it("is the HMAC-SHA-256 of the attempt in base64url, which stays the same in later versions of the coordinator", () => {
    const tokens = attemptTokens(Buffer.alloc(32, 7));
    expect(tokens.issue("job_1", 2, "host-a")).toBe("sfniakaBDKxY3DtvNyNseiNOi9a4y0u2qu-RqpdkvXo");
    expect(tokens.cacheKey("user_1", "host-a")).toBe("LFpTZeLI_G5uZFa1HcImjrM4wLPZvoMsCpvBzz4nT0k");
  });

  it("keeps its secret unreadable for other users, and replaces a damaged one", async () => {
    const path = join(directory, "claims.key");
    await writeFile(path, "");
    const tokens = await openAttemptTokens(fileSecrets(directory));
    expect((await stat(path)).size).toBe(32);
    expect(
      (await openAttemptTokens(fileSecrets(directory))).isValid(tokens.issue("job_1", 1, "h"), "job_1", 1, "h"),
    ).toBe(true);
    await rm(path);
    await openAttemptTokens(fileSecrets(directory));
    expect((await stat(path)).mode & 0o077).toBe(0);
  });
});
