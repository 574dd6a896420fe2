import { accessSync, constants } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { AgentConfig } from "../../config/resolve-agent-config.ts";
import { type Environment, hostEnvironment } from "../host/host-environment.ts";
import { bubblewrap } from "./bubblewrap.ts";
import { jobObject } from "./job-object.ts";
import { INSTALL_BUBBLEWRAP, readKernelFacts, remedyFor } from "./remedies.ts";
import { sandboxExec } from "./sandbox-exec.ts";
import { BARE, type Sandbox, type SandboxKind, type SandboxNeeds } from "./sandbox.ts";
import { trySandbox } from "./try-sandbox.ts";
import { unshare } from "./unshare.ts";

type SandboxSetting = AgentConfig["sandbox"];

/** State of the sandbox, as reported to the owner. */
export interface SandboxState {
  readonly setting: SandboxSetting;
  readonly kind: SandboxKind;
  /** Rights of native host processes, with the reason if they are not restricted further. */
  readonly summary: string;
  /** Advice for a better sandbox, or null. */
  readonly remedy: string | null;
}

export interface SandboxChoice {
  readonly state: SandboxState;
  /** The sandbox. If null, native runtimes may not start, because the owner requires a sandbox. */
  readonly open: ((needs: SandboxNeeds) => Sandbox) | null;
}

export interface SandboxOptions {
  readonly setting: SandboxSetting;
  readonly platform: string;
  /** The agent's environment; its PATH is searched for programs. */
  readonly environment: Environment;
  /** Whether jobs may use the GPU. */
  readonly gpu: boolean;
  /** Private memory that one host may map; null for no limit. */
  readonly memoryLimitBytes: number | null;
}

const SUMMARIES: Readonly<Record<SandboxKind, string>> = {
  bubblewrap: "no network, no files except code and model, other processes hidden",
  unshare: "no network, other processes hidden; files with the rights of the agent's user",
  "sandbox-exec": "no network, no files except code and model (not tested on macOS)",
  "job object": "only a memory limit; files and network with the rights of the agent's user (not tested on Windows)",
  none: "native runtimes have all rights of the agent's user",
};

/** Finds the best sandbox for native runtimes by testing it. Never throws. */
export async function chooseSandbox(options: SandboxOptions): Promise<SandboxChoice> {
  const { setting, platform, memoryLimitBytes } = options;
  if (setting === "off") return chosenSandbox(setting, () => BARE);
  if (platform === "linux") return chooseOnLinux(options);
  if (platform !== "darwin" && platform !== "win32")
    return without(setting, `${platform} has no supported sandbox`, null);
  if (setting === "auto")
    return without(setting, "the sandbox of this system is not tested", "to use it, set sandbox = require");
  const open = platform === "darwin" ? sandboxExec : () => jobObject(memoryLimitBytes);
  const problem = await tried(open, options);
  return problem === null ? chosenSandbox(setting, open) : without(setting, problem, null);
}

async function chooseOnLinux(options: SandboxOptions): Promise<SandboxChoice> {
  const { setting, environment, memoryLimitBytes } = options;
  const bwrap = findProgram("bwrap", environment);
  let problem = "bubblewrap is not installed";
  let remedy = INSTALL_BUBBLEWRAP;
  if (bwrap !== null) {
    const open = (needs: SandboxNeeds): Sandbox => bubblewrap({ file: bwrap, memoryLimitBytes, ...needs });
    const refused = await tried(open, options);
    if (refused === null) return chosenSandbox(setting, open);
    problem = refused;
    remedy = remedyFor(refused, readKernelFacts());
  }
  if (setting === "auto") {
    const file = findProgram("unshare", environment);
    const setpriv = findProgram("setpriv", environment);
    if (file !== null && setpriv !== null) {
      const open = ({ network = false }: SandboxNeeds): Sandbox =>
        unshare({ file, setpriv, memoryLimitBytes, network });
      if ((await tried(open, options)) === null) return chosenSandbox(setting, open, problem, remedy);
    }
  }
  return without(setting, problem, remedy);
}

function tried(open: (needs: SandboxNeeds) => Sandbox, { environment, gpu }: SandboxOptions): Promise<string | null> {
  return trySandbox(open({ gpu, mayFork: false }), hostEnvironment(environment, {}));
}

function chosenSandbox(
  setting: SandboxSetting,
  open: (needs: SandboxNeeds) => Sandbox,
  problem: string | null = null,
  remedy: string | null = null,
): SandboxChoice {
  const { kind } = open({ gpu: false, mayFork: true });
  const summary = [SUMMARIES[kind], problem].filter((part) => part !== null).join(": ");
  return { state: { setting, kind, summary, remedy }, open };
}

function without(setting: SandboxSetting, problem: string, remedy: string | null): SandboxChoice {
  if (setting === "auto") return chosenSandbox(setting, () => BARE, problem, remedy);
  const summary = `native runtimes do not start: sandbox is set to require, and ${problem}`;
  return { state: { setting, kind: "none", summary, remedy }, open: null };
}

/** Returns the path of a program: `name` if it is a path, otherwise the file in a folder of PATH. Null: not found. */
export function findProgram(name: string, environment: Environment): string | null {
  if (isAbsolute(name)) return isExecutable(name) ? name : null;
  for (const folder of (environment["PATH"] ?? "").split(":")) {
    const file = join(folder, name);
    if (isAbsolute(folder) && isExecutable(file)) return file;
  }
  return null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
