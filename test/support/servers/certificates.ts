import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { requireDebian } from "./require-debian.ts";

const run = promisify(execFile);
const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];

/** Files of a certificate and its private key, in PEM. */
export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate authority for tests, with its certificates. */
export class Authority implements AsyncDisposable {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Creates an authority. @throws if openssl is not installed. */
  static async make(): Promise<Authority> {
    requireDebian("openssl", "openssl");
    const authority = new Authority(await mkdtemp(join(tmpdir(), "atoll-ca-")));
    await authority.#request("ca", []);
    return authority;
  }

  get caFile(): string {
    return join(this.directory, "ca.pem");
  }

  /** Signs a certificate. `alternative` is its subject alternative name, such as `DNS:localhost`. */
  async sign(name: string, alternative: string): Promise<Certificate> {
    const { caFile, directory } = this;
    const by = ["-CA", caFile, "-CAkey", join(directory, "ca.key")];
    const limits = ["-addext", "basicConstraints=critical,CA:false", "-addext", `subjectAltName=${alternative}`];
    return this.#request(name, [...by, ...limits]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  async #request(name: string, more: readonly string[]): Promise<Certificate> {
    const [certFile, keyFile] = [join(this.directory, `${name}.pem`), join(this.directory, `${name}.key`)];
    await run("openssl", [
      "req",
      "-x509",
      ...NEW_KEY,
      "-keyout",
      keyFile,
      "-out",
      certFile,
      "-subj",
      `/CN=${name}`,
      ...more,
    ]);
    return { certFile, keyFile };
  }
}
