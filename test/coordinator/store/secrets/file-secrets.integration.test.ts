import { readdirSync, statSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileSecrets } from "../../../../coordinator/store/secrets/file-secrets.ts";
import { describeSecrets } from "../contract/shared-secrets.cases.ts";
import { temporaryFolder } from "../contract/store-builders.ts";

describe("fileSecrets()", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => (folder = temporaryFolder()));
  afterEach(() => folder[Symbol.dispose]());

  describeSecrets(async () => [fileSecrets(folder.path), fileSecrets(folder.path)]);

  it("stores secrets in files readable by their owner only, and leaves no other files", async () => {
    const secrets = fileSecrets(folder.path);
    for (const name of ["proofs", "signing", "signing_in_use"] as const) await secrets.replace(name, Buffer.from(name));
    expect(readdirSync(folder.path).toSorted()).toEqual(["claims.key", "signing.key", "signing.pub"]);
    const modes = ["claims.key", "signing.key", "signing.pub"].map((file) => statSync(folder.file(file)).mode & 0o077);
    expect(modes).toEqual([0, 0, 0o44]);
  });
});
