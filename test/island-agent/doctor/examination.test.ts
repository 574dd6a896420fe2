import { describe, expect, it } from "vitest";
import { describeExamination } from "../../../island-agent/doctor/describe-examination.ts";
import { isFit, listRuntimes, type Examination } from "../../../island-agent/doctor/examination.ts";
import { ALLOWS_ALL, makeHardware } from "../builders.ts";

const GIB = 1_073_741_824;
const found: Examination = {
  runtimes: [
    { type: "llmcpp", probe: { usable: true, version: "node-llama-cpp 3, cpu" } },
    { type: "container", probe: { usable: false, reason: "no engine answers at /var/run/docker.sock" } },
  ],
  engines: [],
  rules: { policy: ALLOWS_ALL, network: { kind: "filtered" } },
  sandbox: { setting: "auto", kind: "unshare", summary: "no network", remedy: "install bubblewrap" },
  hardware: makeHardware({
    cpuModel: "A CPU",
    gpus: [{ vendor: "NVIDIA", name: "RTX 4090", vramBytes: 24 * GIB, unifiedMemory: false, driver: "550.1" }],
  }),
  threads: 1,
  ownersRamBytes: 4 * GIB,
  disk: { usedBytes: 2 * GIB, budgetBytes: 50 * GIB, freeBytes: 30 * GIB, minFreeBytes: 5 * GIB },
  availability: { isPaused: false, hours: null, closedBecause: null },
  agent: null,
  coordinator: {
    url: "https://atoll.example",
    latencyMs: 3.2,
    pinnedKey: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    keyProblem: null,
    tokenProblem: null,
  },
  otherCoordinators: [],
  tokens: { tokensPerSecond: 412, model: "tiny-islander.gguf" },
  matrix: { problem: "the runtime is not usable" },
};

