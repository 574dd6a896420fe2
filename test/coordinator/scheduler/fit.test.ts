import { describe, expect, it } from "vitest";
import type { OwnerPolicy } from "../../../shared/owner-policy.ts";
import type { EngineModelReport } from "../../../shared/protocol/from-island.ts";
import { PROVEN_FEATURE } from "../../../coordinator/credits/trust.ts";
import type { SchedulerIsland } from "../../../coordinator/scheduler/events.ts";
import { featuresFor, fits, type ScheduledCargo } from "../../../coordinator/scheduler/fit.ts";
import { GB, makeCargo, makeIsland } from "./builders.ts";

describe("fits()", () => {
  const cargo = { ...makeCargo({ requiredRamBytes: 8 * GB, requiredVramBytes: 4 * GB }), onlyIslandsOf: null };
  const island = makeIsland({ ramBytes: 8 * GB, vramBytes: 4 * GB });

  it("returns true if the Island has exactly what the Cargo requires", () => {
    expect(fits(cargo, island)).toBe(true);
  });
  it("returns true only for Islands of the account that may run the Cargo", () => {
    const own = { ...cargo, onlyIslandsOf: "user_1" };
    expect(fits(own, { ...island, accountId: "user_1" })).toBe(true);
    expect(fits(own, { ...island, accountId: "user_2", runtimes: [] })).toBe("not_own");
  });

  it("returns true only for Islands with all features that the job needs", () => {
    const needy = { ...cargo, features: ["chat.a", "chat.b"] };
    expect(fits(needy, island)).toBe("feature_missing");
    expect(fits(needy, { ...island, features: ["chat.a"] })).toBe("feature_missing");
    expect(fits(needy, { ...island, features: ["chat.b", "chat.c", "chat.a"] })).toBe(true);
    expect(fits(needy, { ...island, runtimes: [] })).toBe("runtime_missing");
  });

  it("returns true for jobs of the trust proven only if the owner is proven, whatever the Island claims", () => {
    const proven = { ...cargo, features: ["chat.a", PROVEN_FEATURE] };
    const claiming = { ...island, features: ["chat.a", PROVEN_FEATURE] };
    const isProvenOwner = (accountId: string): boolean => accountId === "user_1";
    expect(fits(proven, claiming)).toBe("not_proven");
    expect(fits({ ...proven, isProvenOwner }, { ...claiming, accountId: "user_2" })).toBe("not_proven");
    expect(fits({ ...proven, isProvenOwner }, { ...claiming, features: ["chat.a"], accountId: "user_1" })).toBe(true);
    expect(fits({ ...proven, isProvenOwner }, { ...island, accountId: "user_1" })).toBe("feature_missing");
  });

  const anything: OwnerPolicy = {
    network: true,
    containerGpu: true,
    runtimes: { allow: null, deny: [] },
    categories: { allow: null, deny: [] },
    approvedOnly: false,
  };
  const container = { image: "docker.io/a/b:1", digest: null, command: null, gpu: true, network: true };
  const asking: ScheduledCargo = { ...cargo, category: "llm", container };

  it.each<[Partial<OwnerPolicy>, Partial<ScheduledCargo>, string]>([
    [{ runtimes: { allow: null, deny: ["llmcpp"] } }, {}, "runtime_disallowed"],
    [{ runtimes: { allow: ["wasm"], deny: [] } }, {}, "runtime_disallowed"],
    [{ categories: { allow: null, deny: ["llm"] } }, {}, "category_disallowed"],
    [{ categories: { allow: ["text"], deny: [] } }, { category: undefined }, "category_disallowed"],
    [{ network: false }, {}, "network_disallowed"],
    [{ containerGpu: false }, {}, "gpu_disallowed"],
    [{ approvedOnly: true }, { onlyIslandsOf: island.accountId, privateTo: island.accountId }, "unapproved_disallowed"],
  ])(
    "returns the owner's rule that excludes the Cargo (%#), and true if the owner allows it",
    (rule, needs, misfit) => {
      expect(fits({ ...asking, ...needs }, { ...island, policy: { ...anything, ...rule } })).toBe(misfit);
      expect(fits({ ...asking, ...needs }, { ...island, policy: anything })).toBe(true);
      // An agent of an earlier version reports no policy and runs everything.
      expect(fits({ ...asking, ...needs }, island)).toBe(true);
    },
  );

  it.each([
    [{ runtimes: [] }, "runtime_missing"],
    [{ ramBytes: 8 * GB - 1 }, "too_little_ram"],
    [{ vramBytes: 4 * GB - 1 }, "too_little_vram"],
    [{ noSpaceFor: ["other", cargo.slug] }, "too_little_disk"],
    [{ noSpaceFor: ["other"], draining: true }, "draining"],
  ])("returns the first misfit (%#)", (override, misfit) => {
    expect(fits(cargo, { ...island, ...override })).toBe(misfit);
  });
});

