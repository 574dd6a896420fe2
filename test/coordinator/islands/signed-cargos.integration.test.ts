import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join as joinPath } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SigningKeyError } from "../../../coordinator/islands/signing-key.ts";
import { checkToken } from "../../../island-agent/session/check-token.ts";
import { openCargoTrust } from "../../../island-agent/session/cargo-trust.ts";
import { isSigned, readPublicKey } from "../../../shared/cargo-signature.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { FakeLog } from "../../island-agent/builders.ts";
import { ONNX_FILE } from "../catalog/cargo-builders.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { IS_POSTGRES } from "../../support/store/test-store.ts";

let coordinator: TestCoordinator;
let account: { key: string; islandToken: string };

beforeEach(async () => {
  // The grace period is short, because attempts of a lost Island go to another one only after it.
  coordinator = await TestCoordinator.open({ islandGraceS: 1, restartGraceS: 1 });
  account = await coordinator.createAccount("client@example.com");
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const join = (): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, account.islandToken, { hostId: randomUUID(), slots: 4 });
const api = (method: string, path: string, body?: unknown) => call(coordinator.url, account.key, method, path, body);

async function submit(workload = "tiny-chat"): Promise<string> {
  const { body } = await api("POST", "/jobs", { workload, input: { prompt: "Hi" } });
  return body.data.id as string;
}

/** Returns the key that `island join` would pin now. */
async function shownKey(): Promise<string> {
  const checked = await checkToken(coordinator.url, account.islandToken);
  return checked.ok ? checked.publicKey : expect.fail(checked.reason);
}

const holds = ({ cargo, signature }: Assign, key: string): boolean =>
  isSigned(cargo, signature, readPublicKey(key) ?? expect.fail("no key"));

describe("an assigned Cargo", () => {
  it("is signed with the key that the coordinator shows, even after a restart", async () => {
    const key = await shownKey();
    await submit();
    await submit("llama-3.2-1b-instruct");
    for (const round of [1, 2]) {
      await using island = await join();
      const [first, second] = [await island.next("assign"), await island.next("assign")];
      expect(first.cargo.slug).not.toBe(second.cargo.slug);
      expect([first, second].map((assign) => holds(assign, key))).toEqual([true, true]);
      expect(holds({ ...first, cargo: second.cargo }, key)).toBe(false);
      if (round === 2) break;
      await coordinator.stop();
      await coordinator.start();
      expect(await shownKey()).toBe(key);
    }
  });

  it.skipIf(IS_POSTGRES)(
    "is impossible after the key was lost: the coordinator does not start with a key that no Island has pinned",
    async () => {
      const path = joinPath(coordinator.directory, "signing.key");
      await rm(path);
      await coordinator.stop();
      // No Island has joined yet.
      await coordinator.start();
      await (await join())[Symbol.asyncDispose]();
      await coordinator.stop();
      await rm(path);
      await expect(coordinator.start()).rejects.toThrow(SigningKeyError);
    },
  );

  it("of one account is not valid on another account's Islands", async () => {
    const other = await coordinator.createAccount("other@example.com");
    const { slug } = ONNX_FILE;
    expect((await api("POST", "/cargos", ONNX_FILE)).status).toBe(201);
    await using island = await join();
    island.send({ type: "wanted", slugs: [slug, "tiny-chat"] });
    const [own, shipped] = [await island.next("preload"), await island.next("preload")];
    expect([own.cargo.slug, shipped.cargo.slug]).toEqual([slug, "tiny-chat"]);
    const problemsOf = async (islandToken: string): Promise<(string | null)[]> => {
      const joined = await checkToken(coordinator.url, islandToken);
      if (!joined.ok) return expect.fail(joined.reason);
      const trust = openCargoTrust(joined.publicKey, joined.accountId, new FakeLog());
      return [own, shipped].map((frame) => trust.problemOf(frame));
    };
    expect(await problemsOf(account.islandToken)).toEqual([null, null]);
    expect(await problemsOf(other.islandToken)).toEqual([
      expect.stringContaining("has no valid signature by the pinned key"),
      null,
    ]);
  });

  it("is retried when an Island does not trust it, and the job says why it waits if none does", async () => {
    await using island = await join();
    const jobId = await submit();
    for (const attempt of [1, 2]) {
      await island.next("assign", (assign) => assign.attempt === attempt);
      island.send({ type: "refused", jobId, attempt, code: "manifest_untrusted", message: "not signed" });
    }
    const { waiting } = await until(
      async () => (await api("GET", `/jobs/${jobId}`)).body.data,
      ({ status }) => status === "pending",
      "the refusal",
    );
    expect(waiting.message).toContain("1 Island fits, but it recently refused jobs (manifest_untrusted)");
  });
});
