/** A plain text mail to one address. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends mail: the port of a transport. */
export interface Mailer {
  /** Resolves when the mail server has taken the mail. Rejects with the transport's error. */
  send(mail: Mail): Promise<void>;
}
