import type { Registration } from "../config/exposure.ts";
import type { CoordinatorConfig } from "../config/resolve-config.ts";
import type { Mailer } from "../mail/mailer.ts";
import { SmtpMailer } from "../mail/smtp-mailer.ts";
import type { AccountServiceDeps } from "./account-service.ts";
import { EmailSignUps, type EmailSignUpsDeps } from "./email-sign-ups.ts";
import type { SendReset } from "./password-changes.ts";

/** Who may register, and how mails leave: by the configured mail server, if there is one. */
export function accountMail(
  config: Pick<CoordinatorConfig, "smtpUrl" | "mailFrom" | "publicUrl">,
  registration: Registration,
  deps: Pick<EmailSignUpsDeps, "store" | "clock" | "log">,
): Pick<AccountServiceDeps, "registration" | "sendReset" | "mail"> {
  const { smtpUrl, mailFrom, publicUrl } = config;
  const mailer = smtpUrl === null || mailFrom === null ? null : new SmtpMailer({ url: smtpUrl, from: mailFrom });
  const sendReset = mailer === null ? undefined : resetSender(mailer, publicUrl);
  const mail = { mailer, publicUrl };
  if (registration !== "email" || mailer === null) {
    return { registration: registration === "open" ? "open" : "closed", sendReset, mail };
  }
  return { registration: new EmailSignUps({ ...deps, publicUrl, mailer }), sendReset, mail };
}

function resetSender(mailer: Mailer, publicUrl: string | null): SendReset {
  const at = publicUrl === null ? "" : ` at ${publicUrl}`;
  return ({ email, token, expiresAtMs }) => {
    const text = [
      `Somebody, probably you, asks for a new password${at}.`,
      `To set one, use this token once, before ${new Date(expiresAtMs).toISOString()}:`,
      `\n    ${token}\n`,
      "With the API: POST /api/v1/auth/password/reset with the token and a new password.",
      "If it was not you, ignore this mail: your password stays as it is.",
      "",
    ].join("\n");
    return mailer.send({ to: email, subject: "Your new password", text });
  };
}
