import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BuiltPackage } from "./built-package.ts";
import { SdkFixture, token } from "./sdk-fixture.ts";

const PIECES = ["Hello ", "from ", "afar: é→😀"];
/** Report of the program without a global `process`. */
export const RESULT = { text: PIECES.join(""), status: "cancelled", isTyped: true, process: "undefined" };

/** The built package, and a coordinator with a completed job for its program. */
export class PackedClient implements AsyncDisposable {
  readonly built: BuiltPackage;
  readonly fixture: SdkFixture;
  readonly #jobId: string;

  private constructor(built: BuiltPackage, fixture: SdkFixture, jobId: string) {
    this.built = built;
    this.fixture = fixture;
    this.#jobId = jobId;
  }

  static async open(): Promise<PackedClient> {
    const [built, fixture] = await Promise.all([BuiltPackage.build(), SdkFixture.open()]);
    return new PackedClient(built, fixture, await fixture.completed(...PIECES.map(token)));
  }

  /**
   * Returns a module that ends with a constant `result`. It reads the job over a broken connection, to cover headers of
   * a resumed stream.
   */
  program(client: string): string {
    const { proxy, apiKey } = this.fixture;
    return `
  import { Atoll, JobFailedError } from ${JSON.stringify(client)};
  const atoll = new Atoll(${JSON.stringify({ baseUrl: proxy.url, apiKey })});
  let text = "";
  for await (const event of atoll.jobs.stream(${JSON.stringify(this.#jobId)})) if (event.type === "token") text += event.content;
  const { id } = await atoll.jobs.submit({ workload: "tiny-chat", input: { prompt: "Hi" } });
  const { status } = await atoll.jobs.cancel(id);
  const failure = await atoll.jobs.wait(id).catch((error) => error);
  const result = { text, status, isTyped: failure instanceof JobFailedError, process: typeof process };
`;
  }

  /** Returns the program's report in this Node.js, without a global `process`. */
  async runWithoutProcess(executable: string): Promise<unknown> {
    const bare = `
      const print = console.log;
      delete globalThis.process;
      print(JSON.stringify((await import("./program.mjs")).default));
    `;
    await writeFile(join(this.built.directory, "bare.mjs"), bare);
    await writeFile(
      join(this.built.directory, "program.mjs"),
      `${this.program("@atoll/client")}\nexport default result;`,
    );
    this.fixture.proxy.script({ kind: "cut", afterBytes: 200 });
    return JSON.parse(await this.built.node(["bare.mjs"], {}, executable));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.built[Symbol.asyncDispose]();
    await this.fixture[Symbol.asyncDispose]();
  }
}
