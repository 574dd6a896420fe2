import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const SUITE = "bookworm";
const MAX_OUTPUT_BYTES = 16 * 2 ** 20;

/** Creates a minimal Debian 12 in `folder` from the machine's mirror. */
export async function makeDebianRoot(folder: string): Promise<void> {
  const targets = ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", `Release: ${SUITE}`];
  const { stdout } = await run("apt-get", targets);
  const [mirror = ""] = stdout.split("\n");
  await run("debootstrap", ["--variant=minbase", SUITE, folder, mirror], { maxBuffer: MAX_OUTPUT_BYTES });
}

/** Runs a shell script as root inside. @returns its output. @throws if it fails. */
export async function runInside(root: string, script: string): Promise<string> {
  const isolated = ["--mount", "--pid", "--fork", `--mount-proc=${join(root, "proc")}`, "chroot", root];
  const { stdout, stderr } = await run("unshare", [...isolated, "sh", "-ec", script]);
  return stdout + stderr;
}

/** Installs a package file inside, like `apt install ./file`. */
export async function installInside(root: string, file: string): Promise<string> {
  await copyFile(file, join(root, basename(file)));
  return runInside(root, `dpkg --install /${basename(file)}; rm /${basename(file)}`);
}

/** Imports the root file system as a container image. */
export async function importImage(root: string, host: string, name: string): Promise<void> {
  const tar = spawn("tar", ["--directory", root, "--create", "."], { stdio: ["ignore", "pipe", "inherit"] });
  const docker = spawn("docker", ["--host", host, "import", "-", name], { stdio: ["pipe", "ignore", "inherit"] });
  const ended = once(docker, "close");
  await pipeline(tar.stdout, docker.stdin);
  const [code] = await ended;
  if (code !== 0) throw new Error(`docker import ended with ${String(code)}`);
}
