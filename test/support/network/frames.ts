import type { Hello, IslandState } from "../../../shared/protocol/from-island.ts";

const GIB = 1_024 ** 3;

export function makeIslandState(override: Partial<IslandState> = {}): IslandState {
  return {
    cpuLoad: 0.1,
    freeRamBytes: 8 * GIB,
    freeVramBytes: null,
    cachedModels: [],
    loaded: [],
    downloads: [],
    ...override,
  };
}

/** Returns the `hello` of an Island that offers llmcpp, with these overrides. */
export function makeHello(override: Partial<Hello> & { ramBytes?: number } = {}): Hello {
  const { ramBytes = 16 * GIB, ...rest } = override;
  return {
    type: "hello",
    hostId: "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
    agentVersion: "0.1.0",
    hardware: {
      platform: "linux",
      arch: "x64",
      osName: "Debian 12",
      cpuModel: null,
      logicalCores: 8,
      physicalCores: 4,
      ramBytes,
      gpus: [],
      diskFreeBytes: 100 * GIB,
      diskBudgetBytes: 50 * GIB,
    },
    runtimes: [{ type: "llmcpp", version: "test" }],
    slots: 4,
    draining: false,
    held: [],
    state: makeIslandState(),
    ...rest,
  };
}
