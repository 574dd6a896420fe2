import type { Transporter } from "nodemailer";

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends a mail. Resolves when the mail server has accepted it; rejects with the transport's error. */
export type SendMail = (mail: Mail) => Promise<void>;

const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 } as const;

/**
 * Returns a function that sends mails by SMTP, each on a new connection. Loads the library with the first mail.
 * @param url smtp://user:password@host:port, or smtps:// for TLS from the first byte. STARTTLS is used if offered
 */
export function smtpMailer(url: string, from: string): SendMail {
  let transport: Promise<Transporter> | null = null;
  return async ({ to, subject, text }) => {
    transport ??= openTransport(url);
    await (await transport).sendMail({ from, to: { name: "", address: to }, subject, text });
  };
}

async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  // Mails have no attachments: no text may make the library read a file or URL.
  return createTransport({ url, ...TIMEOUTS, disableFileAccess: true, disableUrlAccess: true });
}