describe("describeExamination()", () => {
  it.each([
    [
      { usedBytes: 2 * GIB, budgetBytes: 50 * GIB, freeBytes: null, minFreeBytes: 0 },
      ["models 2.0 GiB of 50.0 GiB; free space unknown"],
    ],
    [
      { usedBytes: null, budgetBytes: 50 * GIB, freeBytes: 90 * GIB, minFreeBytes: 0 },
      ["models unknown of 50.0 GiB; 90.0 GiB free"],
    ],
    [
      { usedBytes: 2 * GIB, budgetBytes: 50 * GIB, freeBytes: 3 * GIB, minFreeBytes: 5 * GIB },
      [
        "models 2.0 GiB of 2.0 GiB; 3.0 GiB free, less than the 5.0 GiB that must stay free",
        "0 KiB left for models: free space, for example with island models prune, or lower models.min_free_gb",
      ],
    ],
  ])("shows how much of the budget fits on the disk, with advice if that is little (%#)", (disk, expected) => {
    const lines = describeExamination({ ...found, disk }).split("\n");
    const first = lines.findIndex((line) => line.startsWith("  disk"));
    const texts = lines.slice(first, first + expected.length).map((line) => line.replace(/^ *(disk)? */, ""));
    expect(texts).toEqual(expected);
    expect(lines[first + expected.length]).toBe("Availability");
  });

  it("returns a table of runtimes, sandbox, rules, hardware, availability, coordinator and speed", () => {
    expect(describeExamination(found).split("\n")).toEqual([
      "Runtimes",
      "  llmcpp     usable  node-llama-cpp 3, cpu",
      "  container  no      no engine answers at /var/run/docker.sock",
      "Sandbox",
      "  unshare  no network (sandbox = auto)",
      "  advice   install bubblewrap",
      "Owner's rules",
      "  allowed  containers with a network",
      "Hardware",
      "  system  Debian 12 (linux, x64)",
      "  CPU     A CPU, 8 cores, 1 thread for jobs",
      "  RAM     16.0 GiB for Cargos of 20.0 GiB, of which 4.0 GiB is reserved for you",
      "  GPU     RTX 4090, 24.0 GiB VRAM, driver 550.1",
      "  disk    models 2.0 GiB of 27.0 GiB; 30.0 GiB free, of which 5.0 GiB must stay free",
      "Availability",
      "  new jobs  accepted",
      "  hours     day and night",
      "  agent     not running",
      "Coordinator",
      "  address  https://atoll.example, responds in 3.2 ms",
      "  key      SHA256:If4x36FUomFia/hUBG/SJxt77UtqvkWqWId+9H+XIbk, as pinned",
      "  token    accepted",
      "Speed",
      "  tokens  412 per second (tiny-islander.gguf)",
      "  matrix  not measured: the runtime is not usable",
    ]);
  });

  it("shows slots and memory of the running agent", () => {
    const agent = { slots: 4, slotsBusy: 1, memoryCaps: { ramBytes: 2 * GIB, vramBytes: null } };
    const text = describeExamination({ ...found, agent });
    expect(text).toContain("  agent     running, 1 of 4 slots in use\n");
    expect(text).toContain("  RAM     2.0 GiB for Cargos of 20.0 GiB, of which 18.0 GiB is reserved for you\n");
  });

  it("names runtimes that work here but not in the running agent", () => {
    const probes = new Map([["llmcpp", { usable: true, version: "3, cpu" } as const]] as const);
    const runtimes = listRuntimes(probes, new Map([["llmcpp", "it was killed"]]));
    expect(describeExamination({ ...found, runtimes })).toContain(
      "usable  3, cpu; not usable in the running agent: it was killed",
    );
  });

  it("shows the engines that the owner lends", () => {
    const models = [{ id: "qwen3:8b", task: null, contextTokens: 8_192, identity: "file hash" as const }];
    const ollama = { url: "http://127.0.0.1:11434", name: "Ollama", models, agent: null, problem: null };
    const silent = { ...ollama, url: "http://127.0.0.1:8080", name: null, models: [], problem: "It does not respond" };
    const engines = [
      { ...ollama, slots: 4, slotsAre: "measured" as const },
      { ...silent, slots: null, slotsAre: null },
    ];
    const lines = describeExamination({ ...found, engines }).split("\n");
    expect(lines.slice(lines.indexOf("Engines"), lines.indexOf("Sandbox"))).toEqual([
      "Engines",
      "  Ollama at http://127.0.0.1:11434, 4 slots (measured)",
      "    qwen3:8b, 8192 tokens of context, proved by the hash of its file",
      "  http://127.0.0.1:8080",
      "    Problem: It does not respond",
    ]);
  });

  it("shows why new jobs are rejected, and the hours", () => {
    const paused = { isPaused: true, hours: "22:00-07:00", closedBecause: "paused" };
    expect(describeExamination({ ...found, availability: paused })).toContain(
      "  new jobs  rejected: paused; to accept them again: island resume\n  hours     22:00-07:00\n",
    );
    const closedBecause = "outside its hours (22:00-07:00)";
    expect(describeExamination({ ...found, availability: { ...paused, isPaused: false, closedBecause } })).toContain(
      `  new jobs  rejected: ${closedBecause}\n`,
    );
  });

  it("shows a problem of the coordinator, or that none is joined", () => {
    const { problem } = { problem: "Cannot reach https://atoll.example: connect ECONNREFUSED" };
    expect(describeExamination({ ...found, coordinator: { problem } })).toContain(`Coordinator\n    ${problem}\n`);
    expect(describeExamination({ ...found, coordinator: null })).toContain("not joined. Join with: island join URL");
  });
});

describe("describeExamination() of a network with several coordinators", () => {
  it("returns rows for each address", () => {
    const otherCoordinators = [{ problem: "Cannot reach https://b.example: connect ECONNREFUSED" }];
    expect(describeExamination({ ...found, otherCoordinators })).toMatch(
      /Coordinator\n {2}address {2}https:\/\/atoll\.example, .*\n.*\n.*\n +Cannot reach https:\/\/b\.example/,
    );
  });
});

describe("listRuntimes()", () => {
  it("lists all six types, with the reason if one was not probed", () => {
    const probe = { usable: true, version: "1" } as const;
    const listed = listRuntimes(new Map([["llmcpp", probe]]));
    expect(listed.map(({ type }) => type).sort()).toEqual([
      "container",
      "coreml",
      "diffusers",
      "llmcpp",
      "onnx",
      "wasm",
    ]);
    expect(listed).toContainEqual({ type: "llmcpp", probe });
    expect(listed).toContainEqual({
      type: "container",
      probe: { usable: false, reason: "containers.enabled is false" },
    });
  });
});

describe("isFit()", () => {
  it("returns false if no runtime and no engine is usable", () => {
    expect(isFit(found)).toBe(true);
    const unfit = { ...found, runtimes: found.runtimes.slice(1) };
    const engine = { url: "http://127.0.0.1:1", name: "Ollama", models: [], slots: 1, slotsAre: null, agent: null };
    expect(isFit(unfit)).toBe(false);
    expect(isFit({ ...unfit, engines: [{ ...engine, problem: "It serves no model" }] })).toBe(false);
    expect(isFit({ ...unfit, engines: [{ ...engine, problem: null }] })).toBe(true);
  });
});
