import { describeCount } from "../../shared/cli/describe-count.ts";
import { fingerprintOf } from "../../shared/cargo-signature.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import type { Gpu } from "../../shared/hardware.ts";
import { describeDisk, describeShortage } from "../disk/describe-disk.ts";
import { describePolicy } from "../config/owner-policy.ts";
import { describeExamined } from "./engine-check.ts";
import {
  isProblem,
  type CoordinatorState,
  type Examination,
  type ExaminedRuntime,
  type Measured,
} from "./examination.ts";

export function describeExamination(found: Examination): string {
  const { runtimes, tokens, matrix } = found;
  return [
    ...section(
      "Runtimes",
      runtimes.map((runtime) => [runtime.type, runtime.probe.usable ? "usable" : "no", detailOf(runtime)]),
    ),
    ...(found.engines.length === 0
      ? []
      : section(
          "Engines",
          found.engines.flatMap(describeExamined).map((line) => [line]),
        )),
    ...section("Sandbox", sandboxRows(found.sandbox)),
    ...section("Owner's rules", [
      ...describePolicy(found.rules.policy).map((rule) => ["allowed", rule]),
      ...(found.rules.network.kind === "refused" ? [["network", found.rules.network.reason]] : []),
    ]),
    ...section("Hardware", hardwareRows(found)),
    ...section("Availability", availabilityRows(found)),
    ...section("Coordinator", [found.coordinator, ...found.otherCoordinators].flatMap(coordinatorRows)),
    ...section("Speed", [
      [
        "tokens",
        isProblem(tokens)
          ? `not measured: ${tokens.problem}`
          : `${tokens.tokensPerSecond} per second (${tokens.model})`,
      ],
      [
        "matrix",
        isProblem(matrix)
          ? `not measured: ${matrix.problem}`
          : `${matrix.gigaflops} GFLOP/s (${matrix.size} x ${matrix.size}, 32-bit)`,
      ],
    ]),
  ].join("\n");
}

function detailOf({ probe, agentProblem }: ExaminedRuntime): string {
  if (!probe.usable) return probe.reason;
  return agentProblem === undefined
    ? probe.version
    : `${probe.version}; not usable in the running agent: ${agentProblem}`;
}

function sandboxRows({ setting, kind, summary, remedy }: Examination["sandbox"]): string[][] {
  return [[kind, `${summary} (sandbox = ${setting})`], ...(remedy === null ? [] : [["advice", remedy]])];
}

function hardwareRows({ hardware, threads, ownersRamBytes, disk, agent }: Examination): string[][] {
  const { osName, platform, arch, cpuModel, logicalCores, ramBytes, gpus } = hardware;
  const shortage = describeShortage(disk);
  return [
    ["system", `${osName ?? platform} (${platform}, ${arch})`],
    [
      "CPU",
      `${cpuModel ?? "unknown"}, ${describeCount(logicalCores, "core")}, ${describeCount(threads, "thread")} for jobs`,
    ],
    ["RAM", describeRam(agent?.memoryCaps.ramBytes ?? ramBytes, ramBytes + ownersRamBytes)],
    ...(gpus.length === 0 ? [["GPU", "none found"]] : gpus.map((gpu) => ["GPU", describeGpu(gpu)])),
    ["disk", describeDisk(disk)],
    ...(shortage === null ? [] : [["", shortage]]),
  ];
}

function describeRam(cargoBytes: number, machineBytes: number): string {
  const ownersBytes = machineBytes - cargoBytes;
  const kept =
    ownersBytes > 0 ? ` of ${formatBytes(machineBytes)}, of which ${formatBytes(ownersBytes)} is reserved for you` : "";
  return `${formatBytes(cargoBytes)} for Cargos${kept}`;
}

function describeGpu({ name, vramBytes, unifiedMemory, driver }: Gpu): string {
  const memory =
    vramBytes === null ? "VRAM unknown" : `${formatBytes(vramBytes)} ${unifiedMemory ? "shared with the CPU" : "VRAM"}`;
  return `${name}, ${memory}${driver === null ? "" : `, driver ${driver}`}`;
}

function availabilityRows({ availability, agent }: Examination): string[][] {
  const { isPaused, hours, closedBecause } = availability;
  const advice = isPaused ? "; to accept them again: island resume" : "";
  return [
    ["new jobs", closedBecause === null ? "accepted" : `rejected: ${closedBecause}${advice}`],
    ["hours", hours ?? "day and night"],
    ["agent", agent === null ? "not running" : `running, ${agent.slotsBusy} of ${agent.slots} slots in use`],
  ];
}

function coordinatorRows(state: Measured<CoordinatorState> | null): string[][] {
  if (state === null) return [["", "not joined. Join with: island join URL"]];
  if (isProblem(state)) return [["", state.problem]];
  const { url, latencyMs, pinnedKey, keyProblem, tokenProblem } = state;
  return [
    ["address", `${url}, responds in ${latencyMs} ms`],
    ["key", keyProblem ?? `${fingerprintOf(pinnedKey ?? "")}, as pinned`],
    ["token", tokenProblem ?? "accepted"],
  ];
}

/** Formats a heading and its rows, with aligned columns. */
function section(title: string, rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns - 1 }, (_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  const lines = rows.map(
    (row) =>
      `  ${row.map((cell, column) => cell.padEnd(column === row.length - 1 ? 0 : (widths[column] ?? 0))).join("  ")}`,
  );
  return [title, ...lines.map((line) => line.trimEnd())];
}
