import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { LAUNCHD_LABEL, launchdPlist, SYSTEMD_UNIT, systemdUnit, type ServiceSpec } from "../service/service-file.ts";
import { CliError } from "./cli-error.ts";

export interface ServiceOptions {
  readonly platform: string;
  readonly home: string;
  /** What starts the agent. */
  readonly command: readonly string[];
  readonly dataDirectory: string;
  /** The account to run as when it is a service of the machine; null: a service of the user who asks. */
  readonly systemUser: string | null;
  /** Runs a program of the platform; rejects when it fails. */
  readonly run?: (program: string, args: readonly string[]) => Promise<unknown>;
}

interface Plan {
  readonly file: string;
  readonly content: string;
  /** Programs that make the service known and start it. */
  readonly enable: readonly (readonly string[])[];
  readonly disable: readonly (readonly string[])[];
}

const runProgram: NonNullable<ServiceOptions["run"]> = (program, args) => promisify(execFile)(program, [...args]);

/** The service's file, without installing it. @throws {CliError} where the platform has no services that we know. */
export function printService(options: ServiceOptions): string {
  return planFor(options).content;
}

/**
 * `island install-service`: writes the service's file, makes it known and starts it, now and at every start of the machine (or
 * the user's session).
 * @returns what to say to the user, with the commands to run by hand where they could not be run.
 * @throws {CliError}
 */
export async function installService(options: ServiceOptions): Promise<string> {
  const { file, content, enable } = planFor(options);
  await mkdir(dirname(file), { recursive: true }).catch((error: unknown) => refuse(file, error));
  await writeFile(file, content, { mode: 0o644 }).catch((error: unknown) => refuse(file, error));
  const failed = await runAll(enable, options.run ?? runProgram);
  if (failed === null) return `Installed and started ${file}`;
  return `Wrote ${file}. To start it, run:\n${enable.map((words) => `  ${words.join(" ")}`).join("\n")}\n(${failed})`;
}

/** `island install-service --remove`: ends the service and takes its file away. */
export async function removeService(options: ServiceOptions): Promise<string> {
  const { file, disable } = planFor(options);
  await runAll(disable, options.run ?? runProgram);
  await rm(file, { force: true }).catch((error: unknown) => refuse(file, error));
  return `Removed ${file}`;
}

function planFor(options: ServiceOptions): Plan {
  if (options.platform === "linux") return systemdPlan(options);
  if (options.platform === "darwin") return launchdPlan(options);
  throw new CliError(`There is no service to install on ${options.platform}; run island start by its own means`);
}

function systemdPlan({ home, systemUser, command, dataDirectory }: ServiceOptions): Plan {
  const isSystem = systemUser !== null;
  const directory = isSystem ? "/etc/systemd/system" : join(home, ".config", "systemd", "user");
  const systemctl = (...args: string[]): string[] => ["systemctl", ...(isSystem ? [] : ["--user"]), ...args];
  return {
    file: join(directory, SYSTEMD_UNIT),
    content: systemdUnit(specOf(command, dataDirectory, systemUser)),
    enable: [systemctl("daemon-reload"), systemctl("enable", "--now", SYSTEMD_UNIT)],
    disable: [systemctl("disable", "--now", SYSTEMD_UNIT)],
  };
}

function launchdPlan({ home, systemUser, command, dataDirectory }: ServiceOptions): Plan {
  const directory = systemUser === null ? join(home, "Library", "LaunchAgents") : "/Library/LaunchDaemons";
  const file = join(directory, `${LAUNCHD_LABEL}.plist`);
  return {
    file,
    content: launchdPlist(specOf(command, dataDirectory, systemUser)),
    enable: [["launchctl", "load", "-w", file]],
    disable: [["launchctl", "unload", "-w", file]],
  };
}

function specOf(command: readonly string[], dataDirectory: string, user: string | null): ServiceSpec {
  return { command, user, logFile: join(dataDirectory, "island.log") };
}

/** Null when all went well, else why the first one did not. */
async function runAll(programs: Plan["enable"], run: NonNullable<ServiceOptions["run"]>): Promise<string | null> {
  for (const [program = "", ...args] of programs) {
    try {
      await run(program, args);
    } catch (error) {
      return error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error);
    }
  }
  return null;
}

function refuse(file: string, error: unknown): never {
  throw new CliError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
}
