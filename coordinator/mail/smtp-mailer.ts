import { createTransport, type Transporter } from "nodemailer";
import type { Mail, Mailer } from "./mailer.ts";

export interface SmtpOptions {
  /** smtp://user:password@host:port; smtps:// for TLS from the first byte. STARTTLS is used where the server offers it. */
  readonly url: string;
  /** Sender: an address, or `Name <address>`. */
  readonly from: string;
}

/** Longest waits for the mail server. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 } as const;

/** Sends by SMTP, each mail over a connection of its own: mails are rare. */
export class SmtpMailer implements Mailer {
  readonly #transport: Transporter;
  readonly #from: string;

  constructor({ url, from }: SmtpOptions) {
    // Mails have no attachments; a text that names a file or URL must not be read.
    this.#transport = createTransport({ url, ...TIMEOUTS, disableFileAccess: true, disableUrlAccess: true });
    this.#from = from;
  }

  async send({ to, subject, text }: Mail): Promise<void> {
    await this.#transport.sendMail({ from: this.#from, to: { name: "", address: to }, subject, text });
  }
}
