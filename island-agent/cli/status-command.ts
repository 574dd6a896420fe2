import { formatAge } from "../../shared/cli/format-age.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import { describeDisk, describeShortage, type DiskState } from "../disk/describe-disk.ts";
import { describePolicy } from "../config/owner-policy.ts";
import { describeDownload } from "../artifacts/describe-download.ts";
import { getFromAgent } from "../control/control-client.ts";
import { readLastEnd } from "../control/last-end.ts";
import type { AgentStatus } from "../execution/island-reports.ts";
import { describeEngine } from "../runtimes/engine/describe-engine.ts";
import type { UnusableRuntime } from "../runtimes/runtime-probes.ts";
import type { SandboxState } from "../runtimes/sandbox/choose-sandbox.ts";

/** Status of an agent. Agents of earlier versions report fewer members. */
export interface ShownStatus extends AgentStatus {
  readonly unusable?: readonly UnusableRuntime[];
  readonly sandbox?: SandboxState;
  readonly disk?: DiskState;
  /** Cargos that jobs or the owner could not download for lack of disk space. */
  readonly noSpaceFor?: readonly string[];
}

/** Reads the status of the running agent; null when no agent runs on this data directory. */
export async function readStatus(dataDirectory: string): Promise<ShownStatus | null> {
  return (await getFromAgent<ShownStatus>(dataDirectory, "/status")) ?? null;
}

/** Returns the text shown when no agent runs. @param startLine the command that starts it. */
export async function describeAbsence(dataDirectory: string, startLine: string, nowMs: number): Promise<string> {
  const end = await readLastEnd(dataDirectory);
  const last = end === null ? "" : ` The last one stopped ${formatAge(nowMs - end.atMs)} ago: ${end.reason}.`;
  return `No agent is running on this data directory.${last} Start it with: ${startLine}`;
}

export function describeStatus(status: ShownStatus): string {
  const { link, coordinatorUrl, counts, running, slots, memoryCaps } = status;
  const rows: [string, string][] = [
    ["Coordinator", `${coordinatorUrl} (${[link, status.closedBecause].filter((part) => part !== null).join(", ")})`],
    ["Host id", status.hostId],
    ["Runtimes", status.runtimes.map(({ type, version }) => `${type} ${version}`).join(", ") || "none"],
    ...(status.unusable ?? []).flatMap(describeUnusable),
    ...(status.sandbox === undefined ? [] : describeSandbox(status.sandbox)),
    ...describeEngines(status),
    ["In memory", status.loaded.map(describeLoaded).join(", ") || "nothing"],
    ...describeInProgress(status),
    ["For Cargos", describeMemory(memoryCaps.ramBytes, memoryCaps.vramBytes)],
    ...(status.disk === undefined ? [] : [["Disk", describeDisk(status.disk)] satisfies [string, string]]),
    ...describeNoSpace(status),
    ...describeMachine(status),
    ["Jobs", `${running.length} of ${slots} slots in use`],
    [
      "So far",
      `${counts.completed} completed, ${counts.failed} failed, ${counts.cancelled} cancelled, ${counts.tokens} tokens`,
    ],
  ];
  if (status.policy !== undefined) rows.push(["Allowed", describePolicy(status.policy).join("; ")]);
  if (status.quarantine) rows.push(["Quarantine", describeQuarantine(status.quarantine)]);
  if (status.lastProblem !== null) rows.push(["Last problem", status.lastProblem]);
  const jobs = running.map(({ jobId, slug, forMs }) => `  ${jobId}  ${slug}  ${inSeconds(forMs)}`);
  const lines = rows.map(([name, value]) => `${name.padEnd(13)}${value}`);
  return [...lines, ...jobs, ...describePreload(status.preload)].join("\n");
}

/** Returns a row for each engine. */
export function describeEngines({ engines = [] }: ShownStatus): [string, string][] {
  return engines.map((engine, index) => [index === 0 ? "Engines" : "", describeEngine(engine)]);
}

