/** A service that keeps the agent of one data directory running. */
export interface ServiceSpec {
  /** Command, which is an absolute path, and its arguments. */
  readonly command: readonly string[];
  readonly dataDirectory: string;
  /** Log file on macOS, which has no journal. */
  readonly logFile: string;
  /** Account of a system service; null for a service of the current user. */
  readonly user: string | null;
}

export const SYSTEMD_UNIT = "atoll-island.service";
export const LAUNCHD_LABEL = "network.atoll.island";

/** Exit code of `island start` when the coordinator permanently refuses the Island. Prevents a restart. */
export const REFUSED_EXIT_CODE = 3;

/** Stop timeout. Longer than the agent's own limits after SIGTERM, for running jobs and for the last results. */
const MAX_STOP_S = 90;
const RESTART_AFTER_S = 10;
/** Number of failures within `STARTS_WITHIN_S` after which the service is not restarted. */
const MAX_STARTS = 10;
const STARTS_WITHIN_S = 300;

/**
 * Restrictions of rights that the agent does not need. Some are omitted because bubblewrap could not start under them:
 * RestrictNamespaces, ProtectKernelTunables, ProtectKernelLogs and ProtectProc (it mounts its own /proc),
 * ProtectHostname (it sets one). PrivateDevices and ProtectClock are omitted because they hide GPUs. Source:
 * systemd.exec(5).
 */
const HARDENING = `NoNewPrivileges=true
LockPersonality=true
RestrictRealtime=true
RestrictSUIDSGID=true
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
UMask=0077
`;
/** Restrictions that only the system's manager may set: the service's view of the file system, and its capabilities. */
const SYSTEM_HARDENING = `KeyringMode=private
PrivateTmp=true
ProtectControlGroups=true
ProtectKernelModules=true
ProtectSystem=strict
`;
/** Not set for root, which without capabilities cannot map itself into the user namespace of a sandbox. */
const NO_CAPABILITIES = "CapabilityBoundingSet=\n";
/** Maximum number of processes and threads of the agent and its models. */
const MAX_TASKS = 4_096;

/** Returns a unit file. Source: systemd.service(5), systemd.exec(5), systemd.unit(5). */
export function systemdUnit({ command, user, dataDirectory }: ServiceSpec): string {
  const isSystem = user !== null;
  const fewerOfSystem = `${SYSTEM_HARDENING}ReadWritePaths=${quotePath(dataDirectory)}\n`;
  return `[Unit]
Description=Atoll Island: runs jobs for a compute network
${user === null ? "" : "Wants=network-online.target\nAfter=network-online.target\n"}StartLimitIntervalSec=${STARTS_WITHIN_S}
StartLimitBurst=${MAX_STARTS}

[Service]
Type=exec
ExecStart=${command.map(quoteForSystemd).join(" ")}
${user === null ? "" : `User=${user}\n`}Restart=on-failure
RestartSec=${RESTART_AFTER_S}
RestartPreventExitStatus=${REFUSED_EXIT_CODE}
TimeoutStopSec=${MAX_STOP_S}
KillMode=mixed
OOMPolicy=continue
TasksMax=${MAX_TASKS}
${HARDENING}${isSystem ? fewerOfSystem : ""}${isSystem && user !== "root" ? NO_CAPABILITIES : ""}
[Install]
WantedBy=${user === null ? "default.target" : "multi-user.target"}
`;
}

/** Returns a property list for launchd. Source: launchd.plist(5). */
export function launchdPlist({ command, logFile, user }: ServiceSpec): string {
  const string = (text: string): string => `<string>${escapeXml(text)}</string>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${string(LAUNCHD_LABEL)}
  <key>ProgramArguments</key>
  <array>
${command.map((argument) => `    ${string(argument)}`).join("\n")}
  </array>
${user === null ? "" : `  <key>UserName</key>${string(user)}\n`}  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>${RESTART_AFTER_S}</integer>
  <key>ExitTimeOut</key><integer>${MAX_STOP_S}</integer>
  <key>StandardOutPath</key>${string(logFile)}
  <key>StandardErrorPath</key>${string(logFile)}
</dict>
</plist>
`;
}

/** Quotes a path, in which `$` has no special meaning. */
function quotePath(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;
}

/** Quotes one argument. In a unit, `%` starts a specifier and `$` a variable. */
function quoteForSystemd(argument: string): string {
  const escaped = argument
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("%", "%%")
    .replaceAll("$", "$$$$");
  return `"${escaped}"`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
