import { execFile } from "node:child_process";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { LAUNCHD_LABEL, launchdPlist, SYSTEMD_UNIT, systemdUnit, type ServiceSpec } from "../service/service-file.ts";
import { readConfigFile } from "../config/config-file.ts";
import { resolveAgentConfig } from "../config/resolve-agent-config.ts";
import { CliError } from "../../shared/errors.ts";

export interface ServiceOptions {
  readonly platform: string;
  readonly home: string;
  readonly command: readonly string[];
  readonly dataDirectory: string;
  /** Account of a system service; null for a service of the current user. */
  readonly systemUser: string | null;
  /** Runs a program; rejects when it fails. */
  readonly run?: (program: string, args: readonly string[]) => Promise<unknown>;
}

interface Plan {
  readonly file: string;
  readonly content: string;
  /** Commands that register and restart the service, and fail if it does not run afterwards. */
  readonly enable: readonly (readonly string[])[];
  /** Commands that stop the service, then those that unregister it after its file is deleted. */
  readonly disable: readonly (readonly string[])[];
  readonly forget: readonly (readonly string[])[];
}

const runProgram: NonNullable<ServiceOptions["run"]> = (program, args) => promisify(execFile)(program, [...args]);

/** Returns the service's file, without installing it. @throws {CliError} on a platform without systemd or launchd. */
export function printService(options: ServiceOptions): string {
  return planFor(options).content;
}

/**
 * Runs `island install-service`: writes the service's file, registers it and starts the service, now and whenever the
 * machine (or the user's session) starts. A running service is restarted.
 * @returns text for the user, with the commands to run by hand when it could not be started.
 * @throws {CliError} also when the data directory has not joined a coordinator.
 */
export async function installService(options: ServiceOptions): Promise<{ text: string; isStarted: boolean }> {
  const { file, content, enable } = planFor(options);
  await assertJoined(options.dataDirectory);
  await mkdir(dirname(file), { recursive: true }).catch((error: unknown) => refuse(file, error));
  await writeFile(file, content, { mode: 0o644 }).catch((error: unknown) => refuse(file, error));
  const failed = await runAll(enable, options.run ?? runProgram);
  if (failed === null) return { text: `Installed and started ${file}`, isStarted: true };
  const text = `Created ${file}, but the service is not running: ${failed}\nTo start it, run:\n${linesOf(enable)}`;
  return { text, isStarted: false };
}

/**
 * Runs `island install-service --remove`: stops the service and deletes its file.
 * @returns text for the user.
 * @throws {CliError} when the service could not be stopped; its file is kept then.
 */
export async function removeService(options: ServiceOptions): Promise<string> {
  const { file, disable, forget } = planFor(options);
  const { run = runProgram } = options;
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new CliError(`Cannot read ${file}: ${error.message}`);
  });
  if (found === null) return `No service to remove: ${file} does not exist`;
  const failed = await runAll(disable, run);
  if (failed !== null) {
    throw new CliError(
      `Cannot stop the service, so ${file} was not deleted: ${failed}\nTo stop it, run:\n${linesOf(disable)}`,
    );
  }
  await rm(file, { force: true }).catch((error: unknown) => refuse(file, error));
  const unknown = await runAll(forget, run);
  return unknown === null ? `Removed ${file}` : `Removed ${file}. Also run:\n${linesOf(forget)}\n(${unknown})`;
}

/** Checks the settings in the file. A service does not see the environment of the user who installs it. */
async function assertJoined(dataDirectory: string): Promise<void> {
  const { coordinator } = resolveAgentConfig({ flags: {}, env: {}, file: await readConfigFile(dataDirectory) });
  const { apiUrls, token, publicKey } = coordinator;
  if (apiUrls !== null && token !== null && publicKey !== null) return;
  const command = `island join URL --data ${dataDirectory}`;
  throw new CliError(`${dataDirectory} has not joined a coordinator. First run: ${command}`);
}

function planFor(options: ServiceOptions): Plan {
  if (options.platform === "linux") return systemdPlan(options);
  if (options.platform === "darwin") return launchdPlan(options);
  throw new CliError(
    `island install-service does not support ${options.platform}. Run island start with another service manager`,
  );
}

function systemdPlan({ home, systemUser, command, dataDirectory }: ServiceOptions): Plan {
  const isSystem = systemUser !== null;
  const directory = isSystem ? "/etc/systemd/system" : join(home, ".config", "systemd", "user");
  const systemctl = (...args: string[]): string[] => ["systemctl", ...(isSystem ? [] : ["--user"]), ...args];
  return {
    file: join(directory, SYSTEMD_UNIT),
    content: systemdUnit(specOf(command, dataDirectory, systemUser)),
    enable: [
      systemctl("daemon-reload"),
      systemctl("enable", SYSTEMD_UNIT),
      systemctl("restart", SYSTEMD_UNIT),
      systemctl("is-active", "--quiet", SYSTEMD_UNIT),
    ],
    disable: [systemctl("disable", "--now", SYSTEMD_UNIT)],
    forget: [systemctl("daemon-reload")],
  };
}

function launchdPlan({ home, systemUser, command, dataDirectory }: ServiceOptions): Plan {
  const directory = systemUser === null ? join(home, "Library", "LaunchAgents") : "/Library/LaunchDaemons";
  const file = join(directory, `${LAUNCHD_LABEL}.plist`);
  return {
    file,
    content: launchdPlist(specOf(command, dataDirectory, systemUser)),
    // `unload` also succeeds when the service is not loaded.
    enable: [
      ["launchctl", "unload", file],
      ["launchctl", "load", "-w", file],
      ["launchctl", "list", LAUNCHD_LABEL],
    ],
    disable: [["launchctl", "unload", "-w", file]],
    forget: [],
  };
}

function specOf(command: readonly string[], dataDirectory: string, user: string | null): ServiceSpec {
  return { command, user, dataDirectory, logFile: join(dataDirectory, "island.log") };
}

function linesOf(programs: Plan["enable"]): string {
  return programs.map((words) => `  ${words.join(" ")}`).join("\n");
}

/** Returns null when all succeed, otherwise the error of the first that failed. */
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
  throw new CliError(`Cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`);
}
