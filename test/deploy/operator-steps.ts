import { call } from "../support/http/http.ts";
import { Program } from "../support/program.ts";
import { smallCatalog } from "../support/small-catalog.ts";

/** Where a network's data is, and how: flags and variables, and which version of `coordinator` works on it. */
export interface Place {
  readonly flags: readonly string[];
  readonly env?: Record<string, string>;
  /** Path of its `bin/coordinator.ts`; by default the one of this repository. */
  readonly program?: string;
}

/** Runs a command of `coordinator` to its end. @returns what it prints. @throws with its output when it fails. */
export async function command({ flags, env, program = "coordinator" }: Place, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Program(program, [...args, ...flags], env).ended();
  if (code !== 0) throw new Error(stdout + stderr);
  return stdout;
}

/** Makes an account. @returns its API key. */
export async function createAccount(place: Place, email: string): Promise<string> {
  const words = ["account", "create", "--email", email, "--password", "correct horse", "--with-key", "--json"];
  return (JSON.parse(await command(place, ...words)) as { key: string }).key;
}

/** Serves, calls `use` with the address, and stops in an orderly way. */
export async function serving<T>(place: Place, use: (url: string) => Promise<T>): Promise<T> {
  const { flags, env, program } = place;
  // An older version has a catalog of its own form.
  const catalog = program === undefined ? ["--catalog-directory", smallCatalog()] : [];
  const args = ["serve", "--port", "0", "--log-level", "warn", ...catalog, ...flags];
  await using coordinator = new Program(program ?? "coordinator", args, env);
  const [, url = ""] = await coordinator.printed(/listening on (\S+)\n/);
  return await use(url);
}

/** What `GET /account` answers to each of these API keys. */
export function statusesOf(url: string, ...keys: string[]): Promise<number[]> {
  return Promise.all(keys.map(async (key) => (await call(url, key, "GET", "/account")).status));
}

/** The key that Islands have pinned: its fingerprint and itself. */
export function signingKeyOf(place: Place): Promise<string> {
  return command(place, "signing-key", "show");
}
