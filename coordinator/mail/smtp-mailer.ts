import type { Transporter } from "nodemailer";
import type { Mail, Mailer } from "./mailer.ts";

export interface SmtpOptions {
  /** smtp://user:password@host:port; smtps:// for TLS from the first byte. STARTTLS is used where the server offers it. */
  readonly url: string;
  /** Sender: an address, or `Name <address>`. */
  readonly from: string;
}

/** Longest waits for the mail server. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 } as const;

/** Sends by SMTP, each mail over a connection of its own: mails are rare, and the library is loaded with the first. */
export class SmtpMailer implements Mailer {
  readonly #options: SmtpOptions;
  #transport: Promise<Transporter> | null = null;

  constructor(options: SmtpOptions) {
    this.#options = options;
  }

  async send({ to, subject, text }: Mail): Promise<void> {
    this.#transport ??= openTransport(this.#options.url);
    const transport = await this.#transport;
    await transport.sendMail({ from: this.#options.from, to: { name: "", address: to }, subject, text });
  }
}

async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  // Mails have no attachments; a text that names a file or URL must not be read.
  return createTransport({ url, ...TIMEOUTS, disableFileAccess: true, disableUrlAccess: true });
}
