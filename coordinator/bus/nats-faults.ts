import { errors } from "@nats-io/transport-node";

/** A message of this size may be sent. It is what NATS takes by default; the largest ones, slices of feeds, are some 600 KB. */
export const NEEDED_PAYLOAD_BYTES = 1_048_576;

/** Codes of Node.js and OpenSSL for a certificate that is not valid here, and for a key that does not fit its certificate. */
const CERTIFICATE = /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA$|ERR_TLS_CERT_)/;
const OWN_CERTIFICATE = /^ERR_OSSL_/;

/** The server takes no messages of the size that coordinators send. */
export class SmallPayloadError extends Error {
  override readonly name = "SmallPayloadError";
  constructor(maxPayloadBytes: number) {
    const needed = NEEDED_PAYLOAD_BYTES;
    super(
      `NATS takes messages of at most ${maxPayloadBytes} bytes: set max_payload of its servers to ${needed} or more`,
    );
  }
}

/** Why the servers do not let us in, if a person must mend that; null for a fault that may pass by itself. */
export function settingFaultOf(error: unknown): string | null {
  if (error instanceof SmallPayloadError) return error.message;
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) {
    return `NATS does not let this coordinator in (${error.message}): check the user and password, token, credentials, nkey or client certificate`;
  }
  if (!(error instanceof Error)) return null;
  const code = codeOf(error) ?? codeOf(error.cause) ?? "";
  if (CERTIFICATE.test(code)) {
    return `The certificate of the NATS server is not valid here (${error.message}): check nats_ca_file, and that the certificate has the host name in bus`;
  }
  if (OWN_CERTIFICATE.test(code)) return `${error.message}: check nats_cert_file and nats_key_file, and nats_ca_file`;
  // The client gives this one no code.
  const isPlain = error instanceof errors.ConnectionError && error.message.startsWith("server does not support");
  return isPlain ? "The NATS server has no TLS, which tls:// in bus, nats_ca_file or nats_cert_file ask for" : null;
}

/** Why there is no connection, for logs and /health. */
export function describeFault(error: unknown, isTls: boolean): string {
  const fault = settingFaultOf(error);
  if (fault !== null) return fault;
  // A server that does not accept our certificate ends the connection after the handshake, which the client does not hear.
  if (isTls && error instanceof errors.TimeoutError)
    return "timeout; does the server ask for another client certificate?";
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