describe("fits() for an Island whose engine serves the model", () => {
  const sha256 = "a".repeat(64);
  const model = { url: "https://example.org/m", sha256, sizeBytes: null };
  const cargo = { ...makeCargo({ model, contextTokens: 1_024, requiredRamBytes: 99 * GB }), onlyIslandsOf: null };
  const served: EngineModelReport = {
    key: sha256,
    features: [],
    slots: 4,
    contextTokens: 1_024,
    parameters: null,
    quantization: null,
  };
  const island = (more: Partial<EngineModelReport> = {}, rest: Partial<SchedulerIsland> = {}): SchedulerIsland =>
    makeIsland({
      runtimes: [],
      ramBytes: 0,
      noSpaceFor: [cargo.slug],
      engineModels: [{ ...served, ...more }],
      ...rest,
    });

  it("returns true whatever its runtimes, memory and disk are", () => {
    expect(fits(cargo, island())).toBe(true);
    expect(fits(cargo, island({ key: "b".repeat(64) }))).toBe("runtime_missing");
  });
  it("returns true for a context that is long enough, and up to 4,096 tokens if the engine does not report it", () => {
    expect(fits(cargo, island({ contextTokens: 1_023 }))).toBe("runtime_missing");
    expect(fits({ ...cargo, contextTokens: 4_096 }, island({ contextTokens: null }))).toBe(true);
    expect(fits({ ...cargo, contextTokens: 4_097 }, island({ contextTokens: null }))).toBe("runtime_missing");
  });
  it("uses the Island's runtime for a Cargo that is not a language model", () => {
    const url = `hf:owner/repo#${"a".repeat(40)}`;
    const folder = { ...cargo, model: { url, sha256: null, sizeBytes: null } };
    expect(fits({ ...folder, runtimeType: "engine" }, island({ key: url }))).toBe(true);
    expect(fits({ ...folder, runtimeType: "onnx" }, island({ key: url }))).toBe("runtime_missing");
  });
  it("returns true only for the features of the engine, not those of the agent", () => {
    const needy = { ...cargo, features: ["chat.json"] };
    expect(fits(needy, island({}, { features: ["chat.json"] }))).toBe("feature_missing");
    expect(fits(needy, island({ features: ["chat.json"] }))).toBe(true);
    expect(featuresFor(cargo, island({ features: ["chat.json"] }))).toEqual(["chat.json"]);
  });
  it("returns draining while other clients use all slots", () => {
    expect(fits(cargo, island({ slots: 0 }))).toBe("draining");
  });
  it("uses the Island's runtime for a Cargo with adapters", () => {
    const adapters = [{ ...model, sha256, scale: 1 }];
    expect(fits({ ...cargo, adapters }, island())).toBe("runtime_missing");
  });
  it("applies the owner's rules for the runtime engine", () => {
    const policy = { network: true, containerGpu: true, categories: { allow: null, deny: [] }, approvedOnly: false };
    const only = (name: "engine" | "llmcpp"): OwnerPolicy => ({ ...policy, runtimes: { allow: [name], deny: [] } });
    expect(fits(cargo, island({}, { policy: only("engine") }))).toBe(true);
    expect(fits(cargo, island({}, { policy: only("llmcpp") }))).toBe("runtime_disallowed");
  });
});
