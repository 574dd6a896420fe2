import { createHash } from "node:crypto";
import { nkeys } from "@nats-io/transport-node";

type KeyPair = ReturnType<typeof nkeys.createUser>;

const UNLIMITED = { subs: -1, data: -1, payload: -1 };

/**
 * Creates an operator, an account and a user of NATS, as the tool `nsc` does. Returns the server configuration and the
 * user's credentials.
 */
export function makeNatsAccount(): { readonly config: string; readonly credentials: string } {
  const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
  const limits = { ...UNLIMITED, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const operatorJwt = jwtOf(operator, operator, { type: "operator" });
  const accountJwt = jwtOf(operator, account, { type: "account", limits });
  const userJwt = jwtOf(account, user, { type: "user", ...UNLIMITED, pub: {}, sub: {} });
  const preload = `resolver_preload: { ${account.getPublicKey()}: ${accountJwt} }`;
  return {
    config: `operator: ${operatorJwt}\nresolver: MEMORY\n${preload}\n`,
    credentials: `${framed("NATS USER JWT", userJwt)}\n${framed("USER NKEY SEED", seedOf(user))}`,
  };
}

export function makeNkey(): { readonly publicKey: string; readonly seed: string } {
  const user = nkeys.createUser();
  return { publicKey: user.getPublicKey(), seed: seedOf(user) };
}

function jwtOf(issuer: KeyPair, subject: KeyPair, nats: object): string {
  const [iss, sub] = [issuer.getPublicKey(), subject.getPublicKey()];
  const claims = { iat: 1_700_000_000, iss, sub, name: sub, nats: { version: 2, ...nats } };
  const jti = createHash("sha256").update(JSON.stringify(claims)).digest("base64url");
  const parts = [
    { typ: "JWT", alg: "ed25519-nkey" },
    { jti, ...claims },
  ];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`;
}

function seedOf(key: KeyPair): string {
  return Buffer.from(key.getSeed()).toString();
}

function framed(title: string, text: string): string {
  return `-----BEGIN ${title}-----\n${text}\n------END ${title}------\n`;
}