export function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** Returns the Cargos for which the disk lacks space, and advice. */
export function describeNoSpace({ disk, noSpaceFor = [] }: ShownStatus): [string, string][] {
  const shortage = disk === undefined ? null : describeShortage(disk);
  const lines = [
    ...(noSpaceFor.length === 0 ? [] : [`not enough space for ${noSpaceFor.join(", ")}`]),
    ...(shortage === null ? [] : [shortage]),
  ];
  return lines.length === 0 ? [] : [["Disk space", lines.join("; ")]];
}

function describeQuarantine({ inARow, forMs, lastCode }: NonNullable<AgentStatus["quarantine"]>): string {
  const why = `${inARow} jobs in a row failed (last: ${lastCode})`;
  const next =
    forMs === 0 ? "one test job at a time is accepted" : `no jobs for ${Math.ceil(forMs / 1_000)} s, then one test job`;
  return `${why}; ${next}. See the log of the agent, and run: island doctor`;
}

/** Describes a runtime that is probed again. `island doctor` names the other unusable runtimes. */
function describeUnusable({ type, reason, retryAtMs }: UnusableRuntime): [string, string][] {
  if (retryAtMs === null) return [];
  return [["Not offered", `${type}: ${reason} (next check at ${new Date(retryAtMs).toISOString()})`]];
}

function describeSandbox({ kind, remedy }: SandboxState): [string, string][] {
  return [["Sandbox", remedy === null ? kind : `${kind}; ${remedy}`]];
}

/** Returns the known metrics, such as "CPU 12 %, GPU 87 %, 71 °C, 9.4 GiB of RAM free". */
export function describeMachine({ usage }: ShownStatus): [string, string][] {
  if (usage === undefined) return [];
  const { cpuLoad, gpuLoad, temperatureC, freeRamBytes, freeVramBytes } = usage;
  const isKnown = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined;
  const parts = [
    ...(isKnown(cpuLoad) ? [`CPU ${Math.round(cpuLoad * 100)} %`] : []),
    ...(isKnown(gpuLoad) ? [`GPU ${Math.round(gpuLoad * 100)} %`] : []),
    ...(isKnown(temperatureC) ? [`${temperatureC} °C`] : []),
    ...(isKnown(freeRamBytes) ? [`${formatBytes(freeRamBytes)} of RAM free`] : []),
    ...(isKnown(freeVramBytes) ? [`${formatBytes(freeVramBytes)} of VRAM free`] : []),
  ];
  return parts.length === 0 ? [] : [["Machine", parts.join(", ")]];
}

function describeInProgress({ downloads = [], loading = [] }: ShownStatus): [string, string][] {
  return [
    ...downloads.map((each): [string, string] => ["Downloading", `${each.slug} ${describeDownload(each)}`.trimEnd()]),
    ...(loading.length === 0 ? [] : [["Loading", loading.join(", ")] satisfies [string, string]]),
  ];
}

function describePreload(preload: AgentStatus["preload"]): string[] {
  if (preload === null) return ["Preload      off"];
  const { receivedAtMs, problem, items } = preload;
  const recommendations =
    receivedAtMs === null ? "no recommendations yet" : `recommendations of ${new Date(receivedAtMs).toISOString()}`;
  const lines = items.map(({ slug, state, detail, reason }) => {
    return `  ${slug}: ${state}${detail === "" ? "" : ` (${detail})`}; ${reason}`;
  });
  return [`Preload      ${problem ?? recommendations}`, ...lines];
}

function describeLoaded({ slug, ramBytes, vramBytes }: AgentStatus["loaded"][number]): string {
  return `${slug} (${describeMemory(ramBytes, vramBytes)})`;
}

/** Returns "116.0 MiB RAM", with VRAM when it is above 0 or unknown. */
function describeMemory(ramBytes: number, vramBytes: number | null): string {
  const ram = `${formatBytes(ramBytes)} RAM`;
  if (vramBytes === 0) return ram;
  return `${ram}, ${vramBytes === null ? "unknown" : formatBytes(vramBytes)} VRAM`;
}
