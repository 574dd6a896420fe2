import { generateKeyPairSync } from "node:crypto";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  installService,
  printService,
  removeService,
  type ServiceOptions,
} from "../../../island-agent/cli/service-commands.ts";
import { homeOf } from "../../../island-agent/service/home-of.ts";

let home: string;
let dataDirectory: string;
let commands: string[];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "atoll-service-"));
  commands = [];
  dataDirectory = join(home, "data");
  await mkdir(dataDirectory);
  const joined = `[coordinator]
api_url = "https://atoll.example"
token = "it_${"x".repeat(40)}"
public_key = "${generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "der" }).subarray(-32).toString("base64")}"
`;
  await writeFile(join(dataDirectory, "config.toml"), joined, { mode: 0o600 });
});
afterEach(() => rm(home, { recursive: true, force: true }));

const options = (more: Partial<ServiceOptions> = {}): ServiceOptions => ({
  platform: "linux",
  home,
  command: ["/opt/node/bin/node", "/opt/atoll/bin/island.js", "start", "--data", '/home/a b/100%/$x "y"'],
  dataDirectory,
  systemUser: null,
  run: async (program, args) => void commands.push([program, ...args].join(" ")),
  ...more,
});

describe("island install-service", () => {
  it("writes a user unit for systemd, and starts it", async () => {
    const file = join(home, ".config/systemd/user/atoll-island.service");
    expect(await installService(options())).toEqual({ text: `Installed and started ${file}`, isStarted: true });
    const unit = await readFile(file, "utf8");
    expect(unit).toContain(
      'ExecStart="/opt/node/bin/node" "/opt/atoll/bin/island.js" "start" "--data" "/home/a b/100%%/$$x \\"y\\""\n',
    );
    expect(unit).toContain("\nWantedBy=default.target\n");
    expect(unit).not.toContain("User=");
    expect(commands).toEqual([
      "systemctl --user daemon-reload",
      "systemctl --user enable atoll-island.service",
      "systemctl --user restart atoll-island.service",
      "systemctl --user is-active --quiet atoll-island.service",
    ]);
  });

  it("runs a system service as the given account", () => {
    const unit = printService(options({ systemUser: "atoll" }));
    expect(unit).toContain("\nUser=atoll\n");
    expect(unit).toContain("\nWantedBy=multi-user.target\n");
  });

  it("drops rights that neither the agent nor its sandbox needs", () => {
    const user = printService(options());
    const system = printService(options({ systemUser: "atoll", dataDirectory: '/home/a b/100%/$x "y"' }));
    for (const unit of [user, system]) {
      expect(unit).toContain("\nNoNewPrivileges=true\n");
      expect(unit).toContain("\nRestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK\n");
      // The agent continues after the kernel has killed a model for its memory.
      expect(unit).toContain("\nOOMPolicy=continue\n");
      // These restrictions prevent bubblewrap from starting, or hide GPUs.
      expect(unit).not.toMatch(
        /^(RestrictNamespaces|ProtectKernelTunables|ProtectKernelLogs|ProtectProc|ProtectHostname|PrivateDevices|ProtectClock)=/m,
      );
    }
    expect(system).toContain("\nProtectSystem=strict\n");
    expect(system).toContain('\nReadWritePaths="/home/a b/100%%/$x \\"y\\""\n');
    expect(system).toContain("\nCapabilityBoundingSet=\n");
    expect(printService(options({ systemUser: "root" }))).not.toContain("CapabilityBoundingSet");
    // A user's systemd lacks the rights for these restrictions.
    expect(user).not.toMatch(/ProtectSystem|CapabilityBoundingSet|PrivateTmp/);
  });

  it("writes a property list for launchd", async () => {
    const result = await installService(options({ platform: "darwin", command: ["/usr/bin/node", "a&b", "<start>"] }));
    const file = join(home, "Library/LaunchAgents/network.atoll.island.plist");
    expect(result).toEqual({ text: `Installed and started ${file}`, isStarted: true });
    const plist = await readFile(file, "utf8");
    expect(plist).toContain("<string>a&amp;b</string>\n    <string>&lt;start&gt;</string>");
    expect(plist).toContain(`<key>StandardErrorPath</key><string>${dataDirectory}/island.log</string>`);
    expect(commands).toEqual([
      `launchctl unload ${file}`,
      `launchctl load -w ${file}`,
      "launchctl list network.atoll.island",
    ]);
  });

  it("returns the commands to run manually if they fail", async () => {
    const run = async (): Promise<never> => {
      throw new Error("Failed to connect to bus\nmore");
    };
    const { text, isStarted } = await installService(options({ run }));
    expect(isStarted).toBe(false);
    expect(text).toContain("but the service is not running: Failed to connect to bus\n");
    expect(text).toContain("  systemctl --user daemon-reload\n  systemctl --user enable atoll-island.service\n");
  });

  it("does not report a started service if it is not active", async () => {
    const run = async (_program: string, args: readonly string[]): Promise<void> => {
      if (args.includes("is-active")) throw new Error("Command failed: systemctl --user is-active");
    };
    expect((await installService(options({ run }))).isStarted).toBe(false);
  });

  it("refuses a data directory that has not joined a coordinator", async () => {
    await rm(join(dataDirectory, "config.toml"));
    await expect(installService(options())).rejects.toThrow(`${dataDirectory} has not joined a coordinator`);
    expect(await readdir(home)).toEqual(["data"]);
    expect(commands).toEqual([]);
  });

  it("does not restart after a final goodbye, or endlessly after failures", () => {
    const unit = printService(options());
    expect(unit).toContain("\nRestartPreventExitStatus=3\n");
    expect(unit).toMatch(/\[Unit\][^[]*\nStartLimitIntervalSec=300\nStartLimitBurst=10\n/);
  });

  it("removes the service, and may do so twice", async () => {
    await installService(options());
    commands = [];
    expect(await removeService(options())).toMatch(/^Removed /);
    expect(await readdir(join(home, ".config/systemd/user"))).toEqual([]);
    expect(commands).toEqual(["systemctl --user disable --now atoll-island.service", "systemctl --user daemon-reload"]);
    expect(await removeService(options())).toMatch(/^No service to remove: /);
    expect(commands).toHaveLength(2);
  });

  it("keeps the file of a service that could not be stopped", async () => {
    await installService(options());
    const run = async (): Promise<never> => {
      throw new Error("Failed to connect to bus");
    };
    await expect(removeService(options({ run }))).rejects.toThrow("was not deleted: Failed to connect to bus");
    expect(await readdir(join(home, ".config/systemd/user"))).toEqual(["atoll-island.service"]);
  });

  it("reports a path that is not writable, and an unsupported platform", async () => {
    await expect(installService(options({ home: "/dev/null" }))).rejects.toThrow(/^Cannot write .*ENOTDIR/);
    await expect(installService(options({ platform: "win32" }))).rejects.toThrow("does not support win32");
  });
});

describe("homeOf()", () => {
  it("returns the home directory of a user, independent of HOME", async () => {
    expect(await homeOf("root")).toBe(process.platform === "darwin" ? "/var/root" : "/root");
    expect(await homeOf(userInfo().username)).toBe(userInfo().homedir);
  });

  it.each(["no-such-user-here", "a b", "$(id)", "-x", ""])("refuses %j", async (user) => {
    await expect(homeOf(user)).rejects.toThrow(/no user|Invalid user name/);
  });
});
