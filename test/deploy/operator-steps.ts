import { call } from "../support/http/http.ts";
import { Program } from "../support/program.ts";
import { smallCatalog } from "../support/small-catalog.ts";

/** Flags and variables for the data of a network, and the version of `coordinator` to use. */
export interface Installation {
  readonly flags: readonly string[];
  readonly env?: Record<string, string>;
  /** Path of `bin/coordinator.ts`. Default: the file of this repository. */
  readonly program?: string;
}

/** Runs a command of `coordinator`. @returns its standard output. @throws with its output if it fails. */
export async function command(
  { flags, env, program = "coordinator" }: Installation,
  ...args: string[]
): Promise<string> {
  const { code, stdout, stderr } = await new Program(program, [...args, ...flags], env).ended();
  if (code !== 0) throw new Error(stdout + stderr);
  return stdout;
}

/** Creates an account. @returns its API key. */
export async function createAccount(installation: Installation, email: string): Promise<string> {
  const words = ["account", "create", "--email", email, "--password", "correct horse", "--with-key", "--json"];
  return (JSON.parse(await command(installation, ...words)) as { key: string }).key;
}

/** Serves while `use` runs with the address, then stops in order. */
export async function serving<T>(installation: Installation, use: (url: string) => Promise<T>): Promise<T> {
  const { flags, env, program } = installation;
  // The catalog of an older version has another format.
  const catalog = program === undefined ? ["--catalog-directory", smallCatalog()] : [];
  const args = ["serve", "--port", "0", "--log-level", "warn", ...catalog, ...flags];
  await using coordinator = new Program(program ?? "coordinator", args, env);
  const [, url = ""] = await coordinator.printed(/listening on (\S+)\n/);
  return await use(url);
}

/** Returns the status of `GET /account` for each API key. */
export function readStatuses(url: string, ...keys: string[]): Promise<number[]> {
  return Promise.all(keys.map(async (key) => (await call(url, key, "GET", "/account")).status));
}

/** Returns the signing key, which Islands pin, and its fingerprint. */
export function readSigningKey(installation: Installation): Promise<string> {
  return command(installation, "signing-key", "show");
}
