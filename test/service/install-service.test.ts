import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  installService,
  printService,
  removeService,
  type ServiceOptions,
} from "../../island-agent/cli/service-commands.ts";

let home: string;
let ran: string[];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "atoll-service-"));
  ran = [];
});
afterEach(() => rm(home, { recursive: true, force: true }));

const options = (more: Partial<ServiceOptions> = {}): ServiceOptions => ({
  platform: "linux",
  home,
  command: ["/opt/node/bin/node", "/opt/atoll/bin/island.js", "start", "--data", '/home/a b/100%/$x "y"'],
  dataDirectory: "/data",
  systemUser: null,
  run: async (program, args) => void ran.push([program, ...args].join(" ")),
  ...more,
});

describe("island install-service", () => {
  it("writes a unit of the user's own with systemd and starts it", async () => {
    const file = join(home, ".config/systemd/user/atoll-island.service");
    expect(await installService(options())).toBe(`Installed and started ${file}`);
    const unit = await readFile(file, "utf8");
    expect(unit).toContain(
      'ExecStart="/opt/node/bin/node" "/opt/atoll/bin/island.js" "start" "--data" "/home/a b/100%%/$$x \\"y\\""\n',
    );
    expect(unit).toContain("\nWantedBy=default.target\n");
    expect(unit).not.toContain("User=");
    expect(ran).toEqual(["systemctl --user daemon-reload", "systemctl --user enable --now atoll-island.service"]);
  });

  it("runs as the account that is named when it is the machine's", () => {
    const unit = printService(options({ systemUser: "atoll" }));
    expect(unit).toContain("\nUser=atoll\n");
    expect(unit).toContain("\nWantedBy=multi-user.target\n");
  });

  it("writes a property list for launchd", async () => {
    const said = await installService(options({ platform: "darwin", command: ["/usr/bin/node", "a&b", "<start>"] }));
    const file = join(home, "Library/LaunchAgents/network.atoll.island.plist");
    expect(said).toBe(`Installed and started ${file}`);
    const plist = await readFile(file, "utf8");
    expect(plist).toContain("<string>a&amp;b</string>\n    <string>&lt;start&gt;</string>");
    expect(plist).toContain("<key>StandardErrorPath</key><string>/data/island.log</string>");
    expect(ran).toEqual([`launchctl load -w ${file}`]);
  });

  it("says what to run by hand where it could not be run", async () => {
    const run = async (): Promise<never> => {
      throw new Error("Failed to connect to bus\nmore");
    };
    const said = await installService(options({ run }));
    expect(said).toContain("  systemctl --user daemon-reload\n  systemctl --user enable --now atoll-island.service\n");
    expect(said).toContain("(Failed to connect to bus)");
  });

  it("takes the service away again, also twice", async () => {
    await installService(options());
    await removeService(options());
    await removeService(options());
    expect(await readdir(join(home, ".config/systemd/user"))).toEqual([]);
    expect(ran.at(-1)).toBe("systemctl --user disable --now atoll-island.service");
  });

  it("refuses in words where it may not write, and on a platform that it does not know", async () => {
    await expect(installService(options({ home: "/dev/null" }))).rejects.toThrow(/cannot be written: .*ENOTDIR/);
    await expect(installService(options({ platform: "win32" }))).rejects.toThrow("no service to install on win32");
  });
});
