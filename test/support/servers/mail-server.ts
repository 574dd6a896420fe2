import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

/** A received mail. `text` is the complete message with headers and body. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

const [USER, PASSWORD] = ["atoll", "mail secret"];

/** A mail server on a free port. Requires a password and offers no TLS. */
export class MailServer implements AsyncDisposable {
  readonly #server: SMTPServer;
  readonly #mails: ReceivedMail[] = [];
  #wake: () => void = () => undefined;

  private constructor() {
    this.#server = new SMTPServer({
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        username === USER && password === PASSWORD ? done(null, { user: USER }) : done(new Error("Wrong password")),
      onData: (stream, { envelope }, done) => {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => {
          const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
          const to = envelope.rcptTo.map(({ address }) => address);
          this.#mails.push({ from, to, text: Buffer.concat(chunks).toString() });
          this.#wake();
          done();
        });
      },
    });
  }

  static async open(): Promise<MailServer> {
    const mails = new MailServer();
    mails.#server.listen(0, "127.0.0.1");
    await once(mails.#server.server, "listening");
    return mails;
  }

  get url(): string {
    const { port } = this.#server.server.address() as AddressInfo;
    return `smtp://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`;
  }

  /** Number of mails that {@link next} has not returned yet. */
  get waiting(): number {
    return this.#mails.length;
  }

  async next(): Promise<ReceivedMail> {
    for (;;) {
      const mail = this.#mails.shift();
      if (mail !== undefined) return mail;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
