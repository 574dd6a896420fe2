import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import type { AgentParts } from "../../island-agent/agent.ts";
import type { CargoManifest } from "../../shared/cargo.ts";
import { endorsedBytes, publicKeyText } from "../../shared/cargo-signature.ts";
import { AgentWorld, FIRST_RETRY_MS } from "./agent-world.ts";
import { ALLOWS_ALL, makeAssign, makeManifest } from "./builders.ts";
import { signManifest } from "./scripted-coordinator.ts";

let world: AgentWorld;
afterEach(() => world[Symbol.asyncDispose]());

/** Opens an Island with these rules, and waits for its hello. */
async function join(options: Partial<AgentParts>) {
  world = await AgentWorld.open(options);
  const session = await world.coordinator.session(1);
  return { session, hello: await session.welcome() };
}

const container = { image: "docker.io/a/b:1", digest: null, command: null, gpu: false, network: true };
const asking = makeManifest({ runtimeType: "container", category: "utility", container });

describe("an owner's rules", () => {
  it("are reported to the coordinator", async () => {
    const policy = { ...ALLOWS_ALL, network: false, categories: { allow: ["llm"], deny: [] } };
    const { hello } = await join({ policy: () => policy });
    expect(hello.policy).toEqual(policy);
  });

  it.each([
    ["containers with a network", { ...ALLOWS_ALL, network: false }, asking],
    [
      "containers with a GPU",
      { ...ALLOWS_ALL, containerGpu: false },
      { ...asking, container: { ...container, gpu: true } },
    ],
    ["the runtime llmcpp", { ...ALLOWS_ALL, runtimes: { allow: ["wasm"], deny: [] } }, makeManifest()],
    [
      "Cargos of the category llm",
      { ...ALLOWS_ALL, categories: { allow: null, deny: ["llm"] } },
      makeManifest({ category: "llm" }),
    ],
    ["Cargos without a category", { ...ALLOWS_ALL, categories: { allow: ["llm"], deny: [] } }, makeManifest()],
  ])(
    "refuse %s whatever a coordinator sends, and fetch nothing for them",
    async (what, policy, cargo: CargoManifest) => {
      const { session } = await join({ policy: () => policy });
      session.send({ type: "preload", cargo }, makeAssign({ cargo }));
      expect(await session.next("refused")).toMatchObject({
        jobId: "job_1",
        code: "island_refused",
        message: `This Island's owner does not allow ${what}`,
      });
      await session.processed();
      expect([world.files.events.all, world.runtime.events.all]).toEqual([[], []]);
    },
  );
});

it("policyOf() reports and allows a container network once a container engine is found", async () => {
  let network = false;
  const { hello } = await join({ policy: () => ({ ...ALLOWS_ALL, network }) });
  network = true;
  world.agent.announce();
  await world.retry(1, FIRST_RETRY_MS);
  const session = await world.coordinator.session(2);
  expect([hello.policy?.network, (await session.welcome()).policy?.network]).toEqual([false, true]);
  session.send(makeAssign({ cargo: asking }));
  expect(await session.next("accepted")).toMatchObject({ jobId: "job_1" });
});

describe("cargos.signed_by", () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const publicKey = publicKeyText(createPublicKey(privateKey));
  const cargo = makeManifest();
  const endorse = (of: CargoManifest) => ({
    publicKey,
    signature: sign(null, endorsedBytes(of), privateKey).toString("base64"),
  });
  const signedBy = { signedBy: [publicKey], policy: () => ({ ...ALLOWS_ALL, approvedOnly: true }) };

  it("runs a Cargo that one of the owner's keys has signed", async () => {
    const { session } = await join(signedBy);
    session.send({ ...makeAssign({ cargo }), endorsements: [endorse(cargo)] });
    await session.next("finished");
  });

  it("refuses a Cargo without a signature of these keys, for another manifest, or by a key with a wrong name", async () => {
    const { session } = await join(signedBy);
    const [other] = [generateKeyPairSync("ed25519").privateKey];
    const forged = { publicKey, signature: sign(null, endorsedBytes(cargo), other).toString("base64") };
    const wrong = [[], [endorse(makeManifest({ slug: "b" }))], [forged], [{ publicKey, signature: "none" }]];
    for (const [index, endorsements] of wrong.entries()) {
      session.send({ ...makeAssign({ cargo, attempt: index + 1 }), endorsements });
      expect(await session.next("refused", index + 1)).toMatchObject({
        code: "manifest_untrusted",
        message: expect.stringContaining("cargos.signed_by") as string,
      });
    }
    // The rule also applies to Cargos of the account, whoever signed them.
    const own = {
      ...makeAssign({ cargo, attempt: 9, signature: signManifest(cargo, "user_1") }),
      endorsements: [endorse(cargo)],
    };
    session.send(own);
    expect(await session.next("refused", wrong.length + 1)).toMatchObject({ attempt: 9, code: "manifest_untrusted" });
    expect(world.runtime.events.all).toEqual([]);
  });
});
